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
        return a.open < b.open;
    });
    std::vector<MarketSession> out;
    for (const MarketSession& session : sessions) {
        if (out.empty() || session.open.minutes > out.back().end_minutes()) {
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
    // A session of the day before may still run.
    for (const DeskDate day : {today.plus_days(-1), today}) {
        const auto day_sessions = sessions(day);
        if (!day_sessions) {
            if (day == today) {
                return Market::unknown;
            }
            continue;
        }
        for (const MarketSession& session : *day_sessions) {
            const DeskDate end = session.next_day ? day.plus_days(1) : day;
            if (at >= zone_->instant(day, session.open) &&
                at < zone_->instant(end, session.close)) {
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
            const Timestamp opens = zone_->instant(day, session.open);
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
    const Timestamp closes = zone_->instant(last.next_day ? day.plus_days(1) : day, last.close);
    // The opening of an ordinary day: an evening session on a holiday does not make the afternoon
    // early.
    const std::vector<MarketSession> usual = regular_sessions(day);
    const MarketSession& first = usual.empty() ? day_sessions->front() : usual.front();
    const Timestamp opens = zone_->instant(day, first.open);
    Timestamp due = zone.instant(day, configured);
    if (due <= opens) {
        // A time before the opening ends the day that began the date before (00:00 round the clock,
        // 03:00 overnight).
        due = zone.instant(day.plus_days(1), configured);
    }
    const bool never_closes =
        day_sessions->size() == 1 && last.end_minutes() - last.open.minutes == kMinutesADay;
    return closes > due && !never_closes ? closes + kAfterClose : due;
}

}  // namespace daybook
