// What a calendar answers about a day or an instant.
#include <algorithm>

#include "host/format/calendar.hpp"

namespace daybook {
namespace {

constexpr int kDaysLookedAhead = 30;
constexpr int kMinutesADay = 24 * 60;
constexpr std::chrono::minutes kAfterClose{15};

/// Sessions that overlap or touch become one.
std::vector<MarketSession> merged(std::vector<MarketSession> sessions) {
    std::sort(sessions.begin(), sessions.end(), [](const MarketSession& a, const MarketSession& b) {
        return a.start_minutes() < b.start_minutes();
    });
    std::vector<MarketSession> out;
    for (const MarketSession& session : sessions) {
        if (out.empty() || session.start_minutes() > out.back().end_minutes()) {
            out.push_back(session);
        } else if (session.end_minutes() > out.back().end_minutes()) {
            out.back().close = session.close;
            out.back().next_day = session.next_day;
        }
    }
    return out;
}

}  // namespace

bool Calendar::covers(DeskDate day) const {
    return (!valid_from_ || day >= *valid_from_) && (!valid_through_ || day <= *valid_through_);
}

bool Calendar::is_trading_day(DeskDate day) const {
    if (special_.contains(day)) {
        return true;
    }
    const bool weekend =
        std::find(weekend_.begin(), weekend_.end(), day.weekday().c_encoding()) != weekend_.end();
    return !weekend && !holidays_.contains(day);
}

std::string Calendar::name_of(DeskDate day) const {
    if (const auto special = special_.find(day); special != special_.end()) {
        return special->second.name;
    }
    const auto holiday = holidays_.find(day);
    return holiday == holidays_.end() ? std::string() : holiday->second;
}

std::vector<NamedDay> Calendar::named_days(DeskDate from, std::size_t limit) const {
    std::map<DeskDate, NamedDay> days;
    for (auto day = holidays_.lower_bound(from); day != holidays_.end() && days.size() < limit;
         ++day) {
        days[day->first] = {day->first, day->second, false};
    }
    std::size_t taken = 0;
    for (auto day = special_.lower_bound(from); day != special_.end() && taken < limit;
         ++day, ++taken) {
        days[day->first] = {day->first, day->second.name, true};
    }
    std::vector<NamedDay> out;
    for (auto& [date, day] : days) {
        if (out.size() < limit) {
            out.push_back(std::move(day));
        }
    }
    return out;
}

std::optional<int> Calendar::days_left(DeskDate today) const {
    if (!valid_through_) {
        return std::nullopt;
    }
    const auto left =
        std::chrono::sys_days(valid_through_->value) - std::chrono::sys_days(today.value);
    return static_cast<int>(left.count());
}

std::string Calendar::end_note(DeskDate today) const {
    const std::string outside =
        ": only weekends and the usual hours are known; put a newer " + id_ +
        ".json into calendars/ beside the configuration or in the state folder";
    if (valid_from_ && today < *valid_from_) {
        return "calendar " + id_ + " begins on " + valid_from_->str() + outside;
    }
    const auto left = days_left(today);
    if (!left || *left > kEndsSoon) {
        return "";
    }
    if (*left < 0) {
        return "calendar " + id_ + " ended on " + valid_through_->str() + outside;
    }
    return "calendar " + id_ + " ends in " + std::to_string(*left) +
           (*left == 1 ? " day, on " : " days, on ") + valid_through_->str();
}

/// Outside all rules the nearest one: the hours of the last list are the best guess there is.
const Calendar::Regular& Calendar::rule_of(DeskDate day) const {
    const Regular* found = &regular_.front();
    for (const Regular& rule : regular_) {
        if (rule.from <= day) {
            found = &rule;
        }
    }
    return *found;
}

std::optional<std::vector<MarketSession>> Calendar::sessions(DeskDate day) const {
    return sessions(day, "");
}

std::optional<std::vector<MarketSession>> Calendar::sessions(DeskDate day,
                                                             std::string_view segment) const {
    if (!is_trading_day(day)) {
        return std::vector<MarketSession>();
    }
    if (const auto special = special_.find(day); special != special_.end()) {
        if (special->second.unknown_times) {
            return std::nullopt;
        }
        return special->second.sessions;
    }
    const Regular& rule = rule_of(day);
    if (const auto named = rule.segments.find(std::string(segment)); named != rule.segments.end()) {
        return named->second;
    }
    return regular_sessions(day);
}

/// All segments of an ordinary day merged.
std::vector<MarketSession> Calendar::regular_sessions(DeskDate day) const {
    std::vector<MarketSession> all;
    for (const auto& [name, sessions] : rule_of(day).segments) {
        all.insert(all.end(), sessions.begin(), sessions.end());
    }
    return merged(std::move(all));
}

Market Calendar::market_at(Timestamp at) const {
    const DeskDate today = zone_->date_of(at);
    // A session of the day before may still run, and one of the next may have begun.
    for (const DeskDate day : {today.plus_days(-1), today, today.plus_days(1)}) {
        const auto day_sessions = sessions(day);
        if (!day_sessions) {
            if (day == today) {
                return Market::unknown;
            }
            continue;
        }
        for (const MarketSession& session : *day_sessions) {
            if (at >= session.opens_at(day, *zone_) && at < session.closes_at(day, *zone_)) {
                return Market::open;
            }
        }
    }
    return Market::closed;
}

std::optional<Timestamp> Calendar::next_open(Timestamp at) const {
    const DeskDate today = zone_->date_of(at);
    for (int ahead = 0; ahead <= kDaysLookedAhead; ++ahead) {
        const DeskDate day = today.plus_days(ahead);
        const auto day_sessions = sessions(day);
        for (const MarketSession& session : day_sessions.value_or(std::vector<MarketSession>())) {
            const Timestamp opens = session.opens_at(day, *zone_);
            if (opens > at) {
                return opens;
            }
        }
    }
    return std::nullopt;
}

std::optional<Timestamp> Calendar::rollover_due(DeskDate day,
                                                TimeOfDay configured,
                                                const Zone& zone) const {
    const auto day_sessions = sessions(day);
    if (!day_sessions || day_sessions->empty()) {
        return std::nullopt;
    }
    const MarketSession& last = day_sessions->back();
    const Timestamp closes = last.closes_at(day, *zone_);
    // The opening of an ordinary day: an evening session on a holiday does not make the afternoon
    // early.
    const std::vector<MarketSession> usual = regular_sessions(day);
    const MarketSession& first = usual.empty() ? day_sessions->front() : usual.front();
    const bool never_closes =
        day_sessions->size() == 1 && last.end_minutes() - last.start_minutes() == kMinutesADay;
    // Round the clock a day begins with the date of whoever asks.
    const Timestamp opens =
        never_closes ? zone.instant(day, TimeOfDay{0}) : first.opens_at(day, *zone_);
    Timestamp due = zone.instant(day, configured);
    if (due <= opens) {
        // A time before the opening ends the day that began the date before (00:00 round the clock,
        // 03:00 overnight).
        due = zone.instant(day.plus_days(1), configured);
    }
    return closes > due && !never_closes ? closes + kAfterClose : due;
}

}  // namespace daybook
