#include "host/runner/channel_reader.hpp"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utility>

#include "host/runner/exit_codes.hpp"

namespace daybook::runner {
namespace {

/// How long the plugin may run before the standby reads: most calls are over by then.
constexpr long kAwayNanoseconds = 500'000;

[[noreturn]] void end(int code, const char* why) {
    if (code != 0) {
        std::fprintf(stderr, "daybook-runner: %s\n", why);
    }
    ::_exit(code);
}

}  // namespace

ChannelReader::ChannelReader(int socket, Take take)
    : socket_(socket),
      take_(std::move(take)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)),
      give_up_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!timer_ || !give_up_) {
        end(kExitProtocol, "no descriptor left to wait with");
    }
}

/// With reading_ held. Never returns at the end of the channel.
void ChannelReader::read_one() {
    auto message = channel::receive_blocking(socket_, assembler_);
    if (!message) {
        const bool is_ended = message.error().code() == Errc::unavailable;
        end(is_ended ? 0 : kExitProtocol, message.error().message().c_str());
    }
    if (auto taken = take_(*std::move(message)); !taken) {
        end(kExitProtocol, taken.error().message().c_str());
    }
}

void ChannelReader::read_until(const std::function<bool()>& done) {
    const std::scoped_lock lock(reading_);
    while (!done()) {
        read_one();
    }
}

bool ChannelReader::try_read_until(const std::function<bool()>& done) {
    {
        const std::scoped_lock lock(state_);
        if (!is_worker_away_ || worker_ != std::this_thread::get_id()) {
            return false;
        }
    }
    const std::unique_lock lock(reading_, std::try_to_lock);
    if (!lock) {
        return false;
    }
    while (!done()) {
        read_one();
    }
    return true;
}

void ChannelReader::wake_standby_after(long nanoseconds) const {
    const struct itimerspec when = {{0, 0}, {0, nanoseconds}};
    ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void ChannelReader::enter_plugin() {
    {
        const std::scoped_lock lock(state_);
        is_worker_away_ = true;
        worker_ = std::this_thread::get_id();
    }
    wake_standby_after(kAwayNanoseconds);
}

void ChannelReader::leave_plugin() {
    const std::scoped_lock lock(state_);
    is_worker_away_ = false;
    if (tasks_.empty()) {
        wake_standby_after(0);  // not at all
    }
    if (is_standby_reading_) {
        const std::uint64_t one = 1;
        static_cast<void>(::write(give_up_.get(), &one, sizeof one));
    }
}

void ChannelReader::run_on_standby(std::function<void()> task) {
    const std::scoped_lock lock(state_);
    tasks_.push_back(std::move(task));
    wake_standby_after(1);
}

void ChannelReader::run_tasks() {
    std::vector<std::function<void()>> tasks;
    {
        const std::scoped_lock lock(state_);
        tasks.swap(tasks_);
    }
    for (const auto& task : tasks) {
        task();
    }
}

void ChannelReader::stand_by() {
    while (true) {
        std::uint64_t expired = 0;
        if (::read(timer_.get(), &expired, sizeof expired) < 0 && errno != EINTR) {
            end(kExitProtocol, "its timer cannot be read");
        }
        run_tasks();
        bool is_to_read = false;
        {
            const std::scoped_lock lock(state_);
            is_to_read = is_worker_away_;
            is_standby_reading_ = is_to_read;
        }
        if (is_to_read) {
            read_for_worker();
        }
    }
}

/// Until the worker comes out of the plugin.
void ChannelReader::read_for_worker() {
    const std::scoped_lock reading(reading_);
    while (true) {
        std::array<struct pollfd, 2> waited{{{socket_, POLLIN, 0}, {give_up_.get(), POLLIN, 0}}};
        if (::poll(waited.data(), waited.size(), -1) < 0) {
            continue;  // interrupted
        }
        if (waited[1].revents != 0) {
            const std::scoped_lock lock(state_);
            std::uint64_t ignored = 0;
            static_cast<void>(::read(give_up_.get(), &ignored, sizeof ignored));
            is_standby_reading_ = false;
            return;
        }
        read_one();
        run_tasks();
    }
}

}  // namespace daybook::runner
