// desk, session, memory.
#include "host/cli/commands.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"

namespace daybook::cli {
namespace {

constexpr std::size_t kTextColumns = 2000;

/// Connects, takes the desk, calls the verb with {"desk":…} and `add`'s members, prints JSON or
/// calls `print`.
template <class Add, class Print>
int ask(const Options& options, Output& output, const char* verb, Add add, Print print) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto words = take_desk(connected.client(), options, 0);
    if (!words) {
        return output.fail(words.error());
    }
    Json args = Json::object().set("desk", words->desk);
    add(*words, args);
    auto result = connected.client().call(verb, args);
    if (!result) {
        return output.fail(result.error());
    }
    if (output.json()) {
        output.object(*result);
    } else {
        print(*result);
    }
    return 0;
}

constexpr auto kNothing = [](const DeskWords&, Json&) {};

std::string list_of(const Json& items) {
    std::string text;
    for (const Json& item : items.items()) {
        text += (text.empty() ? "" : ", ") + item.as_string();
    }
    return text.empty() ? "-" : text;
}

void print_record(const Json& record, const Output& output) {
    const std::string& kind = record["kind"].as_string();
    std::string head = record["ts"].as_string().substr(0, 19) + "Z  " + record["turn"].as_string() +
                       "  " + kind + " (" + record["source"].as_string() + ")";
    if (record.has("tool")) {
        head += " " + record["tool"].as_string();
    }
    if (record.has("status") && record["status"].as_string() != "ok") {
        head += " " + record["status"].as_string();
    }
    output.line(output.dim(head));
    const std::string& text = record["text"].as_string();
    const bool whole = kind == "trigger" || kind == "answer" || kind == "opening";
    std::string indented;
    for (const char c : whole ? text : shortened(text, kTextColumns)) {
        indented += c;
        indented += c == '\n' ? "    " : "";
    }
    output.line("    " + indented);
}

void print_text(const Json& shown, const Output& output) {
    const std::string& text = shown["text"].as_string();
    if (shown.has("exists") && !shown["exists"].as_bool()) {
        output.say(shown["file"].as_string() + " is not there yet");
        return;
    }
    output.raw(text);
    if (!text.empty() && text.back() != '\n') {
        output.raw("\n");
    }
}

}  // namespace

int list_desks(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto result = connected.client().call("desk.list", Json::object());
    if (!result) {
        return output.fail(result.error());
    }
    if (output.json()) {
        output.object(*result);
        return 0;
    }
    Table table({"DESK", "STATE", "SESSION", "MODEL", "CALENDAR", "ZONE"});
    for (const Json& desk : (*result)["desks"].items()) {
        table.add({desk["name"].as_string(),
                   desk["state"].as_string(),
                   desk["session"].as_string(),
                   desk["model"].as_string(),
                   desk["calendar"].as_string(),
                   desk["zone"].as_string()});
    }
    output.raw(table.str());
    return 0;
}

int show_desk(const Options& options, Output& output) {
    return ask(options, output, "desk.show", kNothing, [&](const Json& desk) {
        const auto row = [&](const char* name, const std::string& value) {
            output.line(std::string(name) + (value.empty() ? "-" : value));
        };
        row("desk           ", desk["name"].as_string());
        row("state          ",
            desk["state"].as_string() +
                (desk["reason"].as_string().empty() ? "" : ": " + desk["reason"].as_string()));
        row("session        ", desk["session"].as_string());
        row("models         ", list_of(desk["models"]));
        row("plugins        ", list_of(desk["plugins"]));
        row("calendar       ", desk["calendar"].as_string() + ", zone " + desk["zone"].as_string());
        row("next rollover  ", desk["next_rollover"].as_string());
        row("reads          ", list_of(desk["reads"]));
        row("folder         ", desk["folder"].as_string());
    });
}

int interrupt_desk(const Options& options, Output& output) {
    return ask(options, output, "desk.interrupt", kNothing, [&](const Json& result) {
        output.line(result["running"].as_bool()
                        ? "the running turn of " + result["desk"].as_string() + " is cancelled"
                        : "no turn of " + result["desk"].as_string() + " runs");
    });
}

namespace {

int set_paused(const Options& options, Output& output, bool on) {
    return ask(
        options,
        output,
        on ? "desk.pause" : "desk.resume",
        [&](const DeskWords&, Json& args) {
            if (!options.reason.empty()) {
                args.set("reason", options.reason);
            }
        },
        [&](const Json& result) {
            const std::string state = on ? "paused" : "not paused";
            output.line(result["desk"].as_string() +
                        (result["changed"].as_bool() ? " is " : " was already ") + state + "; " +
                        std::to_string(result["queued"].as_integer()) + " queued");
        });
}

}  // namespace

int pause_desk(const Options& options, Output& output) {
    return set_paused(options, output, true);
}

int resume_desk(const Options& options, Output& output) {
    return set_paused(options, output, false);
}

int list_sessions(const Options& options, Output& output) {
    return ask(options, output, "session.list", kNothing, [&](const Json& result) {
        Table table({"SESSION", "LINES", "SIZE", "SUMMARY"});
        for (const Json& session : result["sessions"].items()) {
            table.add({session["id"].as_string(),
                       std::to_string(session["lines"].as_integer()),
                       size_text(session["bytes"].as_integer()),
                       session["summarised"].as_bool() ? "yes" : "-"});
        }
        output.raw(table.str());
    });
}

int show_session(const Options& options, Output& output) {
    Options one = options;
    std::string session = options.session;
    // One word is a session when it looks like one: a date and a number.
    if (!one.words.empty() && one.words.back().size() > 11 && one.words.back()[4] == '-' &&
        one.words.back()[7] == '-') {
        session = one.words.back();
        one.words.pop_back();
    }
    return ask(
        one,
        output,
        "session.show",
        [&](const DeskWords& words, Json& args) {
            const std::string& named =
                session.empty() && !words.rest.empty() ? words.rest.front() : session;
            if (!named.empty()) {
                args.set("session", named);
            }
            if (options.limit > 0) {
                args.set("limit", options.limit);
            }
        },
        [&](const Json& result) {
            output.line(output.bold("session " + result["session"].as_string()));
            if (result["left_out"].as_integer() > 0) {
                output.line("(" + grouped(result["left_out"].as_integer()) +
                            " older lines are not shown; use --limit)");
            }
            for (const Json& record : result["lines"].items()) {
                print_record(record, output);
            }
            if (result["bad_lines"].as_integer() > 0) {
                output.line(output.yellow(std::to_string(result["bad_lines"].as_integer()) +
                                          " damaged lines were passed over"));
            }
            if (result.has("summary")) {
                output.line(output.bold("summary of the day"));
                output.line(result["summary"].as_string());
            }
        });
}

int show_memory(const Options& options, Output& output) {
    Options one = options;
    std::string file = "Memory.md";
    // A word with a dot or a slash is a file.
    if (!one.words.empty() && one.words.back().find_first_of("./") != std::string::npos) {
        file = one.words.back();
        one.words.pop_back();
    }
    return ask(
        one,
        output,
        "memory.show",
        [&](const DeskWords& words, Json& args) {
            args.set("file", words.rest.empty() ? file : words.rest.front());
        },
        [&](const Json& shown) { print_text(shown, output); });
}

int show_notes(const Options& options, Output& output) {
    return ask(
        options,
        output,
        "memory.notes",
        [&](const DeskWords&, Json& args) {
            if (!options.day.empty()) {
                args.set("day", options.day);
            }
        },
        [&](const Json& shown) { print_text(shown, output); });
}

}  // namespace daybook::cli
