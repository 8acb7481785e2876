// status, doctor, version, clock.
#include <daybook/version.h>

#include "host/cli/commands.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"
#include "host/os/clock.hpp"

namespace daybook::cli {
namespace {

/// "2026-10-19T15:45:00+05:30" as "today 15:45 IST", seen from `now` in the desk's zone.
std::string rollover_text(const Json& desk, const std::string& now) {
    const std::string& due = desk["next_rollover"].as_string();
    if (due.size() < 16) {
        return "-";
    }
    const std::string date = due.substr(0, 10);
    std::string text = date + " " + due.substr(11, 5);
    auto zone = Zone::find(desk["zone"].as_string());
    auto at = parse_rfc3339(now);
    auto due_at = parse_rfc3339(due);
    if (!zone || !at || !due_at) {
        return text;
    }
    const DeskDate today = zone->date_of(*at);
    const std::string day = date == today.str()                ? "today"
                            : date == today.plus_days(1).str() ? "tomorrow"
                                                               : date;
    return day + " " + due.substr(11, 5) + " " + zone->abbreviation(*due_at);
}

std::string context_text(const Json& desk) {
    const std::int64_t window = desk["window"].as_integer();
    const std::int64_t used = desk["context_tokens"].as_integer();
    if (window <= 0) {
        return used > 0 ? grouped(used) : "-";
    }
    const std::int64_t percent = used * 100 / window;
    // Past the mark the next turn is preceded by a flush and a compression (docs/turns.md).
    constexpr std::int64_t kCompressAt = 70;
    return std::to_string(percent) + "% of " + grouped(window) +
           (percent >= kCompressAt ? ", flush next" : "");
}

std::string desks_table(const Json& status) {
    const std::string& now = status["clock"]["now"].as_string();
    Table table(
        {"DESK", "STATE", "SESSION", "CONTEXT", "QUEUED", "NOTES", "MEMORY", "NEXT ROLLOVER"});
    for (const Json& desk : status["desks"].items()) {
        const std::string& session = desk["session"].as_string();
        table.add({desk["name"].as_string(),
                   desk["state"].as_string(),
                   session.empty() ? "-" : session,
                   context_text(desk),
                   std::to_string(desk["queued"].as_integer()),
                   std::to_string(desk["notes_today"].as_integer()),
                   size_text(desk["memory_bytes"].as_integer()),
                   rollover_text(desk, now)});
    }
    return table.str();
}

std::string plugins_line(const Json& status) {
    std::string line = "PLUGINS  ";
    bool first = true;
    for (const Json& plugin : status["plugins"].items()) {
        line += first ? "" : " · ";
        first = false;
        line += plugin["name"].as_string() + " " + plugin["version"].as_string() + " " +
                plugin["state"].as_string();
        if (plugin["restarts"].as_integer() > 0) {
            line += " restarted " + std::to_string(plugin["restarts"].as_integer()) + "x";
        }
    }
    return first ? line + "none" : line;
}

void print_status(const Json& status, const Output& output) {
    output.line(output.bold("daybookd " + status["version"].as_string()) + "  up " +
                duration_text(status["up_seconds"].as_integer()) + "  pid " +
                std::to_string(status["pid"].as_integer()) + "  socket " +
                status["socket"].as_string());
    if (status["clock"]["replayed"].as_bool()) {
        output.line("replayed clock at " + status["clock"]["now"].as_string());
    }
    if (status["isolation"].as_string() != "required") {
        output.line(output.yellow("isolation is " + status["isolation"].as_string()));
    }
    output.raw(desks_table(status));
    for (const Json& desk : status["desks"].items()) {
        if (!desk["reason"].as_string().empty()) {
            output.line("  " + desk["name"].as_string() + ": " +
                        output.yellow(desk["reason"].as_string()));
        }
    }
    for (const Json& desk : status["desks"].items()) {
        if (!desk["calendar_note"].as_string().empty()) {
            output.line("  " + desk["name"].as_string() + ": " +
                        output.yellow(desk["calendar_note"].as_string()));
        }
    }
    output.line(plugins_line(status));
    for (const Json& plugin : status["plugins"].items()) {
        if (!plugin["reason"].as_string().empty()) {
            output.line("  " + plugin["name"].as_string() + ": " +
                        output.yellow(plugin["reason"].as_string()));
        }
    }
    for (const Json& warning : status["warnings"].items()) {
        output.line(output.yellow("warning: " + warning.as_string()));
    }
}

}  // namespace

int show_status(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto status = connected.client().call("status", Json::object());
    if (!status) {
        return output.fail(status.error());
    }
    if (output.json()) {
        output.object(*status);
    } else {
        print_status(*status, output);
    }
    return 0;
}

int show_doctor(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto found = connected.client().call("doctor", Json::object());
    if (!found) {
        return output.fail(found.error());
    }
    if (output.json()) {
        output.object(*found);
    } else {
        for (const Json& check : (*found)["checks"].items()) {
            const std::string& state = check["state"].as_string();
            const std::string mark = state == "ok"     ? output.green("ok  ")
                                     : state == "warn" ? output.yellow("warn")
                                                       : output.red("bad ");
            if (state == "ok" && output.quiet()) {
                continue;
            }
            output.line(mark + "  " + check["name"].as_string() + ": " + check["text"].as_string());
            if (!check["todo"].as_string().empty()) {
                output.line("      " + check["todo"].as_string());
            }
        }
        output.line(std::to_string((*found)["ok"].as_integer()) + " ok, " +
                    std::to_string((*found)["warn"].as_integer()) + " to look at, " +
                    std::to_string((*found)["bad"].as_integer()) + " bad");
    }
    return (*found)["bad"].as_integer() > 0 ? 1 : 0;
}

int show_version(const Options& options, Output& output) {
    Json json = Json::object().set("daybook", DAYBOOK_VERSION_STRING);
    if (auto places = find_places(options.places, Surroundings::of_process()); places) {
        if (auto client = Client::connect(*places); client) {
            if (auto host = client->call("version", Json::object()); host) {
                json.set("daybookd", (*host)["version"]).set("abi", (*host)["abi"]);
            }
        }
    }
    if (output.json()) {
        output.object(json);
        return 0;
    }
    output.line("daybook " DAYBOOK_VERSION_STRING);
    if (json.has("daybookd")) {
        output.line("daybookd " + json["daybookd"].as_string() + " (running)");
    }
    return 0;
}

int show_clock(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto clock = connected.client().call("clock.show", Json::object());
    if (!clock) {
        return output.fail(clock.error());
    }
    if (output.json()) {
        output.object(*clock);
        return 0;
    }
    output.line((*clock)["now"].as_string() + ((*clock)["replayed"].as_bool() ? "  replayed" : ""));
    Table table({"DESK", "LOCAL", "DAY", "NEXT ROLLOVER"});
    for (const Json& desk : (*clock)["desks"].items()) {
        table.add({desk["desk"].as_string(),
                   desk["local"].as_string(),
                   desk["day"].as_string(),
                   rollover_text(desk, (*clock)["now"].as_string())});
    }
    output.raw(table.str());
    return 0;
}

int advance_clock(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto clock =
        connected.client().call("clock.advance", Json::object().set("to", options.words.front()));
    if (!clock) {
        return output.fail(clock.error());
    }
    if (output.json()) {
        output.object(*clock);
    } else {
        output.line((*clock)["now"].as_string());
    }
    return 0;
}

}  // namespace daybook::cli
