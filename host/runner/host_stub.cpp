#include "host/runner/host_stub.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <daybook/json.hpp>

#include "host/runner/stub_parts.hpp"

namespace daybook::runner {
namespace {

constexpr std::size_t kMaxLogBytes = 8192;
constexpr std::size_t kMaxProgressBytes = 1024;

// The C functions that take a daybook_call have no context of their own. Set once, before the
// plugin is opened. NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above
StubContext* g_context = nullptr;

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

const void* host_get_extension(void*, const char* id) noexcept {
    if (id == nullptr) {
        return nullptr;
    }
    const auto& wants = g_context->wants;
    if (std::find(wants.begin(), wants.end(), id) == wants.end()) {
        return nullptr;
    }
    return group_table(id);
}

}  // namespace

StubContext& stub_context() noexcept {
    return *g_context;
}

std::string_view view(daybook_str text, std::size_t most) {
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

daybook_status relay(daybook_call* handle,
                     std::string_view verb,
                     std::initializer_list<std::string_view> arguments,
                     void* to,
                     daybook_sink sink) {
    const auto call = live(handle);
    const HostLink::Reply reply = call ? stub_context().link.ask(*call, verb, arguments)
                                       : HostLink::refusal(DAYBOOK_NOT_FOUND, "the call is over");
    if (sink != nullptr) {
        sink(to, {reply.body.data(), reply.body.size()});
    }
    return reply.status;
}

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

}  // namespace daybook::runner
