// calendar today, next, show, check. Reads the files itself, so that no host is needed; a running
// one is only asked for its clock, which may be a replayed one.
#include <algorithm>
#include <optional>

#include "host/cli/commands.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"
#include "host/format/calendar_file.hpp"
#include "host/os/desk_path.hpp"
#include "host/surface/config_file.hpp"

namespace daybook::cli {
namespace {

constexpr int kSearchDays = 60;
constexpr std::size_t kNamedDays = 20;
constexpr std::size_t kMostNamedDays = 10000;

/// A calendar as one desk, or its own market, reads it.
struct Reading {
    std::string desk;  ///< "" = asked for by the calendar's own id
    Calendar calendar;
    Zone zone;
    std::optional<TimeOfDay> rollover;
    Timestamp now;
    bool replayed = false;
};

std::vector<std::filesystem::path> folders_of(const Places& places) {
    return calendar_folders(places.share, places.state, places.config.parent_path());
}

/// The host's clock when one runs, else this machine's.
std::pair<Timestamp, bool> clock_of(const Places& places) {
    if (auto client = Client::connect(places)) {
        if (auto clock = client->call("clock.show", Json::object())) {
            if (auto now = parse_rfc3339((*clock)["now"].as_string())) {
                return {*now, (*clock)["replayed"].as_bool()};
            }
        }
    }
    return {SystemClock().now(), false};
}

/// The desk that is meant: the word, --desk, or the only one. nullptr: a calendar's id, or none.
Result<const DeskConfig*> desk_meant(const Config& config,
                                     const std::string& word,
                                     const std::string& calendar) {
    if (const auto named = config.desks.find(word); named != config.desks.end()) {
        return &named->second;
    }
    if (!word.empty() || !calendar.empty()) {
        return nullptr;
    }
    if (config.desks.size() == 1) {
        return &config.desks.begin()->second;
    }
    std::string names;
    for (const auto& [name, desk] : config.desks) {
        names += (names.empty() ? "" : ", ") + name;
    }
    return Error(Errc::invalid,
                 "which calendar? name a desk" + (names.empty() ? "" : " (" + names + ")") +
                     ", or --calendar ID such as nse");
}

Result<Reading> read_for(const Options& options, const Places& places) {
    const std::string word = !options.desk.empty()   ? options.desk
                             : options.words.empty() ? std::string()
                                                     : options.words.front();
    Config config;
    auto loaded = load_config(places.config, places.flags());
    if (loaded) {
        config = std::move(*loaded);
    } else if (word.empty() && options.calendar.empty()) {
        return loaded.error();
    }
    auto desk = desk_meant(config, word, options.calendar);
    if (!desk) {
        return desk.error();
    }
    const std::string id = !options.calendar.empty() ? options.calendar
                           : *desk != nullptr        ? (*desk)->calendar
                                                     : word;
    LinuxOs os;
    auto calendar = load_calendar(os, folders_of(places), id);
    if (!calendar) {
        return calendar.error();
    }
    Zone zone = calendar->zone();
    std::optional<TimeOfDay> rollover = calendar->default_rollover();
    if (*desk != nullptr) {
        if (!(*desk)->zone.empty()) {
            auto own = Zone::find((*desk)->zone);
            if (!own) {
                return own.error();
            }
            zone = std::move(*own);
        }
        rollover = (*desk)->rollover ? (*desk)->rollover : rollover;
    }
    const auto [now, replayed] = clock_of(places);
    return Reading{*desk == nullptr ? std::string() : (*desk)->name,
                   std::move(*calendar),
                   std::move(zone),
                   rollover,
                   now,
                   replayed};
}

Json session_json(const MarketSession& session) {
    Json json = Json::object();
    json.set("open", session.open.str()).set("close", session.close.str());
    if (session.next_day) {
        json.set("next_day", true);
    }
    if (session.day_before) {
        json.set("day", "close");
    }
    return json;
}

/// What the calendar says of a date; times are of the calendar's own zone.
Json day_json(const Reading& reading, DeskDate day) {
    const Calendar& calendar = reading.calendar;
    Json json = Json::object();
    json.set("date", day.str())
        .set("trading_day", calendar.is_trading_day(day))
        .set("name", calendar.name_of(day))
        .set("covered", calendar.covers(day));
    const auto sessions = calendar.sessions(day);
    json.set("times", sessions ? "known" : "unannounced");
    Json list = Json::array();
    for (const MarketSession& session : sessions.value_or(std::vector<MarketSession>())) {
        list.push(session_json(session));
    }
    json.set("sessions", std::move(list));
    const auto due =
        calendar.rollover_due(day, reading.rollover.value_or(TimeOfDay{0}), reading.zone);
    return json.set("rollover", due ? Json(reading.zone.local(*due)) : Json());
}

Json head_json(const Reading& reading) {
    const Calendar& calendar = reading.calendar;
    const auto through = calendar.valid_through();
    const auto left = calendar.days_left(reading.zone.date_of(reading.now));
    Json json = Json::object();
    json.set("calendar", calendar.id())
        .set("name", calendar.display_name())
        .set("desk", reading.desk.empty() ? Json() : Json(reading.desk))
        .set("zone", calendar.zone().name())
        .set("valid_from", calendar.valid_from() ? Json(calendar.valid_from()->str()) : Json())
        .set("valid_through", through ? Json(through->str()) : Json())
        .set("days_left", left ? Json(*left) : Json())
        .set("now", reading.zone.local(reading.now))
        .set("replayed", reading.replayed);
    return json;
}

std::string_view weekday_of(DeskDate day) {
    constexpr std::string_view kNames[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    return kNames[day.weekday().c_encoding()];
}

std::string sessions_text(const Json& day) {
    if (!day["trading_day"].as_bool()) {
        return "closed";
    }
    if (day["times"].as_string() == "unannounced") {
        return "trades, times not announced";
    }
    std::string text;
    for (const Json& session : day["sessions"].items()) {
        text += (text.empty() ? "" : ", ") + session["open"].as_string() +
                (session["day"].as_string() == "close" ? " the day before" : "") + "-" +
                session["close"].as_string() +
                (session["next_day"].as_bool() ? " the next day" : "");
    }
    return text;
}

void print_day(const Json& day, const Output& output) {
    const auto date = DeskDate::parse(day["date"].as_string());
    std::string line = day["date"].as_string() + " " +
                       std::string(date ? weekday_of(*date) : std::string_view()) + "  " +
                       sessions_text(day);
    if (!day["name"].as_string().empty()) {
        line += "  (" + day["name"].as_string() + ")";
    }
    output.line(line);
    output.line("rollover        " + (day["rollover"].is_null()
                                          ? std::string("with the first turn of a later date")
                                          : day["rollover"].as_string()));
}

void print_head(const Json& head, const Output& output) {
    output.line(output.bold(head["calendar"].as_string() + ": " + head["name"].as_string()) +
                ", times of " + head["zone"].as_string() +
                (head["replayed"].as_bool() ? ", replayed clock" : ""));
}

/// The list's end, or what holds outside of it.
void print_end(const Json& head, bool covered, const Output& output) {
    if (head["valid_through"].is_null()) {
        output.line("list            has no end");
        return;
    }
    const std::string through = head["valid_through"].as_string();
    const std::int64_t left = head["days_left"].as_integer();
    if (!covered) {
        output.line(output.yellow("list            covers " + head["valid_from"].as_string() +
                                  " to " + through +
                                  ": outside of it only weekends and the usual hours are known"));
        return;
    }
    output.line("list            ends in " + std::to_string(left) + " days, on " + through);
}

template <class Work>
int with_reading(const Options& options, Output& output, const Work& work) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    auto reading = read_for(options, *places);
    if (!reading) {
        return output.fail(reading.error());
    }
    return work(*reading);
}

}  // namespace

int calendar_today(const Options& options, Output& output) {
    return with_reading(options, output, [&](const Reading& reading) {
        const DeskDate today = reading.zone.date_of(reading.now);
        const Market market = reading.calendar.market_at(reading.now);
        const std::string state = market == Market::open     ? "open"
                                  : market == Market::closed ? "closed"
                                                             : "unknown";
        const auto opens = reading.calendar.next_open(reading.now);
        Json json = head_json(reading);
        const Json day = day_json(reading, today);
        json.set("day", day).set("market", state);
        json.set("next_open", opens ? Json(reading.zone.local(*opens)) : Json());
        if (output.json()) {
            output.object(json);
            return 0;
        }
        print_head(json, output);
        print_day(day, output);
        output.line("market          " + state + " at " + json["now"].as_string());
        output.line("opens next      " + (opens ? reading.zone.local(*opens) : std::string("-")));
        print_end(json, day["covered"].as_bool(), output);
        return 0;
    });
}

int calendar_next(const Options& options, Output& output) {
    return with_reading(options, output, [&](const Reading& reading) {
        DeskDate day = reading.zone.date_of(reading.now).plus_days(1);
        for (int i = 0; i < kSearchDays && !reading.calendar.is_trading_day(day); ++i) {
            day = day.plus_days(1);
        }
        if (!reading.calendar.is_trading_day(day)) {
            return output.fail(Error(Errc::not_found,
                                     "calendar " + reading.calendar.id() +
                                         ": no trading day in the next " +
                                         std::to_string(kSearchDays) + " days"));
        }
        Json json = head_json(reading);
        const Json next = day_json(reading, day);
        json.set("day", next);
        if (output.json()) {
            output.object(json);
            return 0;
        }
        print_head(json, output);
        print_day(next, output);
        print_end(json, next["covered"].as_bool(), output);
        return 0;
    });
}

int calendar_show(const Options& options, Output& output) {
    return with_reading(options, output, [&](const Reading& reading) {
        DeskDate from = reading.zone.date_of(reading.now);
        if (!options.day.empty()) {
            auto day = DeskDate::parse(options.day);
            if (!day) {
                return output.fail(day.error().during("--day"));
            }
            from = *day;
        }
        Json json = head_json(reading);
        const Json first = day_json(reading, from);
        const std::size_t limit =
            options.limit > 0 ? static_cast<std::size_t>(options.limit) : kNamedDays;
        Json days = Json::array();
        for (const NamedDay& named :
             reading.calendar.named_days(from, std::min(limit, kMostNamedDays))) {
            days.push(day_json(reading, named.date));
        }
        json.set("day", first).set("named_days", std::move(days));
        if (output.json()) {
            output.object(json);
            return 0;
        }
        print_head(json, output);
        print_day(first, output);
        print_end(json, first["covered"].as_bool(), output);
        Table table({"DATE", "DAY", "SESSIONS", "NAME"});
        for (const Json& day : json["named_days"].items()) {
            const auto date = DeskDate::parse(day["date"].as_string());
            table.add({day["date"].as_string(),
                       std::string(date ? weekday_of(*date) : std::string_view()),
                       sessions_text(day),
                       day["name"].as_string()});
        }
        if (!table.empty()) {
            output.raw(table.str());
        }
        return 0;
    });
}

int calendar_check(const Options& options, Output& output) {
    const auto places = places_of(options, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    LinuxOs os;
    const std::string word = options.words.empty() ? options.calendar : options.words.front();
    std::vector<std::string> ids;
    std::vector<std::filesystem::path> folders = folders_of(*places);
    if (word.ends_with(".json")) {
        const std::filesystem::path file(word);
        const auto folder = file.has_parent_path() ? file.parent_path() : ".";
        std::error_code error;
        const auto real = std::filesystem::canonical(folder, error);
        ids = {file.stem().string()};
        folders = {error ? folder : real};
    } else if (!word.empty()) {
        ids = {word};
    } else {
        auto config = load_config(places->config, places->flags());
        if (!config) {
            return output.fail(config.error());
        }
        for (const auto& [name, desk] : config->desks) {
            if (std::find(ids.begin(), ids.end(), desk.calendar) == ids.end()) {
                ids.push_back(desk.calendar);
            }
        }
    }
    int code = 0;
    for (const std::string& id : ids) {
        auto calendar = load_calendar(os, folders, id);
        if (!calendar) {
            code = output.fail(calendar.error());
            continue;
        }
        const auto through = calendar->valid_through();
        const std::string until = through ? "through " + through->str() : "without an end";
        if (output.json()) {
            output.object(Json::object()
                              .set("calendar", calendar->id())
                              .set("fine", true)
                              .set("valid_through", through ? Json(through->str()) : Json()));
        } else {
            output.line(id + " is fine: " + calendar->display_name() + ", " + until);
        }
    }
    return code;
}

}  // namespace daybook::cli
