// The thread that runs requests of the control socket, one after the other, and a small pool for
// what takes long.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include <daybook/result.hpp>

namespace daybook {

/// Runs tasks in order on one thread. A task may wait for the disk, never for a turn, a plugin or
/// the network.
class Worker {
  public:
    explicit Worker(std::size_t limit = 256);
    ~Worker();  ///< as stop()
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;
    Worker(Worker&&) = delete;
    Worker& operator=(Worker&&) = delete;

    /// False: the queue is full or the worker stopped; the task is not kept. Thread: [any].
    bool post(std::function<void()> task);
    /// Runs what is queued, then ends the thread. Not from a task.
    void stop();
    /// Tasks done so far: a watchdog looks whether it moves.
    [[nodiscard]] std::uint64_t done() const noexcept { return done_.load(); }

  private:
    void run();

    std::size_t limit_;
    std::mutex mutex_;  // guards tasks_ and stopping_
    std::condition_variable arrived_;
    std::deque<std::function<void()>> tasks_;
    bool stopping_ = false;
    std::atomic<std::uint64_t> done_{0};
    std::thread thread_;
};

/// Long jobs, each on a thread of its own: a doctor's probes, the steps of a replay. Few at a time.
class Jobs {
  public:
    static constexpr std::size_t kMaxJobs = 4;

    Jobs() = default;
    ~Jobs();  ///< as stop()
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;
    Jobs(Jobs&&) = delete;
    Jobs& operator=(Jobs&&) = delete;

    /// A job of a name runs once at a time; it looks at its token wherever it waits.
    /// `then` runs behind it when the name is free again: whoever is told there may ask anew at
    /// once. Errors: busy (that name runs already, or kMaxJobs run), unavailable (stopped). Thread:
    /// [any].
    Result<> start(const std::string& name,
                   std::function<void(const std::stop_token&)> job,
                   std::function<void()> then = {});
    /// Asks every job to end and waits for it.
    void stop();
    /// Whether one runs now. Thread: [any].
    [[nodiscard]] bool any();

  private:
    struct Job {
        std::string name;
        std::atomic<bool> ended{false};
        std::jthread thread;
    };
    std::mutex mutex_;  // guards jobs_ and stopped_
    std::list<Job> jobs_;
    bool stopped_ = false;
};

}  // namespace daybook
