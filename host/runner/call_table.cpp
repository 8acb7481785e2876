#include "host/runner/call_table.hpp"

#include <bit>
#include <chrono>

namespace daybook::runner {

static_assert(sizeof(channel::CallId) == sizeof(daybook_call*), "a call's id travels as a pointer");

daybook_status LiveCall::stop_reason() const {
    if (cancelled.load()) {
        return DAYBOOK_CANCELLED;
    }
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    const bool late = deadline_ns > 0 && std::chrono::nanoseconds(now).count() >= deadline_ns;
    return late ? DAYBOOK_DEADLINE : DAYBOOK_OK;
}

bool LiveCall::settle(channel::Message outcome) {
    const std::scoped_lock lock(mutex_);
    if (settled_) {
        return false;
    }
    settled_ = true;
    outcome_ = std::move(outcome);
    return true;
}

std::optional<channel::Message> LiveCall::take_outcome() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(outcome_, std::nullopt);
}

std::shared_ptr<LiveCall> CallTable::add(channel::CallId id,
                                         std::int64_t deadline_ns,
                                         std::string idempotency_key) {
    auto call = std::make_shared<LiveCall>(id, deadline_ns, std::move(idempotency_key));
    const std::scoped_lock lock(mutex_);
    calls_[id] = call;
    return call;
}

std::shared_ptr<LiveCall> CallTable::find(channel::CallId id) const {
    const std::scoped_lock lock(mutex_);
    const auto found = calls_.find(id);
    return found == calls_.end() ? nullptr : found->second;
}

void CallTable::remove(channel::CallId id) {
    const std::scoped_lock lock(mutex_);
    calls_.erase(id);
}

daybook_call* CallTable::handle_of(channel::CallId id) noexcept {
    return std::bit_cast<daybook_call*>(id);
}

channel::CallId CallTable::id_of(const daybook_call* handle) noexcept {
    return std::bit_cast<channel::CallId>(handle);
}

}  // namespace daybook::runner
