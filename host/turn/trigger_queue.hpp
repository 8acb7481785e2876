// The triggers of one desk that wait for their turn.
//
// Order: what a crash left behind, fills, alerts, jobs, messages; first come first served in each.
// A place is reserved before a trigger is journalled, so that nothing is accepted that would not
// fit. Thread: [any].
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <daybook/result.hpp>

#include "host/turn/trigger.hpp"

namespace daybook {

class TriggerQueue {
  public:
    /// A trigger and its place in the order.
    struct Taken {
        std::pair<int, std::uint64_t> place;
        Trigger trigger;
    };

    explicit TriggerQueue(std::size_t limit) : limit_(limit) {}

    /// Keeps a place for a trigger that is about to be journalled. Errors: full.
    Result<> reserve();
    void release();                       ///< gives a reserved place back
    void push_reserved(Trigger trigger);  ///< into a reserved place
    /// One that was accepted in an earlier life: the bound does not apply to it.
    void push_recovered(Trigger trigger);

    /// The next one; it counts as open until settle() or put_back(). One at a time.
    std::optional<Taken> take();
    void put_back(Taken taken);
    void settle();

    [[nodiscard]] std::size_t waiting() const;  ///< in the queue
    [[nodiscard]] bool is_settled() const;      ///< nothing waits, is taken or has a place reserved
    [[nodiscard]] std::vector<std::string> ids() const;

  private:
    void push(Trigger trigger);

    const std::size_t limit_;
    mutable std::mutex mutex_;  // guards all below
    std::map<std::pair<int, std::uint64_t>, Trigger> queue_;
    std::uint64_t next_number_ = 0;
    std::size_t reserved_ = 0;
    bool taken_ = false;
};

}  // namespace daybook
