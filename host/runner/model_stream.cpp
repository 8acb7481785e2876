// The stream of a model's turn; its context is the call's id.
#include <bit>
#include <initializer_list>
#include <string>
#include <string_view>

#include "host/runner/stub_parts.hpp"

namespace daybook::runner {
namespace {

/// Sends one event, unless the call must stop or the stream is closed.
daybook_status emit(void* ctx, channel::FieldWriter& fields, bool closes = false) {
    const auto call = stub_context().calls.find(std::bit_cast<channel::CallId>(ctx));
    if (!call) {
        ++stub_context().misbehaved;
        return DAYBOOK_NOT_FOUND;
    }
    // How a turn ended is told even when it was told to end.
    if (const daybook_status stop = call->stop_reason(); stop != DAYBOOK_OK && !closes) {
        return stop;
    }
    if (call->stream_closed.load() || (closes && call->stream_closed.exchange(true))) {
        ++stub_context().misbehaved;
        return DAYBOOK_INVALID;
    }
    auto sent =
        stub_context().link.send_of(*call, {channel::MessageType::event, call->id, fields.take()});
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
