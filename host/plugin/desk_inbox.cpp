#include "host/plugin/desk_inbox.hpp"

#include <chrono>
#include <utility>

namespace daybook {

void DeskInbox::post(std::function<void()> task) {
    {
        const std::lock_guard guard(mutex_);
        tasks_.push_back(std::move(task));
    }
    // Everybody who waits here is on the desk's thread, so there is one waiter at most.
    arrived_.notify_one();
}

bool DeskInbox::serve_until(const std::function<bool()>& done, SteadyTime deadline) {
    while (!done()) {
        std::function<void()> task;
        {
            std::unique_lock guard(mutex_);
            if (!arrived_.wait_until(guard, deadline, [&] { return !tasks_.empty(); })) {
                return false;
            }
            if (std::chrono::steady_clock::now() >= deadline) {
                return false;  // what has piled up waits for the next one who serves
            }
            task = std::move(tasks_.front());
            tasks_.pop_front();
        }
        task();
    }
    return true;
}

std::size_t DeskInbox::backlog() const {
    const std::lock_guard guard(mutex_);
    return tasks_.size();
}

}  // namespace daybook
