// The calls that the host has sent and that are not over.
//
// The plugin knows a call as an opaque pointer. It is the call's id, never an address: a pointer
// that the plugin kept after the call's end finds nothing, whatever has happened since, because the
// host never uses an id twice.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <daybook/daybook.h>
#include <daybook/ext/draft/model.h>

#include "host/plugin/channel.hpp"

namespace daybook::runner {

struct LiveCall {
    LiveCall(channel::CallId call_id, std::int64_t deadline, std::string effect_key)
        : id(call_id), deadline_ns(deadline), idempotency_key(std::move(effect_key)) {}

    const channel::CallId id;
    const std::int64_t deadline_ns;  ///< CLOCK_MONOTONIC; 0 = none
    const std::string idempotency_key;
    std::atomic<bool> cancelled = false;
    /// The model whose turn runs in this call, so that a cancel reaches it.
    std::atomic<const daybook_model*> running_model = nullptr;
    std::atomic<bool> stream_closed = false;
    bool over = false;  ///< its last message is out; guarded by HostLink's send lock

    /// DAYBOOK_OK, or why the call must end. Never goes back.
    [[nodiscard]] daybook_status stop_reason() const;

    /// Keeps the first outcome; false for a second one.
    bool settle(channel::Message outcome);
    /// The outcome, when there is one.
    std::optional<channel::Message> take_outcome();

  private:
    std::mutex mutex_;  // guards outcome_ and settled_
    std::optional<channel::Message> outcome_;
    bool settled_ = false;
};

/// Thread: [any].
class CallTable {
  public:
    std::shared_ptr<LiveCall> add(channel::CallId id,
                                  std::int64_t deadline_ns,
                                  std::string idempotency_key);
    /// nullptr when the call is over or never was.
    [[nodiscard]] std::shared_ptr<LiveCall> find(channel::CallId id) const;
    void remove(channel::CallId id);

    static daybook_call* handle_of(channel::CallId id) noexcept;
    static channel::CallId id_of(const daybook_call* handle) noexcept;

  private:
    mutable std::mutex mutex_;  // guards calls_
    std::map<channel::CallId, std::shared_ptr<LiveCall>> calls_;
};

}  // namespace daybook::runner
