// How a process ends: asked, idle, crashed, killed; and what is told to whoever waited for it.
#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"
#include "host/plugin/runner_impl.hpp"

namespace daybook {
namespace {

constexpr int kMostFramesAtEnd = 1024;  ///< the socket's buffer holds fewer
constexpr int kMostOutputReadsAtEnd = 64;
constexpr std::size_t kLinesInReason = 3;
constexpr std::chrono::seconds kFirstCallGrace{5};
constexpr std::chrono::milliseconds kShortestIdleCheck{10};

/// How it ended, for people. SIGKILL is in no plugin's reach, so it came from outside.
std::string exit_text(const ExitState& exit, bool killed_by_host) {
    const bool is_from_outside = exit.signal == SIGKILL && !killed_by_host;
    return exit.str() +
           (is_from_outside
                ? ", not sent by the host: out of memory, as the kernel saw it, or somebody's hand"
                : "");
}

/// "ended by signal 11 (SIGSEGV)", "ended with exit code 3".
std::string ended(const ExitState& exit) {
    return (exit.signal != 0 ? "ended by " : "ended with ") + exit_text(exit, false);
}

}  // namespace

void RunnerProcess::Impl::on_exit() {
    if (!child) {
        return;
    }
    const auto exit = child->try_wait();
    if (!exit) {
        return;
    }
    // A result or a reason that was sent before the end counts, and is bounded by the socket's
    // buffer; after a kill by the host nothing counts.
    for (int i = 0; i < kMostFramesAtEnd && !at_eof; ++i) {
        if (!read_frame()) {
            break;
        }
    }
    for (int i = 0; i < kMostOutputReadsAtEnd && output_watch; ++i) {
        on_output();
    }
    finish(*exit);
}

void RunnerProcess::Impl::finish(const ExitState& exit) {
    const Phase ended_in = phase;
    close_connection();
    std::optional<Error> killed;
    {
        const std::lock_guard guard(mutex);
        status.pid = -1;
        killed = std::exchange(kill_reason, std::nullopt);
        status.last_exit = exit_text(exit, killed || refusal || stop_asked);
        calls.clear();
        abandoned.clear();
    }
    if (ended_in == Phase::starting || ended_in == Phase::opening) {
        finish_start(exit, killed);
    } else {
        finish_serving(exit, killed);
    }
    wake_desk();
}

void RunnerProcess::Impl::close_connection() {
    phase = Phase::none;
    for (auto* watch : {&read_watch,
                        &write_watch,
                        &exit_watch,
                        &output_watch,
                        &start_timer,
                        &idle_timer,
                        &stop_timer,
                        &eof_timer,
                        &noise_timer,
                        &lend_timer}) {
        watch->reset();
    }
    is_lent = false;
    child.reset();
    const std::lock_guard guard(mutex);
    socket.reset();
    send_queue.clear();
    queued_bytes = 0;
    queued_messages = 0;
}

void RunnerProcess::Impl::finish_start(const ExitState& exit, const std::optional<Error>& killed) {
    std::string lifecycle = "start_failed";
    {
        const std::lock_guard guard(mutex);
        if (stop_asked) {
            status.state = RunnerState::stopped;
            start_error = Error(Errc::unavailable, who + ": stopped while it was starting");
            lifecycle = "stopped";
        } else if (refusal) {
            status.state = RunnerState::refused;
            status.reason = refusal->message();
            start_error = *refusal;
            lifecycle = "refused";
        } else {
            const std::string how =
                (killed ? killed->message() : ended(exit) + " before it was ready") +
                last_lines_locked();
            const Errc code =
                killed && killed->code() == Errc::deadline ? Errc::deadline : Errc::unavailable;
            start_error = Error(code, who + ": " + how);
            crashed_locked(std::chrono::steady_clock::now(), how, lifecycle);
        }
        ++failed_starts;
    }
    tell(lifecycle);
    post_gone(*start_error);
}

void RunnerProcess::Impl::finish_serving(const ExitState& exit,
                                         const std::optional<Error>& killed) {
    std::string lifecycle = "stopped";
    // A call that is out makes even a clean exit a crash of that call.
    Error how = killed       ? *killed
                : stop_asked ? Error(Errc::unavailable, "stopped by the host")
                : exit.signal == 0 && exit.code == 0
                    ? Error(Errc::plugin_crashed, "ended with exit code 0 in the middle of a call")
                    : Error(Errc::plugin_crashed, ended(exit));
    {
        const std::lock_guard guard(mutex);
        const bool by_the_host = stop_asked || (killed && killed->code() == Errc::unavailable);
        if (by_the_host) {
            status.state = RunnerState::stopped;
            status.reason.clear();
        } else {
            lifecycle = "crashed";
            const bool is_plain_exit = !killed && exit.signal == 0;
            crashed_locked(std::chrono::steady_clock::now(),
                           (is_plain_exit ? ended(exit) + " without being asked" : how.message()) +
                               last_lines_locked(),
                           lifecycle);
        }
    }
    tell(lifecycle);
    post_gone(how);
}

/// Counts a crash and sets when the next start may be.
void RunnerProcess::Impl::crashed_locked(SteadyTime now,
                                         const std::string& how,
                                         std::string& lifecycle) {
    ++status.crashes;
    ended_unasked = true;
    status.reason = how;
    const RestartPolicy::Verdict verdict = policy.record_crash(now);
    if (verdict.breaker_opens) {
        status.state = RunnerState::open_breaker;
        lifecycle = "breaker_opened";
        return;
    }
    backoff_until = now + verdict.delay;
    status.state = RunnerState::backoff;
}

std::string RunnerProcess::Impl::last_lines_locked() const {
    const auto& lines = status.stderr_lines;
    if (lines.empty()) {
        return {};
    }
    std::string text = "; last output: ";
    const std::size_t first = lines.size() - std::min(lines.size(), kLinesInReason);
    for (std::size_t i = first; i < lines.size(); ++i) {
        // It goes into the journal with the reason.
        text += (i == first ? "" : " | ") + printable(mask_secrets(lines[i]), 200);
    }
    return text;
}

void RunnerProcess::Impl::post_gone(const Error& how) {
    std::uint64_t from = 0;
    {
        const std::lock_guard guard(mutex);
        from = incarnation;
    }
    inbox.post([self = shared_from_this(), from, how] { self->deliver_gone(from, how); });
}

/// Makes the desk's thread look again at what it waits for.
void RunnerProcess::Impl::wake_desk() {
    inbox.post([] {});
}

void RunnerProcess::Impl::begin_drain() {
    if (phase == Phase::starting || phase == Phase::opening) {
        stop_asked = true;
        kill_child();
        return;
    }
    if (phase != Phase::serving) {
        return;
    }
    phase = Phase::draining;
    stop_asked = true;
    if (is_lent && !desk_reads) {
        take_channel_back();
    }
    {
        const std::lock_guard guard(mutex);
        status.state = RunnerState::draining;
    }
    stop_timer = loop.after(settings.cancel_grace, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            const std::lock_guard io(self->io_mutex);
            if (!self->closed && self->phase == Phase::draining) {
                self->kill_now(Error(Errc::unavailable, "stopped by the host"));
            }
        }
    });
    if (!queue_message({channel::MessageType::drain, 0, {}})) {
        kill_child();
    }
}

/// Stops the process when it has had no call for `idle`, else looks again when that could be so.
void RunnerProcess::Impl::check_idle() {
    using Nanoseconds = std::chrono::nanoseconds;
    Nanoseconds again = settings.idle;
    bool is_idle = false;
    {
        const std::lock_guard guard(mutex);
        if (calls.empty()) {
            // Whoever had it started is given the time to make the first call.
            const bool is_new = next_call == first_call;
            const auto allowed = is_new ? std::max<Nanoseconds>(settings.idle, kFirstCallGrace)
                                        : Nanoseconds(settings.idle);
            const auto since = std::chrono::steady_clock::now() - last_activity;
            is_idle = since >= allowed;
            again = std::min<Nanoseconds>(again, allowed - since);
            if (is_idle) {
                // At once: from here on no call is attached to it.
                status.state = RunnerState::draining;
            }
        }
    }
    again = std::max<Nanoseconds>(again, kShortestIdleCheck);
    if (is_idle) {
        begin_drain();
        return;
    }
    idle_timer = loop.after(again, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            const std::lock_guard io(self->io_mutex);
            if (!self->closed && self->phase == Phase::serving) {
                self->check_idle();
            }
        }
    });
}

void RunnerProcess::Impl::tell(const std::string& what) {
    if (!events.on_lifecycle) {
        return;
    }
    RunnerStatus copy;
    {
        const std::lock_guard guard(mutex);
        copy = status;
    }
    events.on_lifecycle(what, copy);
}

}  // namespace daybook
