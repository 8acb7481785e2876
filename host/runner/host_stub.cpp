#include "host/runner/host_stub.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <initializer_list>
#include <string_view>

#include <daybook/ext/draft/journal.h>
#include <daybook/ext/draft/tools.h>
#include <daybook/json.hpp>

namespace daybook::runner {
namespace {

constexpr std::size_t kMaxLogBytes = 8192;
constexpr std::size_t kMaxProgressBytes = 1024;

// The C functions that take a daybook_call have no context of their own. Set once, before the
// plugin is opened. NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above
StubContext* g_context = nullptr;

std::string_view view(daybook_str text, std::size_t most = SIZE_MAX) {
    return text.ptr == nullptr ? std::string_view()
                               : std::string_view(text.ptr, std::min(text.len, most));
}

std::shared_ptr<LiveCall> live(daybook_call* handle) {
    auto call = g_context->calls.find(CallTable::id_of(handle));
    if (!call) {
        ++g_context->misbehaved;
    }
    return call;
}

// What these send may find the host gone; the reader notices that and ends the process.

void log_line(std::int32_t level, std::string_view message, std::string_view fields_json) {
    channel::FieldWriter fields;
    fields.add_number(level).add(message).add(fields_json);
    channel::Message line{channel::MessageType::log, g_context->running, fields.take()};
    const auto call = g_context->calls.find(line.call);
    if (!call || !g_context->link.send_of(*call, line)) {
        line.call = 0;
        static_cast<void>(g_context->link.send(line));
    }
}

/// Asks the host and hands its answer to the sink.
daybook_status relay(daybook_call* handle,
                     std::string_view verb,
                     std::initializer_list<std::string_view> arguments,
                     void* to,
                     daybook_sink sink) {
    const auto call = live(handle);
    const HostLink::Reply reply = call ? g_context->link.ask(*call, verb, arguments)
                                       : HostLink::refusal(DAYBOOK_NOT_FOUND, "the call is over");
    if (sink != nullptr) {
        sink(to, {reply.body.data(), reply.body.size()});
    }
    return reply.status;
}

// --- core ---

void host_log(void*, std::int32_t level, daybook_str message, daybook_str fields_json) noexcept {
    log_line(level, view(message, kMaxLogBytes), view(fields_json, kMaxLogBytes));
}

std::int64_t host_deadline_ns(daybook_call* handle) noexcept {
    const auto call = live(handle);
    return call ? call->deadline_ns : 0;
}

std::int32_t host_cancelled(daybook_call* handle) noexcept {
    const auto call = g_context->calls.find(CallTable::id_of(handle));
    return !call || call->stop_reason() != DAYBOOK_OK ? 1 : 0;
}

void host_progress(daybook_call* handle, daybook_str text) noexcept {
    if (const auto call = live(handle)) {
        channel::FieldWriter fields;
        fields.add(view(text, kMaxProgressBytes));
        static_cast<void>(g_context->link.send_of(
            *call, {channel::MessageType::progress, call->id, fields.take()}));
    }
}

daybook_status settle(daybook_call* handle,
                      channel::MessageType type,
                      channel::FieldWriter& fields) {
    const auto call = live(handle);
    if (!call) {
        return DAYBOOK_NOT_FOUND;
    }
    if (!call->settle({type, call->id, fields.take()})) {
        ++g_context->misbehaved;
        log_line(DAYBOOK_LOG_WARN, "the plugin ended a call twice; the first outcome stands", {});
        return DAYBOOK_INVALID;
    }
    return DAYBOOK_OK;
}

daybook_status host_result(daybook_call* handle, daybook_str json) noexcept {
    channel::FieldWriter fields;
    if (json.len > channel::kMaxMessageBytes - channel::kHeaderBytes) {
        fields.add_number(DAYBOOK_FULL)
            .add_number(0)
            .add("the result has " + std::to_string(json.len) + " bytes; a message holds at most " +
                 std::to_string(channel::kMaxMessageBytes) + ": return less, or in parts")
            .add({});
        const daybook_status settled = settle(handle, channel::MessageType::failure, fields);
        return settled == DAYBOOK_OK ? DAYBOOK_FULL : settled;
    }
    fields.add(view(json));
    return settle(handle, channel::MessageType::result, fields);
}

daybook_status host_fail(daybook_call* handle,
                         daybook_status status,
                         std::int32_t retryable,
                         daybook_str message,
                         daybook_str detail_json) noexcept {
    channel::FieldWriter fields;
    fields.add_number(status == DAYBOOK_OK ? DAYBOOK_INTERNAL : status)
        .add_number(retryable != 0 ? 1 : 0)
        .add(view(message, kMaxLogBytes))
        .add(view(detail_json, channel::kMaxFramePayload));
    return settle(handle, channel::MessageType::failure, fields);
}

daybook_str host_idempotency_key(daybook_call* handle) noexcept {
    // The text lives in the call, which the worker keeps until the plugin's function has returned.
    const auto call = live(handle);
    return call ? daybook_str{call->idempotency_key.data(), call->idempotency_key.size()}
                : daybook_str{nullptr, 0};
}

// --- desk-files/1 ---
// NOLINTBEGIN(readability-function-size): the parameters of the C interface

daybook_status files_read(daybook_call* call,
                          daybook_str path,
                          void* to,
                          daybook_sink on) noexcept {
    return relay(call, "desk-files/1.read", {view(path)}, to, on);
}
daybook_status files_list(daybook_call* call,
                          daybook_str folder,
                          void* to,
                          daybook_sink on) noexcept {
    return relay(call, "desk-files/1.list", {view(folder)}, to, on);
}
daybook_status files_append(daybook_call* call,
                            daybook_str path,
                            daybook_str base,
                            daybook_str text,
                            daybook_str reason,
                            void* to,
                            daybook_sink receipt) noexcept {
    return relay(call,
                 "desk-files/1.append",
                 {view(path), view(base), view(text), view(reason)},
                 to,
                 receipt);
}
daybook_status files_replace(daybook_call* call,
                             daybook_str path,
                             daybook_str base,
                             daybook_str text,
                             daybook_str reason,
                             void* to,
                             daybook_sink receipt) noexcept {
    return relay(call,
                 "desk-files/1.replace",
                 {view(path), view(base), view(text), view(reason)},
                 to,
                 receipt);
}
daybook_status files_edit(daybook_call* call,
                          daybook_str path,
                          daybook_str base,
                          daybook_str old_text,
                          daybook_str new_text,
                          daybook_str reason,
                          void* to,
                          daybook_sink receipt) noexcept {
    return relay(call,
                 "desk-files/1.edit",
                 {view(path), view(base), view(old_text), view(new_text), view(reason)},
                 to,
                 receipt);
}
daybook_status files_read_lines(daybook_call* call,
                                daybook_str path,
                                std::int64_t first_line,
                                std::int64_t max_lines,
                                std::int64_t max_bytes,
                                void* to,
                                daybook_sink on) noexcept {
    return relay(call,
                 "desk-files/1.read_lines",
                 {view(path),
                  std::to_string(first_line),
                  std::to_string(max_lines),
                  std::to_string(max_bytes)},
                 to,
                 on);
}
constexpr daybook_desk_files kDeskFiles = {sizeof(daybook_desk_files),
                                           0,
                                           &files_read,
                                           &files_list,
                                           &files_append,
                                           &files_replace,
                                           &files_edit,
                                           &files_read_lines};

// --- clock/1 ---

daybook_status clock_now_ns(daybook_call* call, std::int64_t* out) noexcept {
    std::string text;
    const auto collect = [](void* to, daybook_str chunk) {
        static_cast<std::string*>(to)->append(view(chunk));
    };
    const daybook_status status = relay(call, "clock/1.now_ns", {}, &text, collect);
    if (status != DAYBOOK_OK) {
        return status;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
    return error == std::errc() && end == text.data() + text.size() ? DAYBOOK_OK : DAYBOOK_INTERNAL;
}
daybook_status clock_describe(daybook_call* call, void* to, daybook_sink json) noexcept {
    return relay(call, "clock/1.describe", {}, to, json);
}
daybook_status clock_sessions(daybook_call* call,
                              daybook_str day,
                              void* to,
                              daybook_sink json) noexcept {
    return relay(call, "clock/1.sessions", {view(day)}, to, json);
}
constexpr daybook_clock kClock = {
    sizeof(daybook_clock), 0, &clock_now_ns, &clock_describe, &clock_sessions};

// --- tools/1, journal/1 ---

daybook_status tools_call(daybook_call* call,
                          daybook_str tool,
                          daybook_str args,
                          void* to,
                          daybook_sink result) noexcept {
    return relay(call, "tools/1.call", {view(tool), view(args)}, to, result);
}
constexpr daybook_tools kTools = {sizeof(daybook_tools), 0, &tools_call};

daybook_status journal_append(daybook_call* call,
                              daybook_str type,
                              daybook_str key,
                              daybook_str order,
                              daybook_str data,
                              void* to,
                              daybook_sink receipt) noexcept {
    return relay(
        call, "journal/1.append", {view(type), view(key), view(order), view(data)}, to, receipt);
}
constexpr daybook_journal kJournal = {sizeof(daybook_journal), 0, &journal_append};

const void* host_get_extension(void*, const char* id) noexcept {
    if (id == nullptr) {
        return nullptr;
    }
    const auto& wants = g_context->wants;
    if (std::find(wants.begin(), wants.end(), id) == wants.end()) {
        return nullptr;
    }
    const std::string_view name = id;
    if (name == DAYBOOK_EXT_DESK_FILES) {
        return &kDeskFiles;
    }
    if (name == DAYBOOK_EXT_CLOCK) {
        return &kClock;
    }
    if (name == DAYBOOK_EXT_TOOLS) {
        return &kTools;
    }
    return name == DAYBOOK_EXT_JOURNAL ? &kJournal : nullptr;
}

// NOLINTEND(readability-function-size)

// --- the stream of a model's turn; its context is the call's id ---

/// Sends one event, unless the call must stop or the stream is closed.
daybook_status emit(void* ctx, channel::FieldWriter& fields, bool closes = false) {
    const auto call = g_context->calls.find(std::bit_cast<channel::CallId>(ctx));
    if (!call) {
        ++g_context->misbehaved;
        return DAYBOOK_NOT_FOUND;
    }
    // How a turn ended is told even when it was told to end.
    if (const daybook_status stop = call->stop_reason(); stop != DAYBOOK_OK && !closes) {
        return stop;
    }
    if (call->stream_closed.load() || (closes && call->stream_closed.exchange(true))) {
        ++g_context->misbehaved;
        return DAYBOOK_INVALID;
    }
    auto sent =
        g_context->link.send_of(*call, {channel::MessageType::event, call->id, fields.take()});
    return sent ? DAYBOOK_OK : static_cast<daybook_status>(sent.error().code());
}

daybook_status emit_text(void* ctx,
                         std::string_view name,
                         std::initializer_list<daybook_str> values,
                         bool closes = false) {
    channel::FieldWriter fields;
    fields.add(name);
    for (const daybook_str value : values) {
        fields.add(view(value));
    }
    return emit(ctx, fields, closes);
}

daybook_status stream_text(void* ctx, daybook_str delta) noexcept {
    return emit_text(ctx, "text", {delta});
}
daybook_status stream_reasoning(void* ctx, daybook_str delta) noexcept {
    return emit_text(ctx, "reasoning", {delta});
}
daybook_status stream_tool_call(void* ctx,
                                daybook_str id,
                                daybook_str name,
                                daybook_str args) noexcept {
    return emit_text(ctx, "tool_call", {id, name, args});
}
daybook_status stream_usage(void* ctx, const daybook_usage* usage) noexcept {
    if (usage == nullptr || usage->struct_size < sizeof(daybook_usage)) {
        return DAYBOOK_INVALID;
    }
    channel::FieldWriter fields;
    fields.add("usage")
        .add(std::to_string(usage->exact != 0 ? 1 : 0))
        .add(std::to_string(usage->input))
        .add(std::to_string(usage->output))
        .add(std::to_string(usage->cache_read))
        .add(std::to_string(usage->cache_write));
    return emit(ctx, fields);
}
daybook_status stream_session(void* ctx, daybook_str id) noexcept {
    return emit_text(ctx, "session", {id});
}
daybook_status stream_compacted(void* ctx, std::int64_t before, std::int64_t after) noexcept {
    channel::FieldWriter fields;
    fields.add("compacted").add(std::to_string(before)).add(std::to_string(after));
    return emit(ctx, fields);
}
daybook_status stream_end(void* ctx, daybook_str reason) noexcept {
    return emit_text(ctx, "end", {reason}, true);
}
daybook_status stream_error(void* ctx, daybook_str error_class, daybook_str message) noexcept {
    return emit_text(ctx, "error", {error_class, message}, true);
}

}  // namespace

const daybook_host* install_host_tables(StubContext& context) {
    g_context = &context;
    context.table = {sizeof(daybook_host),
                     DAYBOOK_ABI_MAJOR,
                     DAYBOOK_ABI_MINOR,
                     0,
                     context.host_version.c_str(),
                     &context,
                     &host_log,
                     &host_get_extension,
                     &host_deadline_ns,
                     &host_cancelled,
                     &host_progress,
                     &host_result,
                     &host_fail,
                     &host_idempotency_key};
    return &context.table;
}

daybook_stream stream_of(channel::CallId call) {
    return {sizeof(daybook_stream),
            0,
            std::bit_cast<void*>(call),
            &stream_text,
            &stream_reasoning,
            &stream_tool_call,
            &stream_usage,
            &stream_session,
            &stream_compacted,
            &stream_end,
            &stream_error};
}

}  // namespace daybook::runner
