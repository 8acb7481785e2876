// Idle time of a desk: a summary that the host extracted is written again by a model.
#include <algorithm>
#include <mutex>

#include "host/turn/day_summary.hpp"
#include "host/turn/desk_impl.hpp"

namespace daybook {
namespace {

constexpr int kLongestWait = 8;  // turns

/// From here on a trigger that is accepted breaks the work off. It stands in the queue before it
/// looks for the mark, so that none is overlooked.
class RedoMark {
  public:
    RedoMark(std::mutex& mutex, bool& mark) : mutex_(mutex), mark_(mark) { set(true); }
    ~RedoMark() { set(false); }
    RedoMark(const RedoMark&) = delete;
    RedoMark& operator=(const RedoMark&) = delete;
    RedoMark(RedoMark&&) = delete;
    RedoMark& operator=(RedoMark&&) = delete;

  private:
    void set(bool on) {
        const std::lock_guard lock(mutex_);
        mark_ = on;
    }

    std::mutex& mutex_;  // guards mark_
    bool& mark_;
};

}  // namespace

void Desk::Impl::redo_summary() {
    if (redo_is_over || interrupt.is_set() || stopping || paused) {
        return;
    }
    if (redo_wait > 0) {
        --redo_wait;
        return;
    }
    const RedoMark mark(work_mutex, is_redoing);
    if (queue.waiting() > 0) {
        return;  // it goes first
    }
    const auto outcome = SummaryRedo(parts, router).run();
    redo_is_over = outcome == SummaryRedo::Outcome::none;
    if (outcome == SummaryRedo::Outcome::failed) {
        redo_wait = std::min(1 << std::min(redo_failures++, 3), kLongestWait);
    } else if (outcome != SummaryRedo::Outcome::interrupted) {
        redo_failures = 0;
    }
}

}  // namespace daybook
