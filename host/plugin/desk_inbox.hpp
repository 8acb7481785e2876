// What other threads hand to a desk's thread, and how that thread waits.
//
// A desk's thread waits only in serve_until(): while a call is out it runs what arrives (verbs of
// its own calls, results, cancels, new triggers), so a call may nest inside a verb of another.
// While a call is out it also reads that runner's channel itself, as a source: a message that had
// to pass through the I/O thread would wake two threads instead of one. Bounded: a runner whose
// messages pile up over kMaxBacklog is not read further (its socket fills and it blocks), see
// RunnerProcess.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "host/os/clock.hpp"
#include "host/os/unique_fd.hpp"

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

    /// From now on serve_until() also waits for this descriptor and calls `read` when it is
    /// readable and no task waits; `read` says whether to go on watching it. The descriptor stays
    /// the caller's, and open until remove_source(). Returns whether it is watched: not when the
    /// process has no descriptor left to be woken by. Thread: [desk].
    bool add_source(int fd, std::function<bool()> read);
    /// Also from inside `read`. No such source is no error. Thread: [desk].
    void remove_source(int fd);

  private:
    struct Source {
        int fd = -1;
        std::function<bool()> read;
    };

    /// Waits for a task; true when there is one, false at the deadline.
    bool wait_for_task(SteadyTime deadline);
    bool wait_with_sources(SteadyTime deadline);
    void read_source(int fd);

    mutable std::mutex mutex_;  // guards tasks_ and is_polling_
    std::condition_variable arrived_;
    std::deque<std::function<void()>> tasks_;
    bool is_polling_ = false;  // woken through wake_, not arrived_

    // [desk]
    std::vector<Source> sources_;
    UniqueFd wake_;  // an eventfd, made with the first source
};

}  // namespace daybook
