#include "host/turn/model_call.hpp"

#include <algorithm>
#include <charconv>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

/// A model's call reaches outside only to its own server; it calls no tool, journals no order,
/// hands over no trigger, and writes no file (it has no file grant).
constexpr unsigned kNotForModels = kTools | kJournal | kTriggers;

constexpr std::size_t kMaxSessionId = 512;
constexpr std::size_t kMaxErrorText = 4096;

std::string value_of(const ModelEvent& event, std::size_t i) {
    return i < event.values.size() ? event.values[i] : std::string();
}

std::int64_t number_of(const std::string& text) {
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

}  // namespace

std::string_view error_class_of(Errc code) noexcept {
    switch (code) {
        case Errc::unavailable:
        case Errc::busy:
            return "not_ready";
        case Errc::rate_limited:
            return "overloaded";
        case Errc::auth:
            return "auth";
        case Errc::context_full:
            return "overflow";
        case Errc::invalid:
        case Errc::refused:
        case Errc::unsupported:
        case Errc::not_found:
            return "request_fault";
        case Errc::truncated:
            return "truncated";
        case Errc::cancelled:
            return "cancelled";
        case Errc::lost_connection:
        case Errc::plugin_crashed:
            return "lost_connection";
        case Errc::deadline:
        case Errc::no_answer:
            return "no_answer";
        case Errc::ok:
        case Errc::conflict:
        case Errc::no_checkpoint:
        case Errc::io:
        case Errc::corrupt:
        case Errc::full:
        case Errc::plugin_protocol:
        case Errc::model_fault:
        case Errc::internal:
            break;
    }
    return "model_fault";
}

Json request_config(const ModelConfig& model) {
    Json config = model.config.is_object() ? model.config : Json::object();
    if (!model.url.empty()) {
        config.set("url", model.url);
    }
    return config;
}

bool AnswerCollector::take(const ModelEvent& event) {
    if (is_spoilt()) {
        return false;
    }
    if (!answer_.end.empty() || !answer_.error_class.empty()) {
        spoilt_ = "an event \"" + event.name + "\" came after the end of its answer";
        return false;
    }
    if (event.name == "text" || event.name == "reasoning") {
        return take_words(event);
    }
    if (event.name == "tool_call") {
        take_tool_call(event);
    } else if (event.name == "usage") {
        take_usage(event);
    } else if (event.name == "compacted") {
        take_compaction(event);
    } else if (event.name == "session") {
        const std::string id = value_of(event, 0);
        answer_.backend_session = is_utf8(id) && id.size() <= kMaxSessionId ? id : "";
    } else if (event.name == "end" || event.name == "error") {
        take_end(event);
    }
    return false;  // an event of a later version is skipped
}

bool AnswerCollector::take_words(const ModelEvent& event) {
    const std::string words = value_of(event, 0);
    if (!is_utf8(words)) {
        spoilt_ = "its text is not UTF-8";
        return false;
    }
    if (event.name == "reasoning") {
        const bool fits = words.size() <= kMaxText - reasoning_bytes_;
        reasoning_bytes_ = fits ? reasoning_bytes_ + words.size() : kMaxText;
        return fits;
    }
    if (words.size() > kMaxText - answer_.text.size()) {
        spoilt_ = "its answer is over 1 MiB";
        return false;
    }
    answer_.text += words;
    return true;
}

void AnswerCollector::take_end(const ModelEvent& event) {
    if (event.name == "end") {
        answer_.end = printable(value_of(event, 0), kMaxName);
        return;
    }
    const std::string error_class = printable(value_of(event, 0), kMaxName);
    answer_.error_class = error_class.empty() ? "model_fault" : error_class;
    answer_.message = printable(value_of(event, 1), kMaxErrorText);
}

void AnswerCollector::take_tool_call(const ModelEvent& event) {
    if (event.values.size() < 3 || !is_utf8(event.values[0]) || !is_utf8(event.values[1]) ||
        event.values[1].empty() || !is_utf8(event.values[2])) {
        spoilt_ = "a malformed tool call";
        return;
    }
    if (answer_.calls.size() >= kMaxCalls) {
        spoilt_ = "more than " + std::to_string(kMaxCalls) + " tool calls in one answer";
        return;
    }
    if (event.values[0].size() > kMaxName || event.values[1].size() > kMaxName) {
        spoilt_ =
            "a tool call with an id or a name of more than " + std::to_string(kMaxName) + " bytes";
        return;
    }
    if (event.values[2].size() > kMaxArguments - argument_bytes_) {
        spoilt_ = "tool calls with arguments of more than 1 MiB";
        return;
    }
    argument_bytes_ += event.values[2].size();
    ModelToolCall call{event.values[0], event.values[1], event.values[2]};
    const bool taken = std::any_of(answer_.calls.begin(),
                                   answer_.calls.end(),
                                   [&](const ModelToolCall& other) { return other.id == call.id; });
    if (call.id.empty() || taken) {
        call.id = "call-" + std::to_string(answer_.calls.size() + 1);
    }
    answer_.calls.push_back(std::move(call));
}

void AnswerCollector::take_usage(const ModelEvent& event) {
    // exact, input, output, cache_read, cache_write; -1 = not reported. A usage of zero is no
    // measurement.
    if (event.values.size() < 3) {
        return;
    }
    const std::int64_t input = number_of(event.values[1]);
    answer_.exact = event.values[0] == "1";
    answer_.input_tokens = input > 0 ? input : -1;
    answer_.output_tokens = std::max<std::int64_t>(number_of(event.values[2]), -1);
}

void AnswerCollector::take_compaction(const ModelEvent& event) {
    const std::int64_t before = number_of(value_of(event, 0));
    const std::int64_t after = number_of(value_of(event, 1));
    if (before > 0 && after >= 0) {
        answer_.compaction = Compaction{before, after};
    }
}

ModelAnswer AnswerCollector::finish(const Result<std::string>& result) {
    const auto fail = [&](std::string_view error_class, std::string message) {
        answer_.end.clear();
        answer_.error_class = error_class;
        answer_.message = std::move(message);
    };
    if (is_spoilt()) {
        fail("model_fault", spoilt_);
    } else if (!answer_.error_class.empty()) {
        answer_.end.clear();
    } else if (!result) {
        fail(error_class_of(result.error().code()), result.error().message());
    } else if (answer_.end == "completed" && !answer_.calls.empty()) {
        fail("model_fault", "it ended as completed with a tool call open");
    } else if (answer_.end == "tool_calls" && answer_.calls.empty()) {
        fail("model_fault", "it ended for tool calls and made none");
    } else if (answer_.end == "completed" && answer_.text.empty()) {
        fail("no_answer", "it ended without saying anything");
    } else if (answer_.end.empty()) {
        fail("no_answer", "it ended without an answer");
    } else if (answer_.end != "completed" && answer_.end != "tool_calls") {
        fail("model_fault", "it ended for an unknown reason");
    }
    return std::move(answer_);
}

namespace {

/// Its own server, in every kind of turn, and nothing else.
std::vector<OriginConfig> origins_of(const ModelConfig& model) {
    if (model.url.empty()) {
        return {};
    }
    return {{model.url, model.credential, model.credential_header, model.private_network}};
}

}  // namespace

CallOutcome ModelCaller::call(const ModelChoice& model,
                              const std::string& kind,
                              std::string arguments,
                              std::chrono::milliseconds timeout,
                              const CallWatch& watch) {
    ShownFiles own;
    VerbContext context = tools_.verb_context(own);
    Leash leash;
    leash.desk = parts_.config.name;
    leash.plugin = model.plugin->config.name;
    leash.tool = model.descriptor;
    leash.turn = context.turn;
    leash.groups = model.plugin->groups & ~kNotForModels;
    leash.deadline = parts_.services.clock.steady() + timeout;
    CallRequest request;
    request.kind = kind;
    request.name = model.descriptor;
    request.arguments = std::move(arguments);
    context.http = tools_.http_access(origins_of(*model.config));
    context.process = parts_.runners.process_access(*model.plugin);
    HostCalls verbs(std::move(context));
    auto runner = parts_.runners.of(*model.plugin);
    if (!runner) {
        CallOutcome not_started;
        not_started.result = runner.error();
        return not_started;
    }
    CallWatch watched = watch;
    watched.inspect = parts_.runners.inspection_of(*model.plugin);
    return run_call(**runner,
                    parts_.inbox,
                    leash,
                    request,
                    verbs,
                    watched,
                    parts_.services.config.host.cancel_grace);
}

ModelAnswer ModelCaller::turn(const ModelChoice& model,
                              const Json& request,
                              const std::function<void(const ModelEvent&)>& on_event) {
    AnswerCollector collector;
    CallWatch watch;
    watch.on_event = [&](const ModelEvent& event) {
        if (collector.take(event) && on_event) {
            on_event(event);
        }
    };
    watch.is_cancelled = [&] { return collector.is_spoilt() || parts_.interrupt.is_set(); };
    const CallOutcome outcome =
        call(model, "model.turn", request.dump(), parts_.services.config.host.model_timeout, watch);
    return collector.finish(outcome.result);
}

Result<> ModelCaller::ready(const ModelChoice& model, std::chrono::milliseconds timeout) {
    CallWatch watch;
    watch.is_cancelled = [this] { return parts_.interrupt.is_set(); };
    const CallOutcome outcome = call(model, "model.ready", "{}", timeout, watch);
    if (!outcome.result) {
        return outcome.result.error();
    }
    const auto answer = Json::parse(*outcome.result);
    if (answer && (*answer)["ready"].kind() == Json::Kind::boolean &&
        !(*answer)["ready"].as_bool()) {
        const std::string& reason = (*answer)["reason"].as_string();
        return Error(Errc::unavailable, reason.empty() ? "it says that it is not ready" : reason);
    }
    return {};
}

Result<TokenCount> ModelCaller::count(const ModelChoice& model, const Json& request) {
    CallWatch watch;
    watch.is_cancelled = [this] { return parts_.interrupt.is_set(); };
    const CallOutcome outcome =
        call(model, "model.count", request.dump(), parts_.services.config.host.call_timeout, watch);
    if (!outcome.result) {
        return outcome.result.error();
    }
    const auto usage = Json::parse(*outcome.result);
    const std::int64_t tokens = usage ? (*usage)["input"].as_integer(0) : 0;
    if (tokens <= 0) {
        return Error(Errc::model_fault, "model " + model.config->name + " counted no token");
    }
    const Json& exact = (*usage)["exact"];
    return TokenCount{tokens, exact.as_bool() || exact.as_integer() == 1};
}

Result<Compaction> ModelCaller::compact(const ModelChoice& model, std::string_view instruction) {
    AnswerCollector collector;
    CallWatch watch;
    watch.on_event = [&](const ModelEvent& event) { collector.take(event); };
    watch.is_cancelled = [&] { return collector.is_spoilt() || parts_.interrupt.is_set(); };
    const CallOutcome outcome = call(model,
                                     "model.compact",
                                     Json::object().set("instruction", instruction).dump(),
                                     parts_.services.config.host.model_timeout,
                                     watch);
    if (!outcome.result && outcome.result.error().code() == Errc::unsupported) {
        return outcome.result.error();
    }
    const ModelAnswer answer = collector.finish(outcome.result);
    const std::string who = "model " + model.config->name;
    // A backend may say that it succeeded and have done nothing: only a boundary counts.
    if (answer.compaction && answer.compaction->after < answer.compaction->before) {
        return *answer.compaction;
    }
    if (!outcome.result) {
        return outcome.result.error().during(who + " compacts its conversation");
    }
    return Error(Errc::model_fault,
                 who +
                     (answer.compaction ? " compacted its conversation and gained nothing"
                                        : " told of no compaction of its conversation") +
                     (answer.message.empty() ? "" : ": " + answer.message));
}

std::int64_t ModelCaller::window(const ModelChoice& model, std::chrono::milliseconds timeout) {
    const CallOutcome outcome = call(model,
                                     "model.window",
                                     Json::object().set("model", model.config->model).dump(),
                                     timeout,
                                     {});
    const auto answer =
        outcome.result ? Json::parse(*outcome.result) : Result<Json>(outcome.result.error());
    return answer ? std::max<std::int64_t>((*answer)["window"].as_integer(0), 0) : 0;
}

}  // namespace daybook
