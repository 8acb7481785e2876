// The only file that compiles Boost.Asio's event loop.
//
// A Slot is shared between a watch and the handler that is queued in the loop: its mutex guards
// `gone` and `running`, never held during a callback. Closing it makes sure that no callback starts
// afterwards and none is running.
#include "host/os/io_loop.hpp"

#include <atomic>
#include <condition_variable>
#include <fcntl.h>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

namespace daybook {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

class Slot {
  public:
    explicit Slot(const std::atomic<std::thread::id>& loop_thread) : loop_thread_(loop_thread) {}

    /// Runs the callback unless the watch is gone. Returns whether the watch is still there
    /// afterwards.
    template <class Callback>
    bool run(const Callback& callback) {
        {
            const std::lock_guard guard(mutex_);
            if (gone_) {
                return false;
            }
            running_ = true;
        }
        callback();
        const std::lock_guard guard(mutex_);
        running_ = false;
        ended_.notify_all();
        return !gone_;
    }

    /// Does `change` unless the watch is gone, so that it cannot overlap with close().
    template <class Change>
    void if_open(const Change& change) {
        const std::lock_guard guard(mutex_);
        if (!gone_) {
            change();
        }
    }

    template <class Change>
    void close(const Change& change) {
        std::unique_lock guard(mutex_);
        gone_ = true;
        change();
        if (std::this_thread::get_id() != loop_thread_.load()) {
            ended_.wait(guard, [&] { return !running_; });
        }
    }

  private:
    const std::atomic<std::thread::id>& loop_thread_;
    std::mutex mutex_;  // guards gone_, running_ and the watch's Asio object
    std::condition_variable ended_;
    bool gone_ = false;
    bool running_ = false;
};

class DescriptorWatch final : public Watch {
  public:
    struct State : Slot {
        State(asio::io_context& context,
              const std::atomic<std::thread::id>& thread,
              IoLoop::Ready ready,
              std::function<void()> call)
            : Slot(thread), descriptor(context), what(ready), callback(std::move(call)) {}
        asio::posix::stream_descriptor descriptor;
        IoLoop::Ready what;
        std::function<void()> callback;
    };

    DescriptorWatch(asio::io_context& context,
                    const std::atomic<std::thread::id>& thread,
                    int fd,
                    IoLoop::Ready what,
                    std::function<void()> callback)
        : state_(std::make_shared<State>(context, thread, what, std::move(callback))) {
        const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
        error_code error;
        if (copy >= 0) {
            state_->descriptor.assign(copy, error);
        }
        if (copy < 0 || error) {
            if (copy >= 0) {
                ::close(copy);
            }
            asio::post(context, [state = state_] { state->run(state->callback); });
            return;
        }
        state_->if_open([&] { wait(state_); });
    }

    ~DescriptorWatch() override {
        state_->close([&] {
            error_code ignored;
            state_->descriptor.close(ignored);
        });
    }
    DescriptorWatch(const DescriptorWatch&) = delete;
    DescriptorWatch& operator=(const DescriptorWatch&) = delete;
    DescriptorWatch(DescriptorWatch&&) = delete;
    DescriptorWatch& operator=(DescriptorWatch&&) = delete;

  private:
    static void wait(const std::shared_ptr<State>& state) {
        const auto what = state->what == IoLoop::Ready::read
                              ? asio::posix::stream_descriptor::wait_read
                              : asio::posix::stream_descriptor::wait_write;
        state->descriptor.async_wait(what, [state](const error_code& error) {
            if (error == asio::error::operation_aborted || !state->run(state->callback)) {
                return;
            }
            state->if_open([&] { wait(state); });
        });
    }

    std::shared_ptr<State> state_;
};

class TimerWatch final : public Watch {
  public:
    struct State : Slot {
        State(asio::io_context& context,
              const std::atomic<std::thread::id>& thread,
              std::function<void()> call)
            : Slot(thread), timer(context), callback(std::move(call)) {}
        asio::steady_timer timer;
        std::function<void()> callback;
    };

    TimerWatch(asio::io_context& context,
               const std::atomic<std::thread::id>& thread,
               std::chrono::nanoseconds delay,
               std::function<void()> callback)
        : state_(std::make_shared<State>(context, thread, std::move(callback))) {
        state_->timer.expires_after(delay);
        state_->timer.async_wait([state = state_](const error_code& error) {
            if (!error) {
                state->run(state->callback);
            }
        });
    }
    ~TimerWatch() override {
        state_->close([&] { state_->timer.cancel(); });
    }
    TimerWatch(const TimerWatch&) = delete;
    TimerWatch& operator=(const TimerWatch&) = delete;
    TimerWatch(TimerWatch&&) = delete;
    TimerWatch& operator=(TimerWatch&&) = delete;

  private:
    std::shared_ptr<State> state_;
};

class SignalWatch final : public Watch {
  public:
    struct State : Slot {
        State(asio::io_context& context,
              const std::atomic<std::thread::id>& thread,
              std::function<void(int)> call)
            : Slot(thread), signals(context), callback(std::move(call)) {}
        asio::signal_set signals;
        std::function<void(int)> callback;
    };

    SignalWatch(asio::io_context& context,
                const std::atomic<std::thread::id>& thread,
                const std::vector<int>& numbers,
                std::function<void(int)> callback)
        : state_(std::make_shared<State>(context, thread, std::move(callback))) {
        for (const int number : numbers) {
            error_code ignored;  // a number that cannot be caught is never delivered either
            state_->signals.add(number, ignored);
        }
        wait(state_);
    }
    ~SignalWatch() override {
        state_->close([&] {
            error_code ignored;
            state_->signals.cancel(ignored);
            state_->signals.clear(ignored);
        });
    }
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;
    SignalWatch(SignalWatch&&) = delete;
    SignalWatch& operator=(SignalWatch&&) = delete;

  private:
    static void wait(const std::shared_ptr<State>& state) {
        state->signals.async_wait([state](const error_code& error, int number) {
            if (error || !state->run([&] { state->callback(number); })) {
                return;
            }
            state->if_open([&] { wait(state); });
        });
    }

    std::shared_ptr<State> state_;
};

}  // namespace

struct IoLoop::Impl {
    asio::io_context context;
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    std::atomic<std::thread::id> thread;
};

IoLoop::IoLoop() : impl_(std::make_unique<Impl>()) {}
IoLoop::~IoLoop() = default;

void IoLoop::run() {
    impl_->thread.store(std::this_thread::get_id());
    impl_->context.run();
    impl_->thread.store(std::thread::id());
}

void IoLoop::stop() {
    impl_->context.stop();
}

void IoLoop::post(std::function<void()> task) {
    asio::post(impl_->context, std::move(task));
}

bool IoLoop::on_loop_thread() const noexcept {
    return impl_->thread.load() == std::this_thread::get_id();
}

std::unique_ptr<Watch> IoLoop::watch(int fd, Ready what, std::function<void()> callback) {
    return std::make_unique<DescriptorWatch>(
        impl_->context, impl_->thread, fd, what, std::move(callback));
}

std::unique_ptr<Watch> IoLoop::after(std::chrono::nanoseconds delay,
                                     std::function<void()> callback) {
    return std::make_unique<TimerWatch>(impl_->context, impl_->thread, delay, std::move(callback));
}

std::unique_ptr<Watch> IoLoop::on_signals(std::vector<int> signals,
                                          std::function<void(int)> callback) {
    return std::make_unique<SignalWatch>(
        impl_->context, impl_->thread, signals, std::move(callback));
}

}  // namespace daybook
