#include "host/plugin/desk_inbox.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace daybook {

void DeskInbox::post(std::function<void()> task) {
    bool is_polling = false;
    {
        const std::lock_guard guard(mutex_);
        tasks_.push_back(std::move(task));
        is_polling = std::exchange(is_polling_, false);
        if (is_polling) {
            // Under the lock: afterwards the waiter may be gone, and its descriptor with it.
            const std::uint64_t one = 1;
            static_cast<void>(::write(wake_.get(), &one, sizeof one));
        }
    }
    if (!is_polling) {
        // Everybody who waits here is on the desk's thread, so there is one waiter at most.
        arrived_.notify_one();
    }
}

bool DeskInbox::serve_until(const std::function<bool()>& done, SteadyTime deadline) {
    while (!done()) {
        if (!(sources_.empty() ? wait_for_task(deadline) : wait_with_sources(deadline))) {
            return false;
        }
        std::function<void()> task;
        {
            const std::lock_guard guard(mutex_);
            if (tasks_.empty()) {
                continue;  // a source was read
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

bool DeskInbox::wait_for_task(SteadyTime deadline) {
    std::unique_lock guard(mutex_);
    return arrived_.wait_until(guard, deadline, [&] { return !tasks_.empty(); });
}

/// True: there is a task, or a source was read; false at the deadline.
bool DeskInbox::wait_with_sources(SteadyTime deadline) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) {
        return false;
    }
    {
        const std::lock_guard guard(mutex_);
        if (!tasks_.empty()) {
            return true;  // they came first: a source may be read only after what it sent before
        }
        is_polling_ = true;
    }
    std::vector<struct pollfd> waited{{wake_.get(), POLLIN, 0}};
    for (const Source& source : sources_) {
        waited.push_back({source.fd, POLLIN, 0});
    }
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
    const struct timespec timeout = {
        whole.count(), std::chrono::duration_cast<std::chrono::nanoseconds>(left - whole).count()};
    const int ready = ::ppoll(waited.data(), waited.size(), &timeout, nullptr);
    {
        const std::lock_guard guard(mutex_);
        is_polling_ = false;
        if (ready > 0 && waited.front().revents != 0) {
            std::uint64_t ignored = 0;
            static_cast<void>(::read(wake_.get(), &ignored, sizeof ignored));
        }
        if (!tasks_.empty() || ready <= 0) {
            return true;  // the deadline, if it was that, is seen in the next round
        }
    }
    if (std::chrono::steady_clock::now() >= deadline) {
        return false;
    }
    // One at a time, the innermost call's first: what it leads to may remove any of them.
    for (std::size_t i = waited.size() - 1; i > 0; --i) {
        if (waited[i].revents != 0) {
            read_source(waited[i].fd);
            break;
        }
    }
    return true;
}

void DeskInbox::read_source(int fd) {
    const auto found = std::find_if(
        sources_.begin(), sources_.end(), [fd](const Source& source) { return source.fd == fd; });
    if (found == sources_.end()) {
        return;
    }
    const auto read = found->read;  // a copy: it may remove its source while it runs
    if (!read()) {
        remove_source(fd);
    }
}

bool DeskInbox::add_source(int fd, std::function<bool()> read) {
    if (!wake_) {
        wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    }
    if (!wake_ || fd < 0) {
        return false;
    }
    sources_.push_back({fd, std::move(read)});
    return true;
}

void DeskInbox::remove_source(int fd) {
    std::erase_if(sources_, [fd](const Source& source) { return source.fd == fd; });
}

std::size_t DeskInbox::backlog() const {
    const std::lock_guard guard(mutex_);
    return tasks_.size();
}

}  // namespace daybook
