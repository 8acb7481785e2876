// A model backend in C++: a class with `void turn(ModelTurn&)`, made known by
// daybook::model<T>("name").
//
// DRAFT, as ext/draft/model.h. T is the plugin's instance type; besides `turn` it may have
//   void ready(Call)                              throws the reason when it is not ready; without
//   it: always ready std::int64_t context_window(std::string_view) tokens of the model's window, 0
//   = unknown Usage count_tokens(Call, std::string_view)    exact count for a request void
//   compact(ModelTurn&)                      `request` is then the instruction void cancel()
//   noexcept                        [any]; returns at once, the running turn ends soon after
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <daybook/call.hpp>
#include <daybook/ext/draft/model.h>

namespace daybook {

/// Tokens; -1 = not reported. `exact` is false for an estimate.
struct Usage {
    std::int64_t input = -1;
    std::int64_t output = -1;
    std::int64_t cache_read = -1;
    std::int64_t cache_write = -1;
    bool exact = true;
};

namespace detail {

/// A failure's class in the event stream (design: model errors).
constexpr const char* error_class_of(daybook_status status) noexcept {
    switch (status) {
        case DAYBOOK_UNAVAILABLE:
            return "not_ready";
        case DAYBOOK_RATE_LIMITED:
            return "overloaded";
        case DAYBOOK_AUTH:
            return "auth";
        case DAYBOOK_CONTEXT_FULL:
            return "overflow";
        case DAYBOOK_INVALID:
        case DAYBOOK_UNSUPPORTED:
            return "request_fault";
        case DAYBOOK_TRUNCATED:
            return "truncated";
        case DAYBOOK_LOST_CONNECTION:
            return "lost_connection";
        case DAYBOOK_CANCELLED:
        case DAYBOOK_DEADLINE:
            return "cancelled";
        case DAYBOOK_NO_ANSWER:
            return "no_answer";
        default:
            return "model_fault";
    }
}

/// The other way round, for a turn that ended with an error event; MODEL_FAULT for an unknown
/// class.
constexpr daybook_status status_of_class(std::string_view name) noexcept {
    constexpr daybook_status kOnePerClass[] = {DAYBOOK_UNAVAILABLE,
                                               DAYBOOK_RATE_LIMITED,
                                               DAYBOOK_AUTH,
                                               DAYBOOK_CONTEXT_FULL,
                                               DAYBOOK_INVALID,
                                               DAYBOOK_TRUNCATED,
                                               DAYBOOK_LOST_CONNECTION,
                                               DAYBOOK_CANCELLED,
                                               DAYBOOK_NO_ANSWER};
    for (const daybook_status status : kOnePerClass) {
        if (name == error_class_of(status)) {
            return status;
        }
    }
    return DAYBOOK_MODEL_FAULT;
}

constexpr daybook_usage to_usage(const Usage& usage) noexcept {
    return {sizeof(daybook_usage),
            usage.exact ? 1U : 0U,
            usage.input,
            usage.output,
            usage.cache_read,
            usage.cache_write};
}

}  // namespace detail

/// One turn of a model: the request and the stream of answers. A stream function throws PluginError
/// when the host wants the turn to stop: let it pass. Exactly one end() or error() closes the
/// stream; without one the turn counts as "no_answer". Thread: the one that runs turn().
class ModelTurn {
  public:
    ModelTurn(Call turn_call, std::string_view request_json, const daybook_stream& stream) noexcept
        : call(turn_call), request(request_json), stream_(&stream) {}

    Call call;
    std::string_view request;  ///< JSON, docs/turns.md, "The request"; valid until turn() returns

    void text(std::string_view delta) { went(stream_->text(stream_->ctx, detail::to_str(delta))); }
    void reasoning(std::string_view delta) {
        went(stream_->reasoning(stream_->ctx, detail::to_str(delta)));
    }
    /// A whole call; `args_json` must be a JSON object.
    void tool_call(std::string_view id, std::string_view name, std::string_view args_json) {
        went(stream_->tool_call(
            stream_->ctx, detail::to_str(id), detail::to_str(name), detail::to_str(args_json)));
    }
    void usage(const Usage& tokens) {
        const daybook_usage usage = detail::to_usage(tokens);
        went(stream_->usage(stream_->ctx, &usage));
    }
    /// The backend's own id of the conversation; it comes back in the next request as "resume".
    void session(std::string_view id) { went(stream_->session(stream_->ctx, detail::to_str(id))); }
    void compacted(std::int64_t tokens_before, std::int64_t tokens_after) {
        went(stream_->compacted(stream_->ctx, tokens_before, tokens_after));
    }
    /// "completed" or "tool_calls".
    void end(std::string_view reason) {
        closed_ = true;
        went(stream_->end(stream_->ctx, detail::to_str(reason)));
    }
    /// Class as in ext/draft/model.h. The turn then fails with that message.
    void error(std::string_view error_class, std::string_view message) {
        closed_ = true;
        failure_ = detail::status_of_class(error_class);
        failure_message_ = message;
        static_cast<void>(
            stream_->error(stream_->ctx, detail::to_str(error_class), detail::to_str(message)));
    }

    [[nodiscard]] bool is_closed() const noexcept { return closed_; }
    /// Throws what error() reported, so that the call ends as the stream did.
    void rethrow_failure() const {
        if (failure_ != DAYBOOK_OK) {
            throw PluginError(failure_, failure_message_, detail::status_is_retryable(failure_));
        }
    }

  private:
    static void went(daybook_status status) {
        if (status != DAYBOOK_OK) {
            throw PluginError(status, "the host stopped the turn");
        }
    }

    const daybook_stream* stream_;
    bool closed_ = false;
    daybook_status failure_ = DAYBOOK_OK;
    std::string failure_message_;
};

}  // namespace daybook
