// What other threads hand to a desk's thread, and how that thread waits.
//
// A desk's thread waits only in serve_until(): while a call is out it runs what arrives (verbs of
// its own calls, results, cancels, new triggers), so a call may nest inside a verb of another.
// Bounded: a runner whose messages pile up over kMaxBacklog is not read further (its socket fills
// and it blocks), see RunnerProcess.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>

#include "host/os/clock.hpp"

namespace daybook {

class DeskInbox {
  public:
    static constexpr std::size_t kMaxBacklog = 64;

    /// Thread: [any].
    void post(std::function<void()> task);
    /// Runs tasks until `done()` holds (checked after each task) or the deadline passes. Returns
    /// done(). Re-entrant: a task may call serve_until() itself. Thread: [desk]. The deadline holds
    /// also against a steady stream of tasks. `done` runs without any lock of the inbox.
    bool serve_until(const std::function<bool()>& done, SteadyTime deadline);
    /// Tasks waiting. Thread: [any].
    [[nodiscard]] std::size_t backlog() const;

  private:
    mutable std::mutex mutex_;  // guards tasks_
    std::condition_variable arrived_;
    std::deque<std::function<void()>> tasks_;
};

}  // namespace daybook
