// The one thread of a desk: started with work, gone when there has been none for a while.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include <daybook/result.hpp>

#include "host/os/clock.hpp"
#include "host/plugin/desk_inbox.hpp"

namespace daybook {

/// What the thread runs. Both functions are called on it; `has_work` also on others, under the
/// thread's mutex, so it must be short and must not call back.
struct DeskWork {
    std::function<bool()> has_work;
    std::function<void()> run_one;
    /// When to look again although nobody wakes it; max() = never. Keeps the thread alive.
    std::function<SteadyTime()> next_look;
    /// A task of the inbox, or run_one, threw; the thread goes on. May be empty.
    std::function<void(const std::exception&)> on_exception = {};
};

class DeskThread {
  public:
    static constexpr std::chrono::milliseconds kIdle{2000};

    /// Makes a thread; throws std::system_error when the system gives none.
    using Start = std::function<std::thread(std::function<void()>)>;

    /// `start` is for tests.
    DeskThread(DeskInbox& inbox,
               DeskWork work,
               std::chrono::milliseconds idle = kIdle,
               Start start = {});
    ~DeskThread();  ///< join()
    DeskThread(const DeskThread&) = delete;
    DeskThread& operator=(const DeskThread&) = delete;
    DeskThread(DeskThread&&) = delete;
    DeskThread& operator=(DeskThread&&) = delete;

    /// Call after work was added. Starts the thread when there is none. Thread: [any]. Errors:
    /// unavailable (the system gives no thread; what was added waits for the next wake()).
    Result<> wake();
    /// The thread ends after what it is doing; wake() starts none any more. Thread: [any].
    void close();
    /// After close(): waits until the thread has ended. False at the deadline. Thread: [any] but
    /// [desk].
    bool wait_ended(SteadyTime deadline);
    void join();
    /// Waits until nothing is to be done. False at the deadline. Thread: [any] but [desk].
    bool wait_idle(SteadyTime deadline);
    [[nodiscard]] bool is_running() const;
    [[nodiscard]] bool is_current() const;

  private:
    void loop();
    void run_guarded(const std::function<void()>& piece);

    DeskInbox& inbox_;
    const DeskWork work_;
    const std::chrono::milliseconds idle_;
    const Start start_;
    mutable std::mutex mutex_;  // guards all below
    std::condition_variable changed_;
    std::thread thread_;
    std::thread::id id_;
    bool running_ = false;
    bool busy_ = false;
    bool closed_ = false;
};

}  // namespace daybook
