// say, trigger, tool call, tool list.
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

#include "host/cli/commands.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"

namespace daybook::cli {
namespace {

constexpr std::size_t kLineColumns = 100;

std::string joined(const std::vector<std::string>& words, std::size_t from) {
    std::string text;
    for (std::size_t i = from; i < words.size(); ++i) {
        text += (i == from ? "" : " ") + words[i];
    }
    return text;
}

/// The text of a trigger: --file, --text or the words.
Result<std::string> text_of(const Options& options,
                            const std::vector<std::string>& words,
                            std::size_t from) {
    const std::string given = joined(words, from);
    const int ways =
        (options.file.empty() ? 0 : 1) + (options.text.empty() ? 0 : 1) + (given.empty() ? 0 : 1);
    if (ways != 1) {
        return Error(Errc::invalid, ways == 0 ? "there is no text" : "the text is given twice");
    }
    if (options.file.empty()) {
        return given.empty() ? options.text : given;
    }
    if (options.file == "-") {
        std::ostringstream all;
        all << std::cin.rdbuf();
        return all.str();
    }
    std::ifstream in(options.file, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    if (!in) {
        return Error(Errc::not_found,
                     "read " + options.file + ": it cannot be opened, or it is empty");
    }
    return all.str();
}

/// Prints a turn as it happens.
class TurnPrinter {
  public:
    TurnPrinter(const Options& options, Output& output, bool stream)
        : options_(options), output_(output), stream_(stream) {}

    void take(const Json& event) {
        if (output_.json()) {
            output_.object(event);
            return;
        }
        const std::string& name = event["event"].as_string();
        if (name == "text" && stream_) {
            output_.raw(event["text"].as_string());
            printed_ += event["text"].as_string();
        } else if (name == "tool_call") {
            end_line();
            printed_.clear();
            output_.say("[" + event["tool"].as_string() + " " +
                        shortened(arguments_of(event), kLineColumns) + "]");
        } else if (name == "tool_result" && event["status"].as_string() != "ok") {
            output_.say("[" + event["tool"].as_string() + ": " + event["status"].as_string() + "]");
        } else if (name == "waiting") {
            if (std::string why = waiting_text(event); why != waited_for_) {
                output_.say(why);
                waited_for_ = std::move(why);
            }
        } else if (name == "rollover") {
            output_.say("[rollover " + event["day"].as_string() + " " + event["step"].as_string() +
                        "]");
        } else if (name == "progress") {
            output_.say("[" + shortened(event["text"].as_string(), kLineColumns) + "]");
        }
    }

    /// Prints what is left of the outcome. Returns the exit code.
    int finish(const Json& result) {
        if (output_.json()) {
            output_.object(result);
            return code_of_outcome(result);
        }
        if (result["duplicate"].as_bool() && !result.has("outcome")) {
            output_.line("already done: " + result["trigger"].as_string());
            return 0;
        }
        const std::string& answer = result["answer"].as_string();
        if (printed_.empty() && !answer.empty()) {
            output_.raw(answer);
            printed_ = answer;
        }
        end_line();
        const int code = code_of_outcome(result);
        if (code != 0) {
            const std::string& error = result["error"].as_string();
            output_.fail(
                Error(Errc::no_answer,
                      "the turn " + result["turn"].as_string() + " " +
                          result["outcome"].as_string() + (error.empty() ? "" : ": " + error)),
                "see: " + same_host(options_, "session show " + result["desk"].as_string()));
        }
        return code;
    }

  private:
    static int code_of_outcome(const Json& result) {
        const std::string& outcome = result["outcome"].as_string();
        return outcome.empty() || outcome == "completed" ? 0 : 1;
    }
    static std::string arguments_of(const Json& event) {
        const Json& arguments = event["arguments"];
        return arguments.is_string() ? arguments.as_string() : arguments.dump();
    }
    /// Why nothing happens; told again only when it is another reason.
    static std::string waiting_text(const Json& event) {
        std::string text = event["state"].as_string();
        for (const Json& model : event["models"].items()) {
            text += "\n  " + model["model"].as_string() + ": " + model["reason"].as_string();
        }
        const bool told = !event["models"].items().empty() || event["reason"].as_string().empty();
        return told ? text : text + ": " + event["reason"].as_string();
    }
    void end_line() {
        if (!printed_.empty() && printed_.back() != '\n') {
            output_.raw("\n");
            printed_ += '\n';
        }
    }

    const Options& options_;
    Output& output_;
    bool stream_;
    std::string printed_;
    std::string waited_for_;
};

int follow(
    Client& client, const char* verb, const Json& args, const Options& options, Output& output) {
    TurnPrinter printer(options, output, !options.no_stream);
    auto result = client.call(verb, args, [&](const Json& event) { printer.take(event); });
    if (!result) {
        return output.fail(
            result.error(),
            result.error().code() == Errc::cancelled ? "the turn goes on without you" : "");
    }
    return printer.finish(*result);
}

}  // namespace

int say(const Options& options, Output& output) {
    const std::size_t first = options.desk.empty() ? 1 : 0;
    auto text = text_of(options, options.words, first);
    if (!text) {
        return output.fail(text.error(), "such as: daybook say main 'What is NIFTY at?'");
    }
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    Json args = Json::object()
                    .set("desk", first == 1 ? options.words.front() : options.desk)
                    .set("text", std::move(*text));
    if (!options.key.empty()) {
        args.set("key", options.key);
    }
    return follow(connected.client(), "say", args, options, output);
}

int send_trigger(const Options& options, Output& output) {
    const std::size_t first = options.desk.empty() ? 1 : 0;
    if (options.words.size() <= first) {
        return output.fail(
            Error(Errc::invalid, "which kind of trigger? message, job, alert or fill"),
            "such as: daybook trigger main alert --name gap --text 'NIFTY opened 1% up'");
    }
    auto text = text_of(options, options.words, first + 1);
    if (!text) {
        return output.fail(text.error());
    }
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    const Json args = Json::object()
                          .set("desk", first == 1 ? options.words.front() : options.desk)
                          .set("kind", options.words[first])
                          .set("text", std::move(*text))
                          .set("key", options.key)
                          .set("name", options.name)
                          .set("wait", options.wait)
                          .set("stream", options.wait && !output.json());
    if (options.wait) {
        return follow(connected.client(), "trigger", args, options, output);
    }
    auto accepted = connected.client().call("trigger", args);
    if (!accepted) {
        return output.fail(accepted.error());
    }
    if (output.json()) {
        output.object(*accepted);
    } else {
        output.line(((*accepted)["duplicate"].as_bool() ? "accepted before: " : "accepted: ") +
                    (*accepted)["trigger"].as_string());
    }
    return 0;
}

int call_tool(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    // TOOL, TOOL JSON, DESK TOOL or DESK TOOL JSON: the arguments are told by their brace.
    const bool has_json = options.words.size() > 1 && options.words.back().starts_with("{");
    auto words = take_desk(connected.client(), options, has_json ? 2 : 1);
    if (!words) {
        return output.fail(words.error());
    }
    if (words->rest.empty() || words->rest.size() > 2) {
        return output.fail(Error(Errc::invalid, "a tool and its arguments are wanted"),
                           "such as: daybook tool call main add_note '{\"text\":\"…\"}'");
    }
    Json arguments = Json::object();
    if (words->rest.size() == 2) {
        auto parsed = Json::parse(words->rest[1]);
        if (!parsed || !parsed->is_object()) {
            return output.fail(parsed ? Error(Errc::invalid, "the arguments are not a JSON object")
                                      : parsed.error().during("the arguments"),
                               "such as: '{\"text\":\"…\"}'");
        }
        arguments = std::move(*parsed);
    }
    auto answer = connected.client().call("tool.call",
                                          Json::object()
                                              .set("desk", words->desk)
                                              .set("tool", words->rest.front())
                                              .set("arguments", std::move(arguments)));
    if (!answer) {
        return output.fail(answer.error());
    }
    if (output.json()) {
        output.object(*answer);
        return 0;
    }
    const Json& result = (*answer)["result"];
    output.line(result.is_string() ? result.as_string() : result.dump_pretty());
    const std::string& path = result["path"].as_string();
    for (const Json& checkpoint : (*answer)["checkpoints"].items()) {
        output.say("checkpoint " + checkpoint.as_string() + "; undo with: " +
                   same_host(options,
                             "checkpoint restore " + words->desk + " " + checkpoint.as_string() +
                                 " " + (path.empty() ? "FILE" : shell_word(path))));
    }
    return 0;
}

int list_tools(const Options& options, Output& output) {
    Connected connected(options, output);
    if (!connected) {
        return connected.code();
    }
    auto words = take_desk(connected.client(), options, 0);
    if (!words) {
        return output.fail(words.error());
    }
    auto tools = connected.client().call(
        "tool.list", Json::object().set("desk", words->desk).set("schemas", options.schemas));
    if (!tools) {
        return output.fail(tools.error());
    }
    if (output.json()) {
        output.object(*tools);
        return 0;
    }
    Table table({"TOOL", "PLUGIN", "EFFECT", "WRITES", "WHAT IT DOES"});
    for (const Json& tool : (*tools)["tools"].items()) {
        const std::string& writes = tool["writes"].as_string();
        table.add({tool["name"].as_string(),
                   tool["plugin"].as_string(),
                   tool["effect"].as_string(),
                   writes.empty() ? "nothing" : writes,
                   shortened(tool["description"].as_string(), 70)});
    }
    output.raw(table.str());
    for (const Json& tool : (*tools)["tools"].items()) {
        if (options.schemas) {
            output.line(tool["name"].as_string() + "  " + tool["input_schema"].dump());
        }
    }
    return 0;
}

}  // namespace daybook::cli
