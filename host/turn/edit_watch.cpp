#include "host/turn/edit_watch.hpp"

#include <algorithm>
#include <utility>

namespace daybook {

EditWatch::EditWatch(IoLoop& loop, std::function<void()> look, Times times)
    : loop_(loop), look_(std::move(look)), times_(times) {}

EditWatch::~EditWatch() {
    std::unique_ptr<Watch> timer;
    {
        const std::lock_guard guard(mutex_);
        closed_ = true;
        timer = std::move(timer_);
    }
}

void EditWatch::add_path(const std::string& path, bool mode) {
    seen_.paths[path] |= mode;
    if (seen_.paths.size() > kMostPaths) {
        seen_.everything = true;
        seen_.paths.clear();
    }
}

void EditWatch::note(const FolderEvent& event) {
    {
        const std::lock_guard guard(mutex_);
        const SteadyTime now = std::chrono::steady_clock::now();
        first_ = first_.value_or(now);
        last_ = now;
        seen_.everything = seen_.everything || event.everything;
        if (!event.everything) {
            add_path(event.path, event.mode);
            if (event.is_open && open_.size() < kMostPaths) {
                open_[event.path] = true;
            } else if (!event.mode) {
                open_.erase(event.path);
            }
        }
    }
    arm(times_.quiet);
}

void EditWatch::arm(std::chrono::milliseconds delay) {
    std::unique_ptr<Watch> old;
    const std::lock_guard guard(mutex_);
    if (armed_ || closed_) {
        return;
    }
    armed_ = true;
    old = std::exchange(timer_, loop_.after(delay, [this] { on_timer(); }));
}

void EditWatch::on_timer() {
    std::optional<std::chrono::milliseconds> wait;
    {
        const std::lock_guard guard(mutex_);
        armed_ = false;
        if (!first_ || closed_) {
            return;  // somebody has looked meanwhile
        }
        const SteadyTime now = std::chrono::steady_clock::now();
        const SteadyTime due = open_.empty()
                                   ? std::min(*first_ + times_.busy, *last_ + times_.quiet)
                                   : *first_ + times_.open;
        if (now < due) {
            // An open file's close is told: until then it is looked at now and then.
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - now);
            wait = std::min(left, times_.quiet);
        }
    }
    if (wait) {
        arm(*wait);
    } else {
        look_();
    }
}

EditWatch::Seen EditWatch::take() {
    const std::lock_guard guard(mutex_);
    Seen seen = std::exchange(seen_, Seen());
    const SteadyTime now = std::chrono::steady_clock::now();
    seen.first = first_.value_or(now);
    seen.is_last_wait = now >= seen.first + times_.open;
    open_.clear();
    first_.reset();
    last_.reset();
    return seen;
}

void EditWatch::put_back(const Seen& seen) {
    {
        const std::lock_guard guard(mutex_);
        const SteadyTime now = std::chrono::steady_clock::now();
        first_ = std::min(first_.value_or(now), seen.first);
        last_ = now;
        seen_.everything = seen_.everything || seen.everything;
        for (const auto& [path, mode] : seen.paths) {
            add_path(path, mode);
        }
    }
    arm(times_.quiet);
}

}  // namespace daybook
