// One request to a model backend and the stream of its answer, collected. Thread: [desk].
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/turn/tool_call.hpp"

namespace daybook {

/// A model of the desk and the plugin that serves it.
struct ModelChoice {
    const ModelConfig* config = nullptr;
    const PluginEntry* plugin = nullptr;
    std::string descriptor;  ///< the plugin's name for this kind of model
};

/// What the request tells the backend of its configuration: the model's table, with its url.
[[nodiscard]] Json request_config(const ModelConfig& model);

struct ModelToolCall {
    std::string id, name, arguments;  ///< arguments: JSON text
};

/// Tokens of a conversation that a backend keeps itself, before and after it shortened it.
struct Compaction {
    std::int64_t before = 0, after = 0;
};

/// A backend's count of a request.
struct TokenCount {
    std::int64_t tokens = 0;
    bool exact = false;
};

/// What a backend answered. Exactly one of `end` and `error_class` is set.
struct ModelAnswer {
    std::string text;
    std::vector<ModelToolCall> calls;
    std::string end;                                     ///< "completed" or "tool_calls"
    std::string error_class;                             ///< docs/formats.md, "Errors"
    std::string message;                                 ///< of the error
    std::string backend_session;                         ///< "" = the backend told none
    std::int64_t input_tokens = -1, output_tokens = -1;  ///< -1 = not reported
    bool exact = false;
    std::optional<Compaction> compaction;  ///< the last one of this call
};

/// Collects the events of one answer and holds it to its rules: what is larger than the bounds
/// below is a model_fault, but reasoning, which is shown up to kMaxText and then dropped. No I/O.
class AnswerCollector {
  public:
    static constexpr std::size_t kMaxText = 1024UL * 1024;
    static constexpr std::size_t kMaxCalls = 64;
    static constexpr std::size_t kMaxName = 128;                 ///< of a call's id and tool
    static constexpr std::size_t kMaxArguments = 1024UL * 1024;  ///< of all calls together

    /// Returns whether the event may be shown (text, reasoning) to whoever watches.
    bool take(const ModelEvent& event);
    /// The answer broke a rule or is over: the backend should stop.
    [[nodiscard]] bool is_spoilt() const noexcept { return !spoilt_.empty(); }
    /// `result` is how the call ended.
    [[nodiscard]] ModelAnswer finish(const Result<std::string>& result);

  private:
    bool take_words(const ModelEvent& event);
    void take_tool_call(const ModelEvent& event);
    void take_end(const ModelEvent& event);
    void take_usage(const ModelEvent& event);
    void take_compaction(const ModelEvent& event);

    ModelAnswer answer_;
    std::string spoilt_;
    std::size_t reasoning_bytes_ = 0;
    std::size_t argument_bytes_ = 0;
};

/// The class of a call that ended without an `error` event.
[[nodiscard]] std::string_view error_class_of(Errc code) noexcept;

class ModelCaller {
  public:
    /// Borrowed; outlives the caller. `tools` says what the backend's own verbs work on.
    ModelCaller(DeskParts& parts, ToolCaller& tools) : parts_(parts), tools_(tools) {}

    /// Runs one request. `on_event` gets text and reasoning as they come.
    ModelAnswer turn(const ModelChoice& model,
                     const Json& request,
                     const std::function<void(const ModelEvent&)>& on_event);
    /// Errors: the backend's reason.
    Result<> ready(const ModelChoice& model, std::chrono::milliseconds timeout);
    /// Tokens; 0 = unknown.
    std::int64_t window(const ModelChoice& model, std::chrono::milliseconds timeout);

    /// The backend's own count of the request. Errors: unsupported, or its reason; a count of zero
    /// is model_fault.
    Result<TokenCount> count(const ModelChoice& model, const Json& request);
    /// Lets the backend shorten the conversation that it keeps. Errors: unsupported (it keeps
    /// none), model_fault (it told no boundary, or one that gains nothing), or its reason.
    Result<Compaction> compact(const ModelChoice& model, std::string_view instruction);

  private:
    CallOutcome call(const ModelChoice& model,
                     const std::string& kind,
                     std::string arguments,
                     std::chrono::milliseconds timeout,
                     const CallWatch& watch);

    DeskParts& parts_;
    ToolCaller& tools_;
};

}  // namespace daybook
