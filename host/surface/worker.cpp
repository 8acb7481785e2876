#include "host/surface/worker.hpp"

#include <utility>

namespace daybook {

Worker::Worker(std::size_t limit) : limit_(limit), thread_([this] { run(); }) {}

Worker::~Worker() {
    stop();
}

bool Worker::post(std::function<void()> task) {
    {
        const std::lock_guard guard(mutex_);
        if (stopping_ || tasks_.size() >= limit_) {
            return false;
        }
        tasks_.push_back(std::move(task));
    }
    arrived_.notify_one();
    return true;
}

void Worker::stop() {
    {
        const std::lock_guard guard(mutex_);
        stopping_ = true;
    }
    arrived_.notify_one();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Worker::run() {
    while (true) {
        std::function<void()> task;
        {
            std::unique_lock guard(mutex_);
            arrived_.wait(guard, [&] { return stopping_ || !tasks_.empty(); });
            if (tasks_.empty()) {
                return;
            }
            task = std::move(tasks_.front());
            tasks_.pop_front();
        }
        task();
        done_.fetch_add(1);
    }
}

Jobs::~Jobs() {
    stop();
}

Result<> Jobs::start(const std::string& name,
                     std::function<void(const std::stop_token&)> job,
                     std::function<void()> then) {
    const std::lock_guard guard(mutex_);
    if (stopped_) {
        return Error(Errc::unavailable, name + ": the host is stopping");
    }
    jobs_.remove_if([](const Job& each) { return each.ended.load(); });
    for (const Job& each : jobs_) {
        if (each.name == name) {
            return Error(Errc::busy, name + ": the one before is still running");
        }
    }
    if (jobs_.size() >= kMaxJobs) {
        return Error(Errc::busy, name + ": too many long requests run at once; try again");
    }
    Job& made = jobs_.emplace_back();
    made.name = name;
    made.thread = std::jthread(
        [&made, work = std::move(job), tell = std::move(then)](const std::stop_token& token) {
            work(token);
            made.ended = true;
            if (tell) {
                tell();
            }
        });
    return {};
}

bool Jobs::any() {
    const std::lock_guard guard(mutex_);
    jobs_.remove_if([](const Job& each) { return each.ended.load(); });
    return !jobs_.empty();
}

void Jobs::stop() {
    std::list<Job> ending;
    {
        const std::lock_guard guard(mutex_);
        stopped_ = true;
        ending.swap(jobs_);
    }
    for (Job& job : ending) {
        job.thread.request_stop();
    }
    ending.clear();  // joins
}

}  // namespace daybook
