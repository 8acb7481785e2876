// What a plugin in C++ may do during a call: daybook::Call, and the exception it throws.
#pragma once

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <daybook/daybook.h>
#include <daybook/ext/journal.h>
#include <daybook/ext/tools.h>
#include <daybook/json.hpp>

namespace daybook {

/// Ends a call as a failure. Thrown by Call when the host refuses; throw it to say no yourself. The
/// message says which file or input, what was wanted, what was found, what to do.
class PluginError : public std::runtime_error {
  public:
    explicit PluginError(daybook_status status,
                         const std::string& message,
                         bool retryable = false,
                         std::string detail = {})
        : std::runtime_error(message),
          status_(status),
          retryable_(retryable),
          detail_(std::move(detail)) {}

    [[nodiscard]] daybook_status status() const noexcept { return status_; }
    [[nodiscard]] bool retryable() const noexcept { return retryable_; }
    /// A JSON object with more, or "".
    [[nodiscard]] const std::string& detail() const noexcept { return detail_; }

  private:
    daybook_status status_;
    bool retryable_;
    std::string detail_;
};

namespace detail {

inline daybook_str to_str(std::string_view text) noexcept {
    return {text.data(), text.size()};
}
inline std::string_view to_view(daybook_str text) noexcept {
    return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

/// A sink that collects into a std::string. Running out of memory must not unwind through C: the
/// text stays short and the verb's caller sees it as malformed.
inline void collect(void* to, daybook_str chunk) noexcept {
    try {
        static_cast<std::string*>(to)->append(to_view(chunk));
    } catch (...) {
        static_cast<std::string*>(to)->clear();
    }
}

inline constexpr bool status_is_retryable(daybook_status status) noexcept {
    switch (status) {
#define DAYBOOK_STATUS_CASE(name, number, retryable, exit_code, meaning) \
    case (number):                                                       \
        return (retryable) != 0;
        DAYBOOK_STATUS_TABLE(DAYBOOK_STATUS_CASE)
#undef DAYBOOK_STATUS_CASE
        default:
            return false;
    }
}

/// What the C++ layer keeps for one opened plugin; the C side knows it as daybook_instance.
struct Instance {
    const daybook_host* host = nullptr;
    const daybook_desk_files* files = nullptr;
    const daybook_clock* clock = nullptr;
    const daybook_tools* tools = nullptr;
    const daybook_journal* journal = nullptr;
    const void* type = nullptr;  ///< identity of the author's type, see type_of()
    void* object = nullptr;      ///< the author's object, or null
    void (*destroy)(void*) noexcept = nullptr;
};

template <class T>
inline constexpr char kTypeMark = 0;
/// An address that is different for each type.
template <class T>
constexpr const void* type_of() noexcept {
    return &kTypeMark<T>;
}

}  // namespace detail

/// One call in flight. Cheap to copy; useless after the call has returned (every verb then throws
/// NOT_FOUND). Threads: any thread of the plugin while the call runs, unless said. Every function
/// that asks the host throws PluginError with the host's status and sentence.
class Call {
  public:
    Call(const detail::Instance& instance, daybook_call* call) noexcept
        : instance_(&instance), call_(call) {}

    // --- files of the desk ("daybook.desk-files/1"); paths are relative to the desk's folder ---

    /// The whole file; it counts as shown to this turn, or to this call alone when the call may
    /// write the file. Throws NOT_FOUND, REFUSED, IO.
    [[nodiscard]] std::string read(std::string_view path) const {
        return ask([&](auto* to, auto sink) {
            return files().read(call_, detail::to_str(path), to, sink);
        });
    }
    /// Some lines, as JSON {"text","first_line","lines","total_lines","bytes","sha256","whole",
    /// "cut_in_line"} (ext/desk_files.h); only they count as shown to this turn. `first_line`
    /// counts from 1; a limit of 0 is none. Throws NOT_FOUND, REFUSED, IO, UNSUPPORTED (an older
    /// host).
    [[nodiscard]] std::string read_lines(std::string_view path,
                                         std::int64_t first_line,
                                         std::int64_t max_lines,
                                         std::int64_t max_bytes) const {
        if (!DAYBOOK_HAS(daybook_desk_files, &files(), read_lines)) {
            throw PluginError(DAYBOOK_UNSUPPORTED, "the host is older and reads no lines");
        }
        return ask([&](auto* to, auto sink) {
            return files().read_lines(
                call_, detail::to_str(path), first_line, max_lines, max_bytes, to, sink);
        });
    }
    /// JSON array of {"path","bytes","own"} below a folder, "" for all.
    [[nodiscard]] std::string list(std::string_view folder = {}) const {
        return ask([&](auto* to, auto sink) {
            return files().list(call_, detail::to_str(folder), to, sink);
        });
    }
    /// The three writes return the receipt as JSON text: {"path","checkpoint","sha256","bytes"}.
    /// `base` is the hash of the content they build on; "" means what was last shown to this turn.
    /// Throws REFUSED, CONFLICT, NO_CHECKPOINT.
    std::string append(std::string_view path,
                       std::string_view text,
                       std::string_view reason,
                       std::string_view base = {}) const {
        return ask([&](auto* to, auto sink) {
            return files().append(call_,
                                  detail::to_str(path),
                                  detail::to_str(base),
                                  detail::to_str(text),
                                  detail::to_str(reason),
                                  to,
                                  sink);
        });
    }
    std::string replace(std::string_view path,
                        std::string_view text,
                        std::string_view reason,
                        std::string_view base = {}) const {
        return ask([&](auto* to, auto sink) {
            return files().replace(call_,
                                   detail::to_str(path),
                                   detail::to_str(base),
                                   detail::to_str(text),
                                   detail::to_str(reason),
                                   to,
                                   sink);
        });
    }
    /// `old_text` must occur exactly once.
    std::string edit(std::string_view path,
                     std::string_view old_text,
                     std::string_view new_text,
                     std::string_view reason,
                     std::string_view base = {}) const {
        return ask([&](auto* to, auto sink) {
            return files().edit(call_,
                                detail::to_str(path),
                                detail::to_str(base),
                                detail::to_str(old_text),
                                detail::to_str(new_text),
                                detail::to_str(reason),
                                to,
                                sink);
        });
    }

    // --- time ("daybook.clock/1") ---

    /// The desk's trading day, "2026-10-19".
    [[nodiscard]] std::string day() const {
        return json::ObjectReader(describe_clock()).text("day");
    }
    [[nodiscard]] std::chrono::sys_time<std::chrono::nanoseconds> now() const {
        std::int64_t nanoseconds = 0;
        check_status(clock().now_ns(call_, &nanoseconds), "");
        return std::chrono::sys_time<std::chrono::nanoseconds>(
            std::chrono::nanoseconds(nanoseconds));
    }
    /// JSON as in ext/clock.h: now, day, zone, market, sessions, next_open.
    [[nodiscard]] std::string describe_clock() const {
        return ask([&](auto* to, auto sink) { return clock().describe(call_, to, sink); });
    }
    /// JSON as in ext/clock.h for any date.
    [[nodiscard]] std::string sessions(std::string_view day) const {
        return ask([&](auto* to, auto sink) {
            return clock().sessions(call_, detail::to_str(day), to, sink);
        });
    }

    // --- other tools, the record ---

    /// Calls another tool of the desk ("daybook.tools/1"); returns its JSON result. Throws BUSY,
    /// REFUSED, what the tool failed with.
    [[nodiscard]] std::string call_tool(std::string_view tool, std::string_view args_json) const {
        return ask([&](auto* to, auto sink) {
            return group(instance_->tools, DAYBOOK_EXT_TOOLS)
                .call(call_, detail::to_str(tool), detail::to_str(args_json), to, sink);
        });
    }
    /// Appends an order, refusal, fill or cancel to the journal ("daybook.journal/1"); returns
    /// {"id"}. A `key` seen before makes it a no-op: pass idempotency_key() for an effect of this
    /// call.
    std::string append_journal(std::string_view type,
                               std::string_view key,
                               std::string_view order,
                               std::string_view data_json) const {
        return ask([&](auto* to, auto sink) {
            return group(instance_->journal, DAYBOOK_EXT_JOURNAL)
                .append(call_,
                        detail::to_str(type),
                        detail::to_str(key),
                        detail::to_str(order),
                        detail::to_str(data_json),
                        to,
                        sink);
        });
    }

    // --- the call itself ---

    /// Throws CANCELLED or DEADLINE when the call should end. Call it in every loop.
    void check() const {
        if (is_cancelled()) {
            const bool late = std::chrono::steady_clock::now() >= deadline();
            throw PluginError(late ? DAYBOOK_DEADLINE : DAYBOOK_CANCELLED,
                              late ? "the call's deadline passed" : "the call was cancelled");
        }
    }
    [[nodiscard]] bool is_cancelled() const noexcept { return host().cancelled(call_) != 0; }
    /// When the call must be over (CLOCK_MONOTONIC, which is std::chrono::steady_clock); max() = no
    /// deadline.
    [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept {
        using Time = std::chrono::steady_clock::time_point;
        const std::int64_t at = host().deadline_ns(call_);
        return at == 0 ? Time::max() : Time(std::chrono::nanoseconds(at));
    }
    /// A short text for whoever waits.
    void progress(std::string_view text) const noexcept {
        host().progress(call_, detail::to_str(text));
    }
    /// A line for the operator. `level` is DAYBOOK_LOG_DEBUG to DAYBOOK_LOG_ERROR; `fields` is a
    /// JSON object or "".
    void log(std::int32_t level,
             std::string_view message,
             std::string_view fields = {}) const noexcept {
        host().log(host().ctx, level, detail::to_str(message), detail::to_str(fields));
    }
    /// The key under which this call's effect must be made; "" when it may have none.
    [[nodiscard]] std::string idempotency_key() const {
        return DAYBOOK_HAS(daybook_host, &host(), idempotency_key)
                   ? std::string(detail::to_view(host().idempotency_key(call_)))
                   : std::string();
    }

    /// The table of an optional group, for the headers of this layer that serve one group each.
    /// Throws UNSUPPORTED.
    template <class Group>
    [[nodiscard]] const Group& extension(const char* id) const {
        return group(static_cast<const Group*>(host().get_extension(host().ctx, id)), id);
    }
    /// Runs `verb(to, sink)` and returns what the sink got. Throws the host's failure.
    template <class Verb>
    static std::string ask(const Verb& verb) {
        std::string answer;
        check_status(verb(static_cast<void*>(&answer), &detail::collect), answer);
        return answer;
    }

    /// The C side, for what this class does not offer.
    [[nodiscard]] const daybook_host& host() const noexcept { return *instance_->host; }
    [[nodiscard]] daybook_call* handle() const noexcept { return call_; }

  private:
    template <class Group>
    static const Group& group(const Group* table, const char* id) {
        if (table == nullptr) {
            throw PluginError(DAYBOOK_UNSUPPORTED,
                              std::string("the host gives no ") + id +
                                  ": name it in DAYBOOK_PLUGIN's wants(...)");
        }
        return *table;
    }
    [[nodiscard]] const daybook_desk_files& files() const {
        return group(instance_->files, DAYBOOK_EXT_DESK_FILES);
    }
    [[nodiscard]] const daybook_clock& clock() const {
        return group(instance_->clock, DAYBOOK_EXT_CLOCK);
    }

    static void check_status(daybook_status status, const std::string& answer) {
        if (status == DAYBOOK_OK) {
            return;
        }
        std::string message = "the host refused the request";
        std::string detail;
        try {
            message = json::ObjectReader(answer).text("message", message);
            detail = answer;
        } catch (const std::invalid_argument&) {  // no JSON: the status alone must do
        }
        throw PluginError(status, message, detail::status_is_retryable(status), std::move(detail));
    }
    const detail::Instance* instance_;
    daybook_call* call_;
};

}  // namespace daybook
