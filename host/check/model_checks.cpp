// What a model backend streams.
#include <algorithm>
#include <array>

#include "host/check/checks.hpp"

namespace daybook::check {
namespace {

using std::chrono::milliseconds;

constexpr const char* kRequest =
    R"({"turn":"check","kind":"message","day":"2026-10-19","parts":[],"left_out":[],"tools":[],)"
    R"("messages":[{"role":"user","source":"owner","kind":"message","text":"hello"}]})";

CallEnd turn_of(CheckHost& host, const std::string& model, bool cancelled) {
    CallAsk ask;
    ask.kind = "model.turn";
    ask.name = model;
    ask.arguments = kRequest;
    if (cancelled) {
        ask.cancel_after = milliseconds(5);
    }
    return host.call(ask);
}

bool is_end(const std::vector<std::string>& event) {
    return !event.empty() && (event[0] == "end" || event[0] == "error");
}

/// Runs `look` on every model of the plugin; the first complaint is told.
template <class Look>
Verdict each_model(const Subject& subject, const Look& look) {
    if (subject.manifest.models.empty()) {
        return skip("it offers no model");
    }
    for (const std::string& model : subject.manifest.models) {
        auto host = CheckHost::start(subject);
        if (!host) {
            return fail(host.error().message());
        }
        if (const std::string wrong = look(**host, model); !wrong.empty()) {
            return fail("model " + model + ": " + wrong);
        }
    }
    return pass();
}

Verdict stream_order(const Subject& subject) {
    return each_model(subject, [](CheckHost& host, const std::string& model) -> std::string {
        const CallEnd end = turn_of(host, model, false);
        if (!end.is_orderly()) {
            return "a turn did not end: " + end.text;
        }
        const auto ends = std::count_if(end.events.begin(), end.events.end(), is_end);
        if (ends > 1 || (ends == 1 && !is_end(end.events.back()))) {
            return "wanted one end or error, as the last event, got " + std::to_string(ends);
        }
        return ends == 0 && end.how == CallEnd::How::result
                   ? "the turn ended well without an end event"
                   : "";
    });
}

Verdict usage_reported(const Subject& subject) {
    return each_model(subject, [](CheckHost& host, const std::string& model) -> std::string {
        const CallEnd end = turn_of(host, model, false);
        const bool completed =
            std::any_of(end.events.begin(), end.events.end(), [](const auto& event) {
                return event.size() > 1 && event[0] == "end" && event[1] == "completed";
            });
        const bool told = std::any_of(end.events.begin(), end.events.end(), [](const auto& event) {
            return !event.empty() && event[0] == "usage";
        });
        return completed && !told ? "a completed turn told no usage, not even an estimate" : "";
    });
}

Verdict health_spends_nothing(const Subject& subject) {
    return each_model(subject, [](CheckHost& host, const std::string& model) -> std::string {
        CallAsk ask;
        ask.kind = "model.ready";
        ask.name = model;
        const CallEnd end = host.call(ask);
        if (!end.is_orderly()) {
            return "asked whether it is ready: " + end.text;
        }
        return end.events.empty() ? "" : "asked whether it is ready, it streamed events";
    });
}

Verdict cancel_mid_stream(const Subject& subject) {
    return each_model(subject, [](CheckHost& host, const std::string& model) -> std::string {
        const CallEnd end = turn_of(host, model, true);
        if (!end.is_orderly() || end.took > milliseconds(2000)) {
            return "a cancelled turn took " + std::to_string(end.took.count()) +
                   " ms, wanted under 2000: " + end.text;
        }
        const CallEnd next = turn_of(host, model, false);
        return next.is_orderly() ? "" : "the turn after a cancelled one did not end: " + next.text;
    });
}

constexpr std::array<Check, 4> kChecks{
    {{"stream-order", 1, "a turn has one end, and nothing after it", stream_order},
     {"cancel-mid-stream", 1, "a cancelled turn ends, and the next one works", cancel_mid_stream},
     {"usage-reported", 2, "a completed turn tells its usage", usage_reported},
     {"health-spends-nothing",
      2,
      "asking whether it is ready runs no turn",
      health_spends_nothing}}};

}  // namespace

std::span<const Check> model_checks() {
    return kChecks;
}

}  // namespace daybook::check
