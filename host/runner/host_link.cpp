#include "host/runner/host_link.hpp"

#include <utility>

#include <daybook/json.hpp>

#include "host/runner/channel_reader.hpp"

namespace daybook::runner {

Result<> HostLink::send(const channel::Message& message) {
    const std::scoped_lock lock(send_mutex_);
    return channel::send_blocking(socket_, message);
}

Result<> HostLink::send_of(const LiveCall& call, const channel::Message& message) {
    const std::scoped_lock lock(send_mutex_);
    if (call.over) {
        return Error(Errc::not_found, "the call is over");
    }
    return channel::send_blocking(socket_, message);
}

Result<> HostLink::send_last(LiveCall& call, const channel::Message& message) {
    const std::scoped_lock lock(send_mutex_);
    call.over = true;
    return channel::send_blocking(socket_, message);
}

HostLink::Reply HostLink::refusal(daybook_status status, std::string_view message) {
    return {
        status,
        json::ObjectWriter().add("error", name_of(errc_of(status))).add("message", message).str()};
}

HostLink::Reply HostLink::ask(const LiveCall& call,
                              std::string_view verb,
                              std::initializer_list<std::string_view> arguments) {
    std::int64_t request = 0;
    {
        const std::scoped_lock lock(mutex_);
        request = next_request_++;
        waiting_[request].call = call.id;
    }
    channel::FieldWriter fields;
    fields.add_number(request).add(verb);
    for (const std::string_view argument : arguments) {
        fields.add(argument);
    }
    if (auto sent = send_of(call, {channel::MessageType::verb, call.id, fields.take()}); !sent) {
        const std::scoped_lock lock(mutex_);
        waiting_.erase(request);
        return refusal(static_cast<daybook_status>(sent.error().code()), sent.error().message());
    }
    if (reader_ != nullptr) {
        reader_->try_read_until([&] { return is_answered(request); });
    }
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return waiting_[request].reply.has_value(); });
    Reply reply = *std::move(waiting_[request].reply);
    waiting_.erase(request);
    return reply;
}

bool HostLink::is_answered(std::int64_t request) {
    const std::scoped_lock lock(mutex_);
    return waiting_[request].reply.has_value();
}

void HostLink::answer(std::int64_t request, Reply reply) {
    const std::scoped_lock lock(mutex_);
    const auto found = waiting_.find(request);
    if (found != waiting_.end() && !found->second.reply) {
        found->second.reply = std::move(reply);
        answered_.notify_all();
    }
}

void HostLink::abandon(channel::CallId call) {
    const std::scoped_lock lock(mutex_);
    for (auto& [request, waiting] : waiting_) {
        if (waiting.call == call && !waiting.reply) {
            waiting.reply = refusal(DAYBOOK_NOT_FOUND, "the call is over");
        }
    }
    answered_.notify_all();
}

}  // namespace daybook::runner
