// A model that says what its script says. The script stands in the model's configuration as
// "script": a list of answers; the first whose conditions hold is given. It keeps nothing between
// calls, so that a restart changes nothing.
//
// Conditions: "kind" (of the request), "match" (text in the newest message), "after" (the newest
// message is a result of
//             that tool; without it the newest message must be no result).
// Answer:     "text", "calls" [{"name","arguments"}], "error" {"class","message"}, "echo" (the
// request's member of that
//             name as text), "session", "crash", "hang" (until cancelled), "end" (instead of the
//             usual reason).
// Readiness:  the plugin's configuration may name a "ready_file" of the desk: it must exist.
// Recording:  with "record" in the plugin's configuration every request is told to the host's log
// (request_record.hpp).
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
        : ready_file_(ObjectReader(config).text("ready_file")),
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
        return kind && place && newest.text("text").find(entry.text("match")) != std::string::npos;
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
            turn.tool_call(
                "call-" + std::to_string(++number), one.text("name"), one.raw("arguments"));
        }
        daybook::Usage usage;
        usage.input = static_cast<std::int64_t>(turn.request.size() / 3);
        usage.output = 10;
        usage.exact = false;
        turn.usage(usage);
        turn.end(entry.text("end", number > 0 ? "tool_calls" : "completed"));
    }

    std::string ready_file_;
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
