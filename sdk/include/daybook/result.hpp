// Result<T>: a value or an Error. What every function that can fail returns, in host and plugins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <daybook/status.h>

namespace daybook {

/// What went wrong, to branch on. The rows and numbers are those of DAYBOOK_STATUS_TABLE
/// (status.h).
enum class Errc : std::int32_t {
    ok = DAYBOOK_OK,
    invalid = DAYBOOK_INVALID,
    not_found = DAYBOOK_NOT_FOUND,
    refused = DAYBOOK_REFUSED,
    deadline = DAYBOOK_DEADLINE,
    cancelled = DAYBOOK_CANCELLED,
    unavailable = DAYBOOK_UNAVAILABLE,
    rate_limited = DAYBOOK_RATE_LIMITED,
    context_full = DAYBOOK_CONTEXT_FULL,
    auth = DAYBOOK_AUTH,
    unsupported = DAYBOOK_UNSUPPORTED,
    conflict = DAYBOOK_CONFLICT,
    busy = DAYBOOK_BUSY,
    no_checkpoint = DAYBOOK_NO_CHECKPOINT,
    io = DAYBOOK_IO,
    corrupt = DAYBOOK_CORRUPT,
    full = DAYBOOK_FULL,
    plugin_crashed = DAYBOOK_PLUGIN_CRASHED,
    plugin_protocol = DAYBOOK_PLUGIN_PROTOCOL,
    model_fault = DAYBOOK_MODEL_FAULT,
    truncated = DAYBOOK_TRUNCATED,
    lost_connection = DAYBOOK_LOST_CONNECTION,
    no_answer = DAYBOOK_NO_ANSWER,
    internal = DAYBOOK_INTERNAL,
};

/// The row's name in lower case ("not_found"); "internal" for a number that is not in the table.
[[nodiscard]] std::string_view name_of(Errc code) noexcept;
/// The command line's exit code for it (0–6).
[[nodiscard]] int exit_code_of(Errc code) noexcept;
/// Whether the same request may succeed later without anybody changing anything.
[[nodiscard]] bool is_retryable(Errc code) noexcept;
/// The code of a status that came from outside; `internal` for an unknown number.
[[nodiscard]] Errc errc_of(std::int32_t status) noexcept;

class Error {
  public:
    explicit Error(Errc code, std::string message) : code_(code), message_(std::move(message)) {}

    [[nodiscard]] Errc code() const noexcept { return code_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }

    /// The same error with the caller's operation in front of the message.
    [[nodiscard]] Error during(std::string_view operation) const {
        return Error(code_, std::string(operation) + ": " + message_);
    }

  private:
    Errc code_;
    std::string message_;
};

template <class T = std::monostate>
class [[nodiscard]] Result {
  public:
    Result() requires std::is_same_v<T, std::monostate>
    = default;
    // Implicit on purpose: `return value;` and `return Error(...);` both read as the outcome.
    Result(T value)  // NOLINT(google-explicit-constructor)
        : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error)  // NOLINT(google-explicit-constructor)
        : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    T& operator*() & { return std::get<0>(state_); }
    const T& operator*() const& { return std::get<0>(state_); }
    T&& operator*() && { return std::get<0>(std::move(state_)); }
    T* operator->() { return &std::get<0>(state_); }
    const T* operator->() const { return &std::get<0>(state_); }
    [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
    [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

  private:
    std::variant<T, Error> state_;
};

namespace detail {
struct StatusRow {
    std::int32_t number;
    const char* name;
    bool retryable;
    int exit_code;
    const char* meaning;
};
inline constexpr StatusRow kStatusRows[] = {
#define DAYBOOK_STATUS_ROW(name, number, retryable, exit_code, meaning) \
    {(number), #name, (retryable) != 0, (exit_code), (meaning)},
    DAYBOOK_STATUS_TABLE(DAYBOOK_STATUS_ROW)
#undef DAYBOOK_STATUS_ROW
};
}  // namespace detail

inline Errc errc_of(std::int32_t status) noexcept {
    for (const auto& row : detail::kStatusRows) {
        if (row.number == status) {
            return static_cast<Errc>(status);
        }
    }
    return Errc::internal;
}

inline bool is_retryable(Errc code) noexcept {
    for (const auto& row : detail::kStatusRows) {
        if (row.number == static_cast<std::int32_t>(code)) {
            return row.retryable;
        }
    }
    return false;
}

inline int exit_code_of(Errc code) noexcept {
    for (const auto& row : detail::kStatusRows) {
        if (row.number == static_cast<std::int32_t>(code)) {
            return row.exit_code;
        }
    }
    return 1;
}

inline std::string_view name_of(Errc code) noexcept {
    switch (code) {
        case Errc::ok:
            return "ok";
        case Errc::invalid:
            return "invalid";
        case Errc::not_found:
            return "not_found";
        case Errc::refused:
            return "refused";
        case Errc::deadline:
            return "deadline";
        case Errc::cancelled:
            return "cancelled";
        case Errc::unavailable:
            return "unavailable";
        case Errc::rate_limited:
            return "rate_limited";
        case Errc::context_full:
            return "context_full";
        case Errc::auth:
            return "auth";
        case Errc::unsupported:
            return "unsupported";
        case Errc::conflict:
            return "conflict";
        case Errc::busy:
            return "busy";
        case Errc::no_checkpoint:
            return "no_checkpoint";
        case Errc::io:
            return "io";
        case Errc::corrupt:
            return "corrupt";
        case Errc::full:
            return "full";
        case Errc::plugin_crashed:
            return "plugin_crashed";
        case Errc::plugin_protocol:
            return "plugin_protocol";
        case Errc::model_fault:
            return "model_fault";
        case Errc::truncated:
            return "truncated";
        case Errc::lost_connection:
            return "lost_connection";
        case Errc::no_answer:
            return "no_answer";
        case Errc::internal:
            break;
    }
    return "internal";
}

}  // namespace daybook
