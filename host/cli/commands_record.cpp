// checkpoint, journal.
#include <charconv>

#include "host/cli/commands.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"

namespace daybook::cli {
namespace {

constexpr std::size_t kDataColumns = 140;

/// Connects, takes the desk when more than `fixed` words are there, and calls the verb.
template <class Add>
Result<Json> ask(
    Connected& connected, const Options& options, std::size_t fixed, const char* verb, Add add) {
    auto words = take_desk(connected.client(), options, fixed);
    if (!words) {
        return words.error();
    }
    if (words->rest.size() != fixed) {
        return Error(Errc::invalid,
                     "daybook " + options.command + " takes " + std::to_string(fixed) +
                         " words after the desk, and got " + std::to_string(words->rest.size()));
    }
    Json args = Json::object().set("desk", words->desk);
    add(words->rest, args);
    return connected.client().call(verb, args);
}

template <class Add, class Print>
int ask_and_print(const Options& options,
                  Output& output,
                  std::size_t fixed,
                  const char* verb,
                  Add add,
                  Print print) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto result = ask(connected, options, fixed, verb, add);
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

void take_id(const std::vector<std::string>& rest, Json& args) {
    args.set("checkpoint", rest.front());
}

void print_record(const Json& record, const Output& output) {
    const std::string& local = record["local"].as_string();
    std::string line = local.substr(0, 10) + " " + (local.size() > 19 ? local.substr(11, 8) : "") +
                       "  " + record["id"].as_string() + "  " +
                       output.bold(record["type"].as_string());
    if (!record["turn"].as_string().empty()) {
        line += "  " + record["turn"].as_string();
    }
    if (record["by"].as_string() != "host") {
        line += "  by " + record["by"].as_string();
    }
    output.line(line + "  " + shortened(record["data"].dump(), kDataColumns));
}

Json journal_args(const Options& options) {
    Json args = Json::object();
    if (!options.types.empty()) {
        Json types = Json::array();
        for (const std::string& type : options.types) {
            types.push(type);
        }
        args.set("types", std::move(types));
    }
    return args;
}

/// The journal's own desk name may be _host, which is no desk.
Result<std::string> journal_desk(Client& client, const Options& options) {
    auto words = take_desk(client, options, 0);
    return words ? Result<std::string>(words->desk) : words.error();
}

}  // namespace

int list_checkpoints(const Options& options, Output& output) {
    std::uint64_t before = 0;
    if (!options.before.empty()) {
        const std::string digits =
            options.before.starts_with("c-") ? options.before.substr(2) : options.before;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), before);
        if (error != std::errc() || end != digits.data() + digits.size()) {
            return output.fail(Error(Errc::invalid, "--before wants a checkpoint such as c-40"));
        }
    }
    return ask_and_print(
        options,
        output,
        0,
        "checkpoint.list",
        [&](const auto&, Json& args) {
            args.set("before", static_cast<std::int64_t>(before));
            if (options.limit > 0) {
                args.set("limit", options.limit);
            }
        },
        [&](const Json& result) {
            Table table({"CHECKPOINT", "TIME", "KIND", "FILE", "TOOL", "TURN", "REASON"});
            for (const Json& each : result["checkpoints"].items()) {
                table.add({each["id"].as_string(),
                           each["at"].as_string().substr(0, 19) + "Z",
                           each["kind"].as_string(),
                           each["file"].as_string(),
                           each["tool"].as_string(),
                           each["turn"].as_string(),
                           shortened(each["reason"].as_string(), 60)});
            }
            output.raw(table.str());
        });
}

int show_checkpoint(const Options& options, Output& output) {
    return ask_and_print(options, output, 1, "checkpoint.show", take_id, [&](const Json& shown) {
        output.line(output.bold(shown["id"].as_string()) + "  " + shown["kind"].as_string() + "  " +
                    shown["at"].as_string() + "  commit " + shown["commit"].as_string());
        output.line("reason  " + shown["reason"].as_string());
        if (!shown["file"].as_string().empty()) {
            output.line("before  " + shown["file"].as_string() + " by " +
                        shown["tool"].as_string() + " in " + shown["turn"].as_string());
        }
        Table table({"FILE", "SIZE"});
        for (const Json& file : shown["files"].items()) {
            table.add({file["path"].as_string(), size_text(file["bytes"].as_integer())});
        }
        output.raw(table.empty() ? "no files\n" : table.str());
        for (const Json& name : shown["skipped"].items()) {
            output.line(output.yellow("not stored: " + name.as_string()));
        }
    });
}

int diff_checkpoint(const Options& options, Output& output) {
    return ask_and_print(
        options,
        output,
        1,
        "checkpoint.diff",
        [&](const std::vector<std::string>& rest, Json& args) {
            take_id(rest, args);
            args.set("now", options.now);
        },
        [&](const Json& result) {
            if (result["changes"].items().empty()) {
                output.say("no difference");
            }
            for (const Json& change : result["changes"].items()) {
                output.line(output.bold(change["path"].as_string()) + "  " +
                            change["change"].as_string());
                const std::string& diff = change["diff"].as_string();
                output.raw(diff);
                if (!diff.empty() && diff.back() != '\n') {
                    output.raw("\n");
                }
            }
        });
}

int take_checkpoint(const Options& options, Output& output) {
    return ask_and_print(
        options,
        output,
        0,
        "checkpoint.take",
        [&](const auto&, Json& args) {
            if (!options.reason.empty()) {
                args.set("reason", options.reason);
            }
        },
        [&](const Json& result) {
            const std::string& id = result["id"].as_string();
            output.line("took " + (id.empty() ? result["checkpoint"].as_string() : id));
        });
}

int show_journal(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto desk = journal_desk(connected.client(), options);
    if (!desk) {
        return output.fail(desk.error());
    }
    Json args = journal_args(options).set("desk", *desk);
    if (!options.day.empty()) {
        args.set("day", options.day);
    }
    if (options.limit > 0) {
        args.set("limit", options.limit);
    }
    auto result = connected.client().call("journal.show", args);
    if (!result) {
        return output.fail(result.error());
    }
    if (output.json()) {
        output.object(*result);
        return 0;
    }
    for (const Json& record : (*result)["records"].items()) {
        print_record(record, output);
    }
    if ((*result)["left_out"].as_integer() > 0) {
        output.say("(" + grouped((*result)["left_out"].as_integer()) +
                   " older lines are not shown; use --limit)");
    }
    if ((*result)["bad_lines"].as_integer() > 0) {
        output.say(std::to_string((*result)["bad_lines"].as_integer()) +
                   " damaged lines were passed over");
    }
    return 0;
}

int tail_journal(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto desk = journal_desk(connected.client(), options);
    if (!desk) {
        return output.fail(desk.error());
    }
    const Json args = journal_args(options)
                          .set("desk", *desk)
                          .set("last", options.limit > 0 ? options.limit : 10)
                          .set("follow", options.follow);
    auto result = connected.client().call("journal.tail", args, [&](const Json& event) {
        if (output.json()) {
            output.object(event["record"]);
        } else {
            print_record(event["record"], output);
        }
    });
    return result ? 0 : output.fail(result.error());
}

}  // namespace daybook::cli
