// A model that says what its script says. The script stands in the model's configuration as
// "script": a list of answers; the first whose conditions hold is given. It keeps nothing between
// calls, so that a restart changes nothing.
//
// Conditions: "kind" (of the request), "match" (text in the newest message), "in_messages" (text in
//             any message, as JSON), "after" (the newest message is a result of that tool; without
//             it the newest message must be no result).
// Answer:     "text", "calls" [{"name","arguments"}], "error" {"class","message"}, "echo" (the
// request's member of that
//             name as text), "collect" (every different word of the messages that begins so),
//             "fill" (so many bytes of words), "session", "compacted" [before, after], "crash",
//             "hang" (until cancelled), "end" (instead of the usual reason). "$turn" in the
//             arguments of a call is the turn's id.
// Usage:      "bytes_per_token" of the model's configuration makes it an exact count of the
//             request's content, "no_usage" leaves it out.
// Counting:   "counts" in the plugin's configuration: bytes a token of count_tokens; 0 = it has
//             none. "compacts" [before, after]: what compact() tells; without it unsupported.
// Readiness:  the plugin's configuration may name a "ready_file" of the desk: it must exist.
// Recording:  with "record" in the plugin's configuration every request is told to the host's log
// (request_record.hpp).
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include <daybook/plugin.hpp>

#include "request_record.hpp"

namespace {

using daybook::json::items_of;
using daybook::json::ObjectReader;

class ScriptedModel {
  public:
    explicit ScriptedModel(std::string_view config)
        : config_(config),
          ready_file_(ObjectReader(config).text("ready_file")),
          is_recording_(ObjectReader(config).boolean("record")) {}

    void ready(daybook::Call call) {
        if (ready_file_.empty()) {
            return;
        }
        try {
            static_cast<void>(call.read(ready_file_));
        } catch (const daybook::PluginError&) {
            throw daybook::PluginError(
                DAYBOOK_UNAVAILABLE, "the file " + ready_file_ + " is not there", true);
        }
    }

    static std::int64_t context_window(std::string_view) { return 20000; }

    daybook::Usage count_tokens(daybook::Call, std::string_view request) const {
        const std::int64_t each = ObjectReader(config_).integer("counts", 0);
        if (each == 0) {
            throw daybook::PluginError(DAYBOOK_UNSUPPORTED, "no counting", false);
        }
        daybook::Usage usage;
        usage.input = content_bytes(ObjectReader(request)) / each;
        return usage;
    }

    void compact(daybook::ModelTurn& turn) const {
        const ObjectReader config(config_);
        if (!config.has("compacts")) {
            throw daybook::PluginError(DAYBOOK_UNSUPPORTED, "no compaction", false);
        }
        tell_compaction(turn, config.raw("compacts"));
        turn.text("Compacted");
        turn.end("completed");
    }

    void turn(daybook::ModelTurn& turn) {
        if (is_recording_) {
            story::record_request(turn.call, ++requests_, story::describe_request(turn.request));
        }
        const ObjectReader request(turn.request);
        const ObjectReader config(request.raw("config"));
        const auto messages = items_of(request.raw("messages"));
        const ObjectReader newest(messages.empty() ? std::string_view("{}") : messages.back());
        for (const std::string_view answer : items_of(config.raw("script"))) {
            const ObjectReader entry(answer);
            if (holds(entry, request, newest)) {
                give(turn, entry, request);
                return;
            }
        }
        turn.text("no answer in the script for: " + newest.text("text"));
        turn.end("completed");
    }

  private:
    static bool holds(const ObjectReader& entry,
                      const ObjectReader& request,
                      const ObjectReader& newest) {
        const bool is_result = newest.text("role") == "tool";
        const std::string after = entry.text("after");
        const bool kind = !entry.has("kind") || entry.text("kind") == request.text("kind");
        const bool place = is_result ? after == newest.text("name") : after.empty();
        const bool anywhere =
            request.raw("messages").find(entry.text("in_messages")) != std::string_view::npos;
        return kind && place && anywhere &&
               newest.text("text").find(entry.text("match")) != std::string::npos;
    }

    static std::int64_t content_bytes(const ObjectReader& request) {
        return static_cast<std::int64_t>(request.raw("parts").size() + request.raw("tools").size() +
                                         request.raw("messages").size());
    }

    static void tell_compaction(daybook::ModelTurn& turn, std::string_view pair) {
        const auto numbers = items_of(pair);
        if (numbers.size() == 2) {
            turn.compacted(std::stoll(std::string(numbers[0])),
                           std::stoll(std::string(numbers[1])));
        }
    }

    /// Every different word of the messages that begins with the prefix, in their order.
    static std::string collect(std::string_view messages, const std::string& prefix) {
        std::string found;
        for (auto at = messages.find(prefix); at != std::string_view::npos;
             at = messages.find(prefix, at + 1)) {
            std::string word;
            for (auto i = at;
                 i < messages.size() &&
                 (std::isalnum(static_cast<unsigned char>(messages[i])) != 0 || messages[i] == '-');
                 ++i) {
                word += messages[i];
            }
            if ((" " + found + " ").find(" " + word + " ") == std::string::npos) {
                found += (found.empty() ? "" : " ") + word;
            }
        }
        return found;
    }

    static std::string filled(std::int64_t bytes) {
        std::string text;
        while (static_cast<std::int64_t>(text.size()) < bytes) {
            text += "words and more words ";
        }
        return text;
    }

    static std::string with_turn(std::string_view arguments, const ObjectReader& request) {
        constexpr std::string_view kTurn = "$turn";
        std::string out(arguments);
        for (auto at = out.find(kTurn); at != std::string::npos; at = out.find(kTurn)) {
            out.replace(at, kTurn.size(), request.text("turn"));
        }
        return out;
    }

    static void tell_usage(daybook::ModelTurn& turn, const ObjectReader& request) {
        const ObjectReader config(request.raw("config"));
        const std::int64_t each = config.integer("bytes_per_token", 0);
        if (config.boolean("no_usage")) {
            return;
        }
        daybook::Usage usage;
        usage.input = each > 0 ? content_bytes(request) / each
                               : static_cast<std::int64_t>(turn.request.size() / 3);
        usage.output = 10;
        usage.exact = each > 0;
        turn.usage(usage);
    }

    static void give(daybook::ModelTurn& turn,
                     const ObjectReader& entry,
                     const ObjectReader& request) {
        if (entry.has("session")) {
            turn.session(entry.text("session"));
        }
        if (entry.has("text")) {
            const std::string text = entry.text("text");
            turn.text(text.substr(0, text.size() / 2));
            turn.text(text.substr(text.size() / 2));
        }
        if (entry.has("echo")) {
            turn.text(request.raw(entry.text("echo")));
        }
        if (entry.has("collect")) {
            turn.text(collect(request.raw("messages"), entry.text("collect")));
        }
        if (entry.has("fill")) {
            turn.text(filled(entry.integer("fill", 0)));
        }
        if (entry.has("compacted")) {
            tell_compaction(turn, entry.raw("compacted"));
        }
        if (entry.boolean("crash")) {
            std::abort();
        }
        while (entry.boolean("hang")) {
            turn.call.check();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        if (entry.has("error")) {
            const ObjectReader error(entry.raw("error"));
            turn.error(error.text("class"), error.text("message"));
            return;
        }
        std::size_t number = 0;
        for (const std::string_view call : items_of(entry.raw("calls"))) {
            const ObjectReader one(call);
            turn.tool_call("call-" + std::to_string(++number),
                           one.text("name"),
                           with_turn(one.raw("arguments"), request));
        }
        tell_usage(turn, request);
        turn.end(entry.text("end", number > 0 ? "tool_calls" : "completed"));
    }

    std::string config_, ready_file_;
    bool is_recording_ = false;
    std::size_t requests_ = 0;
};

constexpr auto kModel = daybook::model<ScriptedModel>("scripted");

}  // namespace

DAYBOOK_PLUGIN("scripted",
               "1.0.0",
               daybook::wants("daybook.desk-files/1"),
               daybook::instance<ScriptedModel>(),
               &kModel)
