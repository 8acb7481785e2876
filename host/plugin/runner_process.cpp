#include "host/plugin/runner_process.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include "host/os/desk_path.hpp"
#include "host/os/os.hpp"
#include "host/plugin/runner_impl.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

constexpr int kKillWaitMilliseconds = 5000;
constexpr std::chrono::milliseconds kCancelPoll{50};

/// Call ids start at a random place, so that an id of another runner means nothing here.
channel::CallId random_call_id() {
    return std::stoull(random_hex(5), nullptr, 16) + 1;
}

RestartLimits limits_of(const RunnerSettings& settings) {
    RestartLimits limits = settings.restart;
    limits.breaker = limits.breaker && settings.breaker;
    return limits;
}

std::string seconds_text(std::chrono::nanoseconds time) {
    const auto tenths =
        std::chrono::ceil<std::chrono::duration<std::int64_t, std::deci>>(time).count();
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

std::string_view name_of(RunnerState state) noexcept {
    switch (state) {
        case RunnerState::stopped:
            return "stopped";
        case RunnerState::starting:
            return "starting";
        case RunnerState::ready:
            return "ready";
        case RunnerState::draining:
            return "draining";
        case RunnerState::backoff:
            return "backoff";
        case RunnerState::open_breaker:
            return "open_breaker";
        case RunnerState::refused:
            return "refused";
    }
    return "unknown";
}

RunnerProcess::Impl::Impl(IoLoop& loop_,
                          DeskInbox& inbox_,
                          const PluginEntry& plugin_,
                          RunnerSettings settings_,
                          RunnerEvents events_)
    : loop(loop_),
      inbox(inbox_),
      plugin(plugin_),
      settings(std::move(settings_)),
      who("plugin \"" + plugin_.config.name + "\""),
      policy(limits_of(settings), std::stoull(random_hex(8), nullptr, 16)),
      events(std::move(events_)) {
    status.plugin = plugin.config.name;
    status.desk = settings.desk;
    first_call = next_call = random_call_id();
}

RunnerProcess::RunnerProcess(IoLoop& loop,
                             DeskInbox& inbox,
                             const PluginEntry& plugin,
                             RunnerSettings settings,
                             RunnerEvents events)
    : impl_(std::make_shared<Impl>(loop, inbox, plugin, std::move(settings), std::move(events))) {}

RunnerProcess::~RunnerProcess() {
    impl_->end_desk_reading();
    std::optional<ChildProcess> child;
    std::vector<std::unique_ptr<Watch>> watches;
    {
        const std::scoped_lock guard(impl_->io_mutex, impl_->mutex);
        impl_->closed = true;
        impl_->socket.reset();
        child.swap(impl_->child);
        for (auto* watch : {&impl_->read_watch,
                            &impl_->write_watch,
                            &impl_->exit_watch,
                            &impl_->output_watch,
                            &impl_->start_timer,
                            &impl_->idle_timer,
                            &impl_->stop_timer,
                            &impl_->eof_timer,
                            &impl_->noise_timer,
                            &impl_->lend_timer}) {
            watches.push_back(std::move(*watch));
        }
    }
    watches.clear();  // waits for a callback that is waiting for io_mutex: not under it
    if (child) {
        child->kill();
        // The watch has made the pidfd non-blocking, so that collecting the process would not wait
        // for its end.
        struct pollfd ended = {child->pidfd(), POLLIN, 0};
        while (::poll(&ended, 1, kKillWaitMilliseconds) < 0 && errno == EINTR) {
        }
        child.reset();
    }
    impl_->receivers.clear();
}

std::optional<Error> RunnerProcess::Impl::why_not_startable_locked(SteadyTime now) const {
    if (!plugin.refused.empty()) {
        return Error(Errc::refused, plugin.refused);
    }
    switch (status.state) {
        case RunnerState::refused:
            return Error(Errc::refused, status.reason);
        case RunnerState::open_breaker:
            return Error(Errc::unavailable,
                         who + ": stopped after " + std::to_string(policy.recent()) +
                             " crashes within " + std::to_string(policy.limits().window.count()) +
                             " s, last: " + status.reason + "; it stays so until it is retried");
        case RunnerState::backoff:
            if (now < backoff_until) {
                return Error(Errc::unavailable,
                             who + ": " + status.reason + "; next start in " +
                                 seconds_text(backoff_until - now));
            }
            return std::nullopt;
        case RunnerState::stopped:
        case RunnerState::starting:
        case RunnerState::ready:
        case RunnerState::draining:
            break;
    }
    return std::nullopt;
}

void RunnerProcess::Impl::begin_start_locked(SteadyTime now) {
    status.state = RunnerState::starting;
    status.reason.clear();
    status.walls.clear();
    status.restarts += ended_unasked ? 1 : 0;
    ended_unasked = false;
    kill_reason.reset();
    last_activity = now;
    first_call = next_call;
    calls.clear();
    abandoned.clear();
    ++incarnation;
    post_io(incarnation, &Impl::start);
}

void RunnerProcess::Impl::post_io(std::uint64_t for_incarnation, void (Impl::*task)()) {
    loop.post([self = shared_from_this(), for_incarnation, task] {
        const std::lock_guard io(self->io_mutex);
        {
            const std::lock_guard guard(self->mutex);
            if (self->closed || self->incarnation != for_incarnation) {
                return;
            }
        }
        (self.get()->*task)();
    });
}

/// A hard link in the desk's folder lets a plugin read what the link leads to: the kernel's walls
/// judge the path.
void RunnerProcess::Impl::warn_of_links() {
    constexpr std::size_t kMostNamed = 10;
    constexpr std::size_t kMostLooked = 10000;
    std::size_t looked = 0;
    std::vector<std::string> found;
    const auto look_at = [&](const fs::path& path) {
        struct stat at = {};
        if (::lstat(path.c_str(), &at) != 0 || S_ISDIR(at.st_mode)) {
            return;
        }
        if (S_ISLNK(at.st_mode) || at.st_nlink > 1) {
            found.push_back(path.lexically_relative(settings.desk_dir).string() +
                            (S_ISLNK(at.st_mode) ? " (symbolic link)" : " (hard link)"));
        }
    };
    look_at(settings.desk_dir / "Memory.md");
    for (const char* folder : {"memory", "notes", "skills"}) {
        std::error_code ignored;
        fs::recursive_directory_iterator entry(settings.desk_dir / folder, ignored);
        while (!ignored && entry != fs::recursive_directory_iterator() && ++looked <= kMostLooked &&
               found.size() < kMostNamed) {
            look_at(entry->path());
            entry.increment(ignored);
        }
    }
    if (found.empty()) {
        return;
    }
    std::string text = "desk " + settings.desk +
                       ": links among its own files are neither shown nor written by the host:";
    for (const std::string& name : found) {
        text += " " + printable(name) + ",";
    }
    text.pop_back();
    loop.post([self = shared_from_this(), text] {
        const std::lock_guard io(self->io_mutex);
        if (!self->closed) {
            self->log_line(self->log_limit, 2, text);
        }
    });
}

Result<> RunnerProcess::ensure_ready(SteadyTime deadline,
                                     const std::function<bool()>& is_cancelled) {
    Impl& impl = *impl_;
    const auto is_settled = [&] {
        const std::lock_guard guard(impl.mutex);
        return impl.status.state != RunnerState::starting &&
               impl.status.state != RunnerState::draining;
    };
    std::unique_lock guard(impl.mutex);
    const std::uint64_t failed_before = impl.failed_starts;
    while (impl.status.state != RunnerState::ready) {
        if (impl.failed_starts != failed_before && impl.start_error) {
            return *impl.start_error;
        }
        const SteadyTime now = std::chrono::steady_clock::now();
        if (auto no = impl.why_not_startable_locked(now)) {
            return *no;
        }
        if (now >= deadline) {
            return Error(Errc::deadline, impl.who + ": not ready before the deadline");
        }
        if (impl.status.state == RunnerState::stopped ||
            impl.status.state == RunnerState::backoff) {
            guard.unlock();
            impl.warn_of_links();
            const auto allowed =
                impl.settings.before_start ? impl.settings.before_start() : Result<>();
            guard.lock();
            if (!allowed) {
                impl.status.reason = impl.who + ": " + allowed.error().message();
                return Error(allowed.error().code(), impl.status.reason);
            }
            impl.begin_start_locked(now);
        }
        guard.unlock();
        if (is_cancelled && is_cancelled()) {
            return Error(Errc::cancelled, impl.who + ": cancelled while it was starting");
        }
        impl.inbox.serve_until(is_settled,
                               is_cancelled ? std::min(deadline, now + kCancelPoll) : deadline);
        guard.lock();
    }
    return {};
}

channel::CallId RunnerProcess::attach(Receiver receiver) {
    Impl& impl = *impl_;
    channel::CallId call = 0;
    bool is_ready = false;
    {
        const std::lock_guard guard(impl.mutex);
        call = impl.next_call++;
        ++impl.status.calls;
        impl.calls.emplace(call, false);
        impl.last_activity = std::chrono::steady_clock::now();
        impl.receivers.emplace(call, Impl::Attached{std::move(receiver), impl.incarnation});
        is_ready = impl.status.state == RunnerState::ready;
        if (!is_ready) {
            const Error how(Errc::unavailable, impl.who + ": not running");
            impl.inbox.post(
                [self = impl_, from = impl.incarnation, how] { self->deliver_gone(from, how); });
        }
    }
    if (is_ready) {
        impl.begin_desk_reading();
    }
    return call;
}

void RunnerProcess::detach(channel::CallId call) {
    Impl& impl = *impl_;
    impl.receivers.erase(call);
    if (impl.receivers.empty()) {
        impl.end_desk_reading();
    }
    const std::lock_guard guard(impl.mutex);
    impl.last_activity = std::chrono::steady_clock::now();
    const auto found = impl.calls.find(call);
    if (found == impl.calls.end()) {
        return;
    }
    if (!found->second) {
        impl.abandoned.insert(call);
    }
    impl.calls.erase(found);
}

bool RunnerProcess::is_busy() const {
    return !impl_->receivers.empty();
}

void RunnerProcess::Impl::deliver(std::uint64_t from,
                                  const channel::Message& message,
                                  std::size_t bytes) {
    bool resume = false;
    {
        const std::lock_guard guard(mutex);
        if (closed) {
            return;
        }
        --waiting_messages;
        waiting_bytes -= bytes;
        resume = backlog_full && waiting_messages <= kMaxWaitingMessages / 2 &&
                 waiting_bytes <= kMaxWaitingBytes / 2;
        if (resume) {
            backlog_full = false;
        }
    }
    if (resume) {
        post_io(from, &Impl::resume_reading);
    }
    hand_over(from, message);
}

void RunnerProcess::Impl::hand_over(std::uint64_t from, const channel::Message& message) {
    const auto found = receivers.find(message.call);
    if (found != receivers.end() && found->second.incarnation == from) {
        // A copy: the receiver may detach itself while it runs.
        const auto on_message = found->second.receiver.message;
        on_message(message);
        return;
    }
    if (message.type == channel::MessageType::verb) {
        answer_late(message);
    }
}

void RunnerProcess::Impl::deliver_gone(std::uint64_t from, const Error& how) {
    std::vector<channel::CallId> ids;
    for (const auto& [id, attached] : receivers) {
        if (attached.incarnation == from) {
            ids.push_back(id);
        }
    }
    for (const channel::CallId id : ids) {
        const auto found = receivers.find(id);
        if (found != receivers.end()) {
            const auto on_gone = std::move(found->second.receiver.gone);
            receivers.erase(found);
            on_gone(how);
        }
    }
}

Result<> RunnerProcess::send(channel::Message message) {
    {
        const std::lock_guard guard(impl_->mutex);
        if (impl_->status.state != RunnerState::ready &&
            impl_->status.state != RunnerState::draining) {
            return Error(Errc::unavailable, impl_->who + ": not running");
        }
    }
    return impl_->queue_message(message);
}

Result<> RunnerProcess::Impl::queue_message(const channel::Message& message) {
    auto frames = channel::encode(message);
    if (!frames) {
        return frames.error();
    }
    std::size_t bytes = 0;
    for (const std::string& frame : *frames) {
        bytes += frame.size();
    }
    const std::lock_guard guard(mutex);
    if (closed || !socket) {
        return Error(Errc::unavailable, who + ": not running");
    }
    if (queued_messages + 1 > kMaxQueuedMessages || queued_bytes + bytes > kMaxQueuedBytes) {
        return Error(Errc::full,
                     who + ": does not read what it is sent; " + std::to_string(queued_messages) +
                         " messages wait");
    }
    for (std::size_t i = 0; i < frames->size(); ++i) {
        send_queue.push_back({std::move((*frames)[i]), i + 1 == frames->size()});
    }
    queued_bytes += bytes;
    ++queued_messages;
    // From the caller's thread, which saves a message's way over the I/O thread.
    if (!flush_locked() && !write_watch_asked) {
        write_watch_asked = true;
        post_io(incarnation, &Impl::arm_write_watch);
    }
    return {};
}

bool RunnerProcess::Impl::flush_locked() {
    while (!send_queue.empty()) {
        const QueuedFrame& frame = send_queue.front();
        const ssize_t sent = ::send(
            socket.get(), frame.bytes.data(), frame.bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS)) {
            return false;
        }
        // Any other failure means that the other side is gone: the watch on its process tells the
        // callers.
        queued_bytes -= frame.bytes.size();
        queued_messages -= frame.ends_message ? 1 : 0;
        send_queue.pop_front();
    }
    return true;
}

void RunnerProcess::kill(Error why) {
    std::uint64_t incarnation = 0;
    {
        const std::lock_guard guard(impl_->mutex);
        if (!impl_->kill_reason) {
            impl_->kill_reason = std::move(why);
        }
        incarnation = impl_->incarnation;
    }
    impl_->post_io(incarnation, &Impl::kill_child);
}

void RunnerProcess::stop() {
    std::uint64_t incarnation = 0;
    {
        const std::lock_guard guard(impl_->mutex);
        incarnation = impl_->incarnation;
    }
    impl_->post_io(incarnation, &Impl::begin_drain);
}

void RunnerProcess::retry() {
    const std::lock_guard guard(impl_->mutex);
    impl_->policy.try_again();
    const RunnerState state = impl_->status.state;
    if (state == RunnerState::backoff || state == RunnerState::open_breaker ||
        state == RunnerState::refused) {
        impl_->status.state = RunnerState::stopped;
        impl_->status.reason.clear();
    }
}

RunnerStatus RunnerProcess::status() const {
    const std::lock_guard guard(impl_->mutex);
    RunnerStatus status = impl_->status;
    status.half_open = impl_->policy.is_half_open();
    if (status.state == RunnerState::backoff) {
        const std::chrono::duration<double> left =
            impl_->backoff_until - std::chrono::steady_clock::now();
        status.next_start_seconds = std::max(0.0, left.count());
    }
    return status;
}

}  // namespace daybook
