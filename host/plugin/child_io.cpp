// What a child's pipes and its launcher bring, on the I/O thread; and its end.
#include <array>
#include <cerrno>
#include <csignal>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "host/os/desk_path.hpp"
#include "host/plugin/child_impl.hpp"

namespace daybook {
namespace {

constexpr int kLogLevel = 1;
constexpr int kMostReads = 16;  ///< of a pipe in one callback

/// The pipe's bytes into `take`; false at its end.
template <class Take>
bool drain(int fd, int most, const Take& take) {
    std::array<char, 65536> bytes;  // NOLINT(cppcoreguidelines-pro-type-member-init): read fills it
    for (int i = 0; i < most; ++i) {
        const ssize_t got = ::read(fd, bytes.data(), bytes.size());
        if (got > 0) {
            if (!take(std::string_view(bytes.data(), static_cast<std::size_t>(got)))) {
                return true;
            }
        } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
            return false;
        } else if (errno == EAGAIN) {
            return true;
        }
    }
    return true;
}

}  // namespace

void ChildOutput::push(ChildProgram::Output::Kind kind) {
    bytes_ += partial_.size();
    lines_.push_back({kind, std::exchange(partial_, {})});
}

void ChildOutput::add(std::string_view bytes) {
    using Kind = ChildProgram::Output::Kind;
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view part = bytes.substr(0, end);
        if (!is_skipping_) {
            const std::size_t room = ChildProgram::kMaxLine - partial_.size();
            partial_.append(part.substr(0, room));
            if (part.size() > room) {
                push(Kind::cut);
                is_skipping_ = true;
            }
        }
        if (end == std::string_view::npos) {
            return;
        }
        if (!is_skipping_) {
            push(Kind::line);
        }
        is_skipping_ = false;
        bytes.remove_prefix(end + 1);
    }
}

void ChildOutput::finish() {
    if (!is_over_ && !partial_.empty()) {
        push(ChildProgram::Output::Kind::rest);
    }
    is_over_ = true;
}

bool ChildOutput::is_full() const noexcept {
    return bytes_ >= ChildProgram::kMaxOutput || lines_.size() >= ChildProgram::kMaxLines;
}

std::optional<ChildProgram::Output> ChildOutput::take() {
    if (lines_.empty()) {
        return is_over_ ? std::optional(ChildProgram::Output{ChildProgram::Output::Kind::ended, {}})
                        : std::nullopt;
    }
    ChildProgram::Output first = std::move(lines_.front());
    lines_.pop_front();
    bytes_ -= first.text.size();
    return first;
}

std::function<void()> ChildProgram::Impl::guarded(void (Impl::*task)()) {
    return [weak = weak_from_this(), task] {
        const auto self = weak.lock();
        if (!self) {
            return;
        }
        std::unique_lock lock(self->mutex);
        if (!self->closed) {
            (self.get()->*task)();
            self->tell(lock);
        }
    };
}

/// Log lines and lifecycle, then the listeners; without the mutex.
void ChildProgram::Impl::tell(std::unique_lock<std::mutex>& lock) {
    const News told = std::exchange(news, {});
    const ChildStatus now = status;
    std::vector<std::function<void()>> heard;
    heard.reserve(listeners.size());
    for (const auto& [id, changed] : listeners) {
        heard.push_back(changed);
    }
    lock.unlock();
    for (const auto& [level, line] : told.lines) {
        events.on_log(level, line);
    }
    if (!told.lifecycle.empty()) {
        events.on_lifecycle(told.lifecycle, now);
    }
    for (const auto& changed : heard) {
        changed();
    }
}

void ChildProgram::Impl::watch_all(std::chrono::milliseconds start_timeout) {
    using Ready = IoLoop::Ready;
    channel_watch = loop.watch(channel.get(), Ready::read, guarded(&Impl::on_channel));
    exit_watch = loop.watch(child->pidfd(), Ready::read, guarded(&Impl::on_exit));
    output_watch = loop.watch(output_fd.get(), Ready::read, guarded(&Impl::on_output));
    error_watch = loop.watch(errors.get(), Ready::read, guarded(&Impl::on_errors));
    start_timer = loop.after(start_timeout, guarded(&Impl::on_start_timeout));
}

void ChildProgram::Impl::on_channel() {
    while (channel && read_message()) {
    }
}

/// False: nothing more now.
bool ChildProgram::Impl::read_message() {
    std::array<char, channel::kHeaderBytes + channel::kMaxFramePayload> frame{};
    const ssize_t got = ::recv(channel.get(), frame.data(), frame.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (got <= 0) {
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            channel_watch.reset();  // its end is on the way by the exit
        }
        return false;
    }
    const auto bytes = static_cast<std::size_t>(got);
    const bool is_cut = bytes > frame.size();
    auto message = assembler.take({frame.data(), std::min(bytes, frame.size())}, is_cut);
    if (!message || !*message) {
        return static_cast<bool>(message);
    }
    channel::FieldReader fields((*message)->payload);
    const auto first = fields.next().value_or("");
    if ((*message)->type == channel::MessageType::ready) {
        status.walls = first;
        status.pid = static_cast<int>(fields.next_number().value_or(-1));
        status.state = ChildState::running;
        start_timer.reset();
        news.lifecycle = "started";
    } else if ((*message)->type == channel::MessageType::start_failed) {
        const auto code = fields.next_number();
        static_cast<void>(code);
        failure = Error(Errc::refused,
                        "program " + status.program + ": start step " + printable(first, 40) +
                            ": " + printable(fields.next().value_or(""), 2000));
    } else if ((*message)->type == channel::MessageType::event) {
        const auto code = fields.next_number();
        const auto number = fields.next_number();
        reported = End{{static_cast<int>(code.value_or(-1)), static_cast<int>(number.value_or(0))},
                       code.has_value()};
    }
    return true;
}

/// The launcher is gone: so is everything of its group, by this at the latest.
void ChildProgram::Impl::on_exit() {
    child->kill_group();
    const auto exit = child->try_wait();
    if (!exit) {
        return;
    }
    on_channel();  // what it said before its end
    exit_watch.reset();
    start_timer.reset();
    stop_timer.reset();
    const bool had_run = status.state == ChildState::running;
    status.state = ChildState::ended;
    ended = reported.value_or(End{*exit, false});
    if (!had_run && !failure) {
        failure = Error(Errc::unavailable,
                        "program " + status.program +
                            ": its launcher ended before it was started (" + exit->str() + ")");
    }
    status.reason = failure           ? failure->message()
                    : ended->is_known ? ended->exit.str()
                                      : "its launcher ended: " + ended->exit.str();
    news.lifecycle = had_run ? "ended" : "start_failed";
    input_closed = true;
    input_watch.reset();
    input.reset();
}

void ChildProgram::Impl::on_output() {
    const bool goes_on = drain(output_fd.get(), kMostReads, [&](std::string_view bytes) {
        output.add(bytes);
        return !output.is_full();
    });
    if (!goes_on) {
        output.finish();
        output_watch.reset();
        output_fd.reset();
    } else if (output.is_full()) {
        output_watch.reset();  // take() has it watched again
    }
}

void ChildProgram::Impl::watch_output() {
    if (output_fd && !output_watch && !output.is_full()) {
        output_watch = loop.watch(output_fd.get(), IoLoop::Ready::read, guarded(&Impl::on_output));
    }
}

void ChildProgram::Impl::on_errors() {
    const auto keep = [&](const std::string& line) {
        error_lines.push_back(line);
        if (error_lines.size() > kErrorLines) {
            error_lines.pop_front();
        }
        log(kLogLevel, line);
    };
    const bool goes_on = drain(errors.get(), kMostReads, [&](std::string_view bytes) {
        splitter.take(bytes, keep);
        return true;
    });
    if (!goes_on) {
        splitter.flush(keep);
        error_watch.reset();
    }
}

void ChildProgram::Impl::log(int level, const std::string& line) {
    std::uint64_t skipped = 0;
    const bool passes = limiter.admit(std::chrono::steady_clock::now(), skipped);
    if (skipped > 0) {
        news.lines.emplace_back(level, std::to_string(skipped) + " lines were dropped");
    }
    if (passes) {
        news.lines.emplace_back(level, line);
    }
}

void ChildProgram::Impl::on_start_timeout() {
    if (status.state == ChildState::starting) {
        failure = Error(Errc::deadline, "program " + status.program + ": not started in time");
        kill();
    }
}

void ChildProgram::Impl::on_stop_timeout() {
    reported = End{{-1, SIGKILL}, true};
    kill();
}

void ChildProgram::Impl::kill() {
    if (child) {
        child->kill_group();
        child->kill();
    }
}

}  // namespace daybook
