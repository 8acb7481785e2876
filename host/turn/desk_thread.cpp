#include "host/turn/desk_thread.hpp"

#include <algorithm>
#include <system_error>

namespace daybook {

DeskThread::DeskThread(DeskInbox& inbox, DeskWork work, std::chrono::milliseconds idle, Start start)
    : inbox_(inbox),
      work_(std::move(work)),
      idle_(idle),
      start_(start ? std::move(start)
                   : [](std::function<void()> run) { return std::thread(std::move(run)); }) {}

DeskThread::~DeskThread() {
    close();
    join();
}

Result<> DeskThread::wake() {
    {
        const std::lock_guard lock(mutex_);
        if (closed_) {
            return {};
        }
        if (!running_) {
            if (thread_.joinable()) {
                thread_.join();  // it has left loop() but for its last instructions
            }
            try {
                thread_ = start_([this] { loop(); });  // it waits for the mutex first
            } catch (const std::system_error& error) {
                return Error(Errc::unavailable,
                             "start the desk's thread: " + error.code().message());
            }
            running_ = true;
            id_ = thread_.get_id();
            return {};
        }
    }
    inbox_.post([] {});  // lets serve_until() look at has_work again
    return {};
}

void DeskThread::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    inbox_.post([] {});
    changed_.notify_all();
}

bool DeskThread::wait_ended(SteadyTime deadline) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, deadline, [&] { return !running_; });
}

void DeskThread::join() {
    std::thread ended;
    {
        const std::lock_guard lock(mutex_);
        ended.swap(thread_);
    }
    if (ended.joinable()) {
        ended.join();
    }
}

bool DeskThread::wait_idle(SteadyTime deadline) {
    std::unique_lock lock(mutex_);
    // has_work() is asked again and again: work that waits for its time (a model) is not idle and
    // changes nothing here.
    return changed_.wait_until(lock, deadline, [&] {
        return !busy_ && !work_.has_work() && work_.next_look() == SteadyTime::max();
    });
}

bool DeskThread::is_running() const {
    const std::lock_guard lock(mutex_);
    return running_;
}

bool DeskThread::is_current() const {
    const std::lock_guard lock(mutex_);
    return running_ && id_ == std::this_thread::get_id();
}

void DeskThread::run_guarded(const std::function<void()>& piece) {
    try {
        piece();
    } catch (const std::exception& error) {
        if (work_.on_exception) {
            work_.on_exception(error);
        }
    }
}

void DeskThread::loop() {
    {
        const std::lock_guard lock(mutex_);  // wake() is done with what it sets
    }
    const auto closed = [this] {
        const std::lock_guard lock(mutex_);
        return closed_;
    };
    SteadyTime idle_until = std::chrono::steady_clock::now() + idle_;
    while (true) {
        const SteadyTime look = work_.next_look();
        const SteadyTime until = look == SteadyTime::max() ? idle_until : look;
        bool called = true;  // after an exception too: look again before it ends
        run_guarded([&] {
            called = inbox_.serve_until([&] { return closed() || work_.has_work(); }, until);
        });
        {
            const std::lock_guard lock(mutex_);
            const bool idle = !called && work_.next_look() == SteadyTime::max() &&
                              std::chrono::steady_clock::now() >= idle_until && !work_.has_work();
            if (closed_ || idle) {
                running_ = false;
                changed_.notify_all();
                return;
            }
            busy_ = work_.has_work();
        }
        if (work_.has_work()) {
            run_guarded(work_.run_one);
            idle_until = std::chrono::steady_clock::now() + idle_;
        }
        {
            const std::lock_guard lock(mutex_);
            busy_ = false;
        }
        changed_.notify_all();
    }
}

}  // namespace daybook
