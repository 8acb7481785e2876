// Reading a calendar file; what it answers is in calendar_days.cpp.
#include "host/format/calendar.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kSchemaVersion = 1;
constexpr int kMinutesADay = 24 * 60;
constexpr std::array<std::string_view, 7> kWeekdays = {
    "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

/// Where in which file, for messages.
struct Context {
    std::string_view source;
    std::string place;

    [[nodiscard]] Error wrong(std::string_view what) const {
        return Error(
            Errc::invalid,
            "calendar " + printable(source, 200) + ", " + place + ": " + std::string(what));
    }
    [[nodiscard]] Context at(std::string inner) const { return {source, std::move(inner)}; }
};

Result<DeskDate> date_of(const Json& value, const Context& context) {
    auto date = DeskDate::parse(value.as_string());
    if (!date) {
        return context.wrong(date.error().message());
    }
    return date;
}

Result<TimeOfDay> time_of(const Json& value, const Context& context) {
    auto time = TimeOfDay::parse(value.as_string());
    if (!time) {
        return context.wrong(time.error().message());
    }
    return time;
}

Result<MarketSession> session_of(const Json& json, const Context& context) {
    auto open = time_of(json["open"], context);
    if (!open) {
        return open.error();
    }
    auto close = time_of(json["close"], context);
    if (!close) {
        return close.error();
    }
    const Json& next_day = json["next_day"];
    if (!next_day.is_null() && next_day.kind() != Json::Kind::boolean) {
        return context.wrong("\"next_day\": expected true or false");
    }
    const Json& day = json["day"];
    const bool by_close = day.as_string() == "close";
    if (!day.is_null() && !by_close && day.as_string() != "open") {
        return context.wrong("\"day\": expected \"open\" or \"close\"");
    }
    // By its close, "next_day" says the same once more: the close is on the date behind the open.
    const MarketSession session{*open, *close, next_day.as_bool() && !by_close, by_close};
    const int length = session.end_minutes() - session.start_minutes();
    if (open->minutes >= kMinutesADay || length <= 0 || length > kMinutesADay) {
        return context.wrong(
            "the session " + open->str() + "-" + close->str() +
            " must open before it closes (\"next_day\": true when it runs past midnight)");
    }
    return session;
}

/// Sorted; an overlap is an error.
Result<std::vector<MarketSession>> sessions_of(const Json& list, const Context& context) {
    if (!list.is_array()) {
        return context.wrong("expected a list of sessions");
    }
    std::vector<MarketSession> sessions;
    for (const Json& json : list.items()) {
        auto session = session_of(json, context);
        if (!session) {
            return session.error();
        }
        sessions.push_back(*session);
    }
    std::sort(sessions.begin(), sessions.end(), [](const MarketSession& a, const MarketSession& b) {
        return a.start_minutes() < b.start_minutes();
    });
    for (std::size_t i = 1; i < sessions.size(); ++i) {
        if (sessions[i].start_minutes() < sessions[i - 1].end_minutes()) {
            return context.wrong("two sessions overlap");
        }
    }
    return sessions;
}

/// The date of an entry, whose weekday, when it is written, must be right.
Result<DeskDate> entry_date(const Json& entry, const Context& context) {
    if (!entry.is_object()) {
        return context.wrong("expected an object");
    }
    auto date = date_of(entry["date"], context);
    if (!date) {
        return date;
    }
    const Json& weekday = entry["weekday"];
    const std::string_view expected = kWeekdays[date->weekday().c_encoding()];
    if (!weekday.is_null() && weekday.as_string() != expected) {
        return context.wrong(
            date->str() + " is a " + std::string(expected) + ", not " +
            printable(weekday.is_string() ? weekday.as_string() : weekday.dump(), 40));
    }
    for (const std::string_view key : {"name", "kind", "times"}) {
        if (!entry[key].is_null() && !entry[key].is_string()) {
            return context.wrong(date->str() + ", \"" + std::string(key) + "\": expected text");
        }
    }
    if (!entry["remove"].is_null() && entry["remove"].kind() != Json::Kind::boolean) {
        return context.wrong(date->str() + ", \"remove\": expected true or false");
    }
    return date;
}

/// A list of entries with a date each, no date twice.
Result<std::vector<std::pair<DeskDate, const Json*>>> dated_entries(const Json& root,
                                                                    std::string_view key,
                                                                    const Context& context) {
    const Context inner = context.at("\"" + std::string(key) + "\"");
    const Json& list = root[key];
    if (!list.is_null() && !list.is_array()) {
        return inner.wrong("expected a list");
    }
    std::vector<std::pair<DeskDate, const Json*>> entries;
    std::set<DeskDate> seen;
    for (const Json& entry : list.items()) {
        auto date = entry_date(entry, inner);
        if (!date) {
            return date.error();
        }
        if (!seen.insert(*date).second) {
            return inner.wrong(date->str() + " stands twice");
        }
        entries.emplace_back(*date, &entry);
    }
    return entries;
}

Result<> check_texts(const Json& root, const Context& context) {
    for (const std::string_view key :
         {"id", "name", "mic", "tz", "valid_from", "valid_through", "rollover"}) {
        if (!root[key].is_null() && !root[key].is_string()) {
            return context.wrong("\"" + std::string(key) + "\": expected text");
        }
    }
    if (const Json& version = root["$schema_version"]; version != Json(kSchemaVersion)) {
        return context.wrong("\"$schema_version\": expected 1");
    }
    return {};
}

Result<std::vector<unsigned>> weekend_of(const Json& list, const Context& context) {
    std::vector<unsigned> days;
    if (!list.is_array()) {
        return context.wrong("\"weekend\": expected a list");
    }
    for (const Json& name : list.items()) {
        const auto found = std::find(kWeekdays.begin(), kWeekdays.end(), name.as_string());
        if (found == kWeekdays.end()) {
            return context.wrong("\"weekend\": " + printable(name.dump(), 40) +
                                 " is not a day such as Sat");
        }
        days.push_back(static_cast<unsigned>(found - kWeekdays.begin()));
    }
    return days;
}

}  // namespace

Result<Calendar> Calendar::parse(std::string_view text, std::string_view source_name) {
    auto root = Json::parse(text);
    if (!root) {
        return Error(Errc::invalid,
                     "calendar " + printable(source_name, 200) + ": " + root.error().message());
    }
    Calendar calendar;
    if (auto applied = calendar.apply(*root, source_name, false); !applied) {
        return applied.error();
    }
    return calendar;
}

Result<> Calendar::overlay(std::string_view text, std::string_view source_name) {
    auto root = Json::parse(text);
    if (!root) {
        return Error(Errc::invalid,
                     "calendar " + printable(source_name, 200) + ": " + root.error().message());
    }
    Calendar changed = *this;  // a wrong file changes nothing
    if (auto applied = changed.apply(*root, source_name, true); !applied) {
        return applied;
    }
    *this = std::move(changed);
    return {};
}

Result<> Calendar::apply(const Json& root, std::string_view source_name, bool overlaying) {
    const Context context{source_name, "top level"};
    if (!root.is_object()) {
        return context.wrong("expected an object");
    }
    if (auto texts = check_texts(root, context); !texts) {
        return texts;
    }
    if (auto head = apply_head(root, source_name, overlaying); !head) {
        return head;
    }
    if (auto regular = apply_regular(root, source_name, overlaying); !regular) {
        return regular;
    }
    return apply_days(root, source_name, overlaying);
}

Result<> Calendar::apply_head(const Json& root, std::string_view source_name, bool overlaying) {
    const Context context{source_name, "top level"};
    const std::string& id = root["id"].as_string();
    if (!is_plain_name(id) || (overlaying && id != id_)) {
        return context.wrong(overlaying
                                 ? "\"id\": expected \"" + id_ + "\", the calendar it is laid over"
                                 : std::string("\"id\": expected a plain name"));
    }
    id_ = id;
    if (root.has("name")) {
        display_name_ = root["name"].as_string();
    }
    if (!overlaying || root.has("tz")) {
        auto zone = Zone::find(root["tz"].as_string());
        if (!zone) {
            return zone.error().during("calendar " + printable(source_name, 200));
        }
        zone_ = std::move(*zone);
    }
    for (const auto& [key, bound] :
         {std::pair("valid_from", &valid_from_), std::pair("valid_through", &valid_through_)}) {
        if (root[key].is_string()) {
            auto date = date_of(root[key], context.at("\"" + std::string(key) + "\""));
            if (!date) {
                return date.error();
            }
            *bound = *date;
        } else if (root.has(key)) {
            bound->reset();  // null: no end
        }
    }
    if (valid_from_ && valid_through_ && *valid_through_ < *valid_from_) {
        return context.wrong("\"valid_through\" is before \"valid_from\"");
    }
    if (root["rollover"].is_string()) {
        auto time = time_of(root["rollover"], context.at("\"rollover\""));
        if (!time) {
            return time.error();
        }
        rollover_ = *time;
    }
    if (!overlaying || root.has("weekend")) {
        auto days = weekend_of(root["weekend"], context);
        if (!days) {
            return days.error();
        }
        weekend_ = std::move(*days);
    }
    return {};
}

Result<> Calendar::apply_regular(const Json& root, std::string_view source_name, bool overlaying) {
    const Context context{source_name, "\"regular\""};
    if (overlaying && !root.has("regular")) {
        return {};
    }
    if (!root["regular"].is_array() || root["regular"].items().empty()) {
        return context.wrong("expected a list of rules");
    }
    std::vector<Regular> rules;
    for (const Json& json : root["regular"].items()) {
        auto from = date_of(json["from"], context.at("\"regular\", \"from\""));
        if (!from) {
            return from.error();
        }
        Regular rule;
        rule.from = *from;
        const Context inner = context.at("\"regular\" from " + from->str());
        if (!json["to"].is_null()) {
            auto to = date_of(json["to"], inner);
            if (!to) {
                return to.error();
            }
            rule.to = *to;
        }
        if (!json["segments"].is_object() || json["segments"].members().empty()) {
            return inner.wrong("\"segments\": expected an object of lists");
        }
        for (const auto& [name, list] : json["segments"].members()) {
            auto sessions = sessions_of(
                list, inner.at("\"regular\" from " + from->str() + ", " + printable(name, 64)));
            if (!sessions) {
                return sessions.error();
            }
            rule.segments[name] = std::move(*sessions);
        }
        if (rule.to && *rule.to < rule.from) {
            return inner.wrong("\"to\" is before \"from\"");
        }
        rules.push_back(std::move(rule));
    }
    std::sort(rules.begin(), rules.end(), [](const Regular& a, const Regular& b) {
        return a.from < b.from;
    });
    for (std::size_t i = 1; i < rules.size(); ++i) {
        const std::optional<DeskDate>& end = rules[i - 1].to;
        if (!end || *end >= rules[i].from) {
            return context.wrong("two rules cover " + rules[i].from.str());
        }
        if (end->plus_days(1) != rules[i].from) {
            return context.wrong("no rule covers " + end->plus_days(1).str());
        }
    }
    regular_ = std::move(rules);
    return {};
}

Result<> Calendar::apply_days(const Json& root, std::string_view source_name, bool overlaying) {
    const Context context{source_name, "top level"};
    auto holidays = dated_entries(root, "holidays", context);
    if (!holidays) {
        return holidays.error();
    }
    for (const auto& [date, entry] : *holidays) {
        if ((*entry)["remove"].as_bool()) {
            holidays_.erase(date);
        } else {
            holidays_[date] = (*entry)["name"].as_string();
        }
    }
    auto special = dated_entries(root, "special", context);
    if (!special) {
        return special.error();
    }
    for (const auto& [date, entry] : *special) {
        const Context inner = context.at("\"special\" " + date.str());
        if ((*entry)["remove"].as_bool()) {
            special_.erase(date);
            continue;
        }
        Special day;
        day.name = (*entry)["name"].as_string();
        day.unknown_times = (*entry)["times"].as_string() == "unannounced";
        auto sessions = sessions_of((*entry)["sessions"], inner);
        if (!sessions) {
            return sessions.error();
        }
        if (sessions->empty() != day.unknown_times) {
            return inner.wrong("either sessions, or none and \"times\": \"unannounced\"");
        }
        day.sessions = std::move(*sessions);
        special_[date] = std::move(day);
    }
    if (!overlaying && !holidays_.empty() && !valid_through_) {
        return context.wrong("\"valid_through\": a list of holidays has an end");
    }
    return {};
}

}  // namespace daybook
