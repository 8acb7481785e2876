#include "host/turn/desk_rest.hpp"

#include <algorithm>

#include "host/format/calendar_file.hpp"
#include "host/format/member.hpp"
#include "host/turn/session_keeper.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMaxMark = 16UL * 1024;
constexpr const char* kMark = "at_rest.json";

std::string folder_of(const std::string& desk) {
    return "sessions/" + desk;
}

Json mark_json(const DeskRest& rest, const std::string& stamp) {
    Json json = Json::object();
    json.set("v", kVersion).set("stamp", stamp);
    json.set("due", rest.due ? Json(to_rfc3339(*rest.due)) : Json());
    return json.set("status", rest.status.to_json());
}

Result<DeskRest> rest_from(const Json& json, const std::string& desk) {
    DeskRest rest;
    const Json& status = json["status"];
    rest.status.name = desk;
    rest.status.paused = status["paused"].as_bool();
    rest.status.state = rest.status.paused ? "paused" : "idle";
    rest.status.reason = status["reason"].as_string();
    rest.status.session = status["session"].as_string();
    rest.status.zone = status["zone"].as_string();
    rest.status.calendar = status["calendar"].as_string();
    rest.status.model = status["model"].as_string();
    rest.status.context_tokens = status["context_tokens"].as_integer(0);
    rest.status.window = status["window"].as_integer(0);
    rest.status.notes_today =
        static_cast<std::size_t>(std::max<std::int64_t>(status["notes_today"].as_integer(0), 0));
    rest.status.memory_bytes =
        static_cast<std::uint64_t>(std::max<std::int64_t>(status["memory_bytes"].as_integer(0), 0));
    rest.status.next_rollover = status["next_rollover"].as_string();
    rest.status.calendar_note = status["calendar_note"].as_string();
    if (!json["due"].is_null()) {
        auto due = parse_rfc3339(json["due"].as_string());
        if (!due) {
            return due.error();
        }
        rest.due = *due;
    }
    return rest;
}

}  // namespace

Result<std::string> rest_stamp(const DeskServices& services, const DeskConfig& config) {
    std::string stamp =
        config.calendar + "|" + config.zone + "|" + (config.rollover ? config.rollover->str() : "");
    bool any = false;
    for (const auto& folder :
         calendar_folders(services.share, services.home, services.owner_folder)) {
        auto dir = services.os.open_root(folder);
        auto found = dir ? services.os.stat_beneath(dir->get(), config.calendar + ".json")
                         : Result<struct stat>(dir.error());
        if (!found) {
            if (found.error().code() != Errc::not_found) {
                return found.error();
            }
            stamp += "|-";
            continue;
        }
        any = true;
        stamp += "|" + std::to_string(found->st_size) + ":" +
                 std::to_string(found->st_mtim.tv_sec) + "." +
                 std::to_string(found->st_mtim.tv_nsec) + ":" + std::to_string(found->st_ino);
    }
    if (!any) {
        return Error(Errc::not_found, "calendar " + config.calendar + " has no file");
    }
    return stamp;
}

Result<> leave_mark(const DeskServices& services,
                    const std::string& desk,
                    const DeskRest& rest,
                    const std::string& stamp) {
    auto home = services.os.open_root(services.home);
    if (!home) {
        return home.error();
    }
    return write_file_durably(services.os,
                              home->get(),
                              folder_of(desk) + "/" + kMark,
                              mark_json(rest, stamp).dump() + "\n");
}

std::optional<DeskRest> read_mark(const DeskServices& services,
                                  const std::string& desk,
                                  const std::string& stamp) {
    auto home = services.os.open_root(services.home);
    if (!home) {
        return std::nullopt;
    }
    auto text = read_file(services.os, home->get(), folder_of(desk) + "/" + kMark, kMaxMark);
    auto json = text ? Json::parse(*text) : Result<Json>(text.error());
    if (!json || !json->is_object() || (*json)["v"].as_integer(0) != kVersion ||
        (*json)["stamp"].as_string() != stamp) {
        return std::nullopt;
    }
    auto rest = rest_from(*json, desk);
    return rest ? std::optional<DeskRest>(std::move(*rest)) : std::nullopt;
}

Result<> lift_mark(Os& os, int home, const std::string& desk) {
    auto found = os.stat_beneath(home, folder_of(desk) + "/" + kMark);
    if (!found) {
        return found.error().code() == Errc::not_found ? Result<>() : Result<>(found.error());
    }
    auto folder = os.open_beneath(home, folder_of(desk), OpenMode::directory);
    if (!folder) {
        return folder.error();
    }
    if (auto removed = os.remove(folder->get(), kMark); !removed) {
        return removed;
    }
    return os.full_sync(folder->get());
}

namespace {

struct DeskDays {
    Calendar calendar;
    Zone zone;
};

Result<DeskDays> days_of(const DeskServices& services, const DeskConfig& config) {
    auto calendar =
        load_calendar(services.os,
                      calendar_folders(services.share, services.home, services.owner_folder),
                      config.calendar);
    if (!calendar) {
        return calendar.error();
    }
    auto zone = config.zone.empty() ? Result<Zone>(calendar->zone()) : Zone::find(config.zone);
    if (!zone) {
        return zone.error();
    }
    return DeskDays{std::move(*calendar), std::move(*zone)};
}

std::string rollover_text(const DeskDays& days, const DeskConfig& config, Timestamp now) {
    const TimeOfDay at = config.rollover ? *config.rollover
                                         : days.calendar.default_rollover().value_or(TimeOfDay{0});
    const auto due = SessionKeeper(days.calendar, days.zone, at).next_due(now);
    return due ? days.zone.local(*due) : "";
}

}  // namespace

Result<> check_desk_days(const DeskServices& services, const DeskConfig& config) {
    auto days = days_of(services, config);
    return days ? Result<>() : Result<>(days.error().during("desk " + config.name));
}

std::optional<DeskRest> fresh_rest(const DeskServices& services, const DeskConfig& config) {
    auto home = services.os.open_root(services.home);
    const auto days = home ? days_of(services, config) : Result<DeskDays>(home.error());
    if (!days) {
        return std::nullopt;  // opened, it says why
    }
    for (const std::string& place : {"workspace/" + config.name,
                                     "workspace/.checkpoints/" + config.name + ".git",
                                     "sessions/" + config.name,
                                     "journal/" + config.name,
                                     "ledger/" + config.name}) {
        const auto there = services.os.stat_beneath(home->get(), place);
        if (there || there.error().code() != Errc::not_found) {
            return std::nullopt;
        }
    }
    DeskRest rest;
    rest.status.name = config.name;
    rest.status.state = "idle";
    rest.status.zone = days->zone.name();
    rest.status.calendar = days->calendar.id();
    rest.status.next_rollover = rollover_text(*days, config, services.clock.now());
    rest.status.calendar_note = days->calendar.end_note(days->zone.date_of(services.clock.now()));
    return rest;
}

std::string next_rollover_of(const DeskServices& services, const DeskConfig& config) {
    const auto days = days_of(services, config);
    return days ? rollover_text(*days, config, services.clock.now()) : "";
}

}  // namespace daybook
