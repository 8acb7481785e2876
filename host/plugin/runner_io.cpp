// What a running process sends: frames, output lines; and what waits to be sent to it.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <span>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "host/os/desk_path.hpp"
#include "host/plugin/runner_impl.hpp"

namespace daybook {

using channel::MessageType;

namespace {

constexpr int kFramesAtOnce = 32;  ///< then other runners have their turn
constexpr int kOutputReadsAtOnce = 4;
constexpr std::chrono::milliseconds kEofGrace{100};

}  // namespace

void RunnerProcess::Impl::on_readable() {
    if (at_eof) {
        read_watch.reset();
        return;
    }
    if (desk_reads) {
        lend_channel();
        return;
    }
    for (int i = 0; i < kFramesAtOnce && read_watch; ++i) {
        if (!read_frame()) {
            return;
        }
    }
}

/// Takes one frame. False: there is none now.
bool RunnerProcess::Impl::read_frame() {
    channel::Message message;
    std::string fault;
    switch (take_frame(message, fault)) {
        case Frame::none:
            return false;
        case Frame::part:
            return true;
        case Frame::end:
            on_eof();
            return false;
        case Frame::malformed:
            protocol_fault(fault);
            return false;
        case Frame::message:
            break;
    }
    on_message(std::move(message));
    return true;
}

RunnerProcess::Impl::Frame RunnerProcess::Impl::take_frame(channel::Message& into,
                                                           std::string& fault) {
    // Left uninitialised, and without a control buffer, so that descriptors that a plugin passes
    // are discarded.
    std::array<char, channel::kHeaderBytes + channel::kMaxFramePayload + 1> buffer;
    int fd = -1;
    {
        const std::lock_guard guard(mutex);
        fd = socket.get();
    }
    const ssize_t got = ::recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && errno == EINTR) {
        return Frame::part;
    }
    if (got < 0 && errno == EAGAIN) {
        return Frame::none;
    }
    if (got <= 0) {
        return Frame::end;
    }
    const auto size = static_cast<std::size_t>(got);
    const std::size_t held = std::min(size, buffer.size());
    auto message = assembler.take(std::span<const char>(buffer.data(), held), size > held);
    if (!message) {
        fault = message.error().message();
        return Frame::malformed;
    }
    if (!*message) {
        return Frame::part;
    }
    into = std::move(**message);
    return Frame::message;
}

/// The channel is closed. The process ought to be ending; if it is not, it is ended.
void RunnerProcess::Impl::on_eof() {
    read_watch.reset();
    at_eof = true;
    eof_timer = loop.after(kEofGrace, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            const std::lock_guard io(self->io_mutex);
            if (!self->closed && self->child) {
                self->kill_now(
                    Error(Errc::plugin_crashed, "closed its channel and went on running"));
            }
        }
    });
}

void RunnerProcess::Impl::on_message(channel::Message message) {
    switch (message.type) {
        case MessageType::ready:
            on_ready(message);
            return;
        case MessageType::start_failed:
            on_start_failed(message);
            return;
        case MessageType::opened:
            on_opened();
            return;
        case MessageType::log:
            if (count_noise()) {
                on_log(message);
            }
            return;
        case MessageType::drained:
            if (phase != Phase::draining) {
                protocol_fault("a drained message out of turn");
                return;
            }
            if (!queue_message({MessageType::close, 0, {}})) {
                kill_child();
            }
            return;
        case MessageType::verb:
        case MessageType::result:
        case MessageType::failure:
        case MessageType::progress:
        case MessageType::event:
            on_call_message(std::move(message));
            return;
        case MessageType::open:
        case MessageType::call:
        case MessageType::verb_reply:
        case MessageType::cancel:
        case MessageType::drain:
        case MessageType::close:
            protocol_fault("a message that only the host sends");
            return;
    }
    protocol_fault("a message of an unknown type");
}

/// A call's message passes when the call is out on this very process and has had no outcome yet.
RunnerProcess::Impl::Verdict RunnerProcess::Impl::judge(const channel::Message& message,
                                                        std::string& fault) {
    const bool is_outcome =
        message.type == MessageType::result || message.type == MessageType::failure;
    bool is_live = false;
    bool was_issued = false;
    bool was_awaited = true;
    {
        const std::lock_guard guard(mutex);
        was_issued = message.call >= first_call && message.call < next_call;
        const auto found = calls.find(message.call);
        is_live = found != calls.end() && !found->second;
        if (is_live && is_outcome) {
            found->second = true;
            ++status.answered;
            policy.record_answer();
            if (plugin.answered) {
                plugin.answered->fetch_add(1, std::memory_order_relaxed);
            }
        } else if (is_outcome) {
            was_awaited = abandoned.erase(message.call) != 0;
        } else if (!is_live) {
            ++status.late_messages;
        }
    }
    if (phase != Phase::serving && phase != Phase::draining) {
        fault = "a call's message before it was opened";
        return Verdict::fault;
    }
    if (!was_issued) {
        fault = "a message for call " + std::to_string(message.call) +
                ", which is not one of this runner's";
        return Verdict::fault;
    }
    if (is_live) {
        return message.type != MessageType::progress ? Verdict::pass : Verdict::pass_as_noise;
    }
    if (is_outcome && !was_awaited) {
        fault = "a second answer to call " + std::to_string(message.call);
        return Verdict::fault;
    }
    return message.type == MessageType::verb ? Verdict::late_verb : Verdict::drop;
}

void RunnerProcess::Impl::on_call_message(channel::Message message) {
    std::string fault;
    switch (judge(message, fault)) {
        case Verdict::fault:
            protocol_fault(fault);
            return;
        case Verdict::pass_as_noise:
            if (!count_noise()) {
                return;
            }
            [[fallthrough]];
        case Verdict::pass:
            forward(std::move(message));
            return;
        case Verdict::late_verb:
            if (count_noise()) {
                answer_late(message);
            }
            return;
        case Verdict::drop:
        case Verdict::log:
        case Verdict::process:
            return;
    }
}

/// To the desk's thread, which answers for the call. Over the bound the runner is read no further
/// until half is done.
void RunnerProcess::Impl::forward(channel::Message message) {
    const std::size_t bytes = message.payload.size();
    std::uint64_t from = 0;
    {
        const std::lock_guard guard(mutex);
        ++waiting_messages;
        waiting_bytes += bytes;
        backlog_full = waiting_messages >= kMaxWaitingMessages || waiting_bytes >= kMaxWaitingBytes;
        from = incarnation;
        if (!backlog_full) {
            last_activity = std::chrono::steady_clock::now();
        }
    }
    inbox.post([self = shared_from_this(),
                from,
                bytes,
                held = std::make_shared<channel::Message>(std::move(message))] {
        self->deliver(from, *held, bytes);
    });
    const std::lock_guard guard(mutex);
    if (backlog_full) {
        read_watch.reset();
    }
}

/// A verb of a call that has ended: a thread of the plugin that went on. Told so, and nothing else
/// happens.
void RunnerProcess::Impl::answer_late(const channel::Message& message) {
    channel::FieldReader fields(message.payload);
    const auto request = fields.next_number();
    if (!request) {
        kill_reason_once(Error(Errc::plugin_protocol, "a verb without a request id"));
        return;
    }
    channel::FieldWriter reply;
    reply.add_number(*request)
        .add_number(static_cast<std::int64_t>(Errc::not_found))
        .add(R"({"error":"not_found","message":"no such call: it has ended"})");
    if (auto sent = queue_message({MessageType::verb_reply, message.call, reply.take()});
        !sent && sent.error().code() == Errc::full) {
        kill_reason_once(Error(Errc::plugin_protocol, "it does not read the answers to its verbs"));
    }
}

void RunnerProcess::Impl::kill_reason_once(Error why) {
    std::uint64_t current = 0;
    {
        const std::lock_guard guard(mutex);
        if (!kill_reason) {
            kill_reason = std::move(why);
        }
        current = incarnation;
    }
    post_io(current, &Impl::kill_child);
}

/// Counts a message that costs the host time and does nothing for it. False: over the rate, the
/// message is dropped and the runner is not read until the second is over.
bool RunnerProcess::Impl::count_noise() {
    if (is_within_noise_rate()) {
        return true;
    }
    pause_for_noise();
    return false;
}

bool RunnerProcess::Impl::is_within_noise_rate() {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (now - noise_since >= std::chrono::seconds(1)) {
        noise_since = now;
        noise = 0;
    }
    return ++noise <= kMaxNoise;
}

void RunnerProcess::Impl::pause_for_noise() {
    if (noise_full) {
        return;
    }
    noise_full = true;
    read_watch.reset();
    const auto since = std::chrono::steady_clock::now() - noise_since;
    noise_timer = loop.after(std::max<std::chrono::nanoseconds>(std::chrono::seconds(1) - since,
                                                                std::chrono::nanoseconds(0)),
                             [weak = weak_from_this()] {
                                 if (const auto self = weak.lock()) {
                                     const std::lock_guard io(self->io_mutex);
                                     self->noise_full = false;
                                     if (!self->closed) {
                                         self->resume_reading();
                                     }
                                 }
                             });
}

void RunnerProcess::Impl::resume_reading() {
    int fd = -1;
    {
        const std::lock_guard guard(mutex);
        if (backlog_full) {
            return;
        }
        fd = socket.get();
    }
    if (fd < 0 || at_eof || noise_full || is_lent || read_watch) {
        return;
    }
    read_watch = loop.watch(fd, IoLoop::Ready::read, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            const std::lock_guard io(self->io_mutex);
            if (!self->closed) {
                self->on_readable();
            }
        }
    });
}

void RunnerProcess::Impl::arm_write_watch() {
    int fd = -1;
    {
        const std::lock_guard guard(mutex);
        fd = socket.get();
    }
    if (fd < 0 || write_watch) {
        return;
    }
    write_watch = loop.watch(fd, IoLoop::Ready::write, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) {
            const std::lock_guard io(self->io_mutex);
            if (!self->closed) {
                self->on_writable();
            }
        }
    });
}

void RunnerProcess::Impl::on_writable() {
    {
        const std::lock_guard guard(mutex);
        if (!socket || !flush_locked()) {
            return;
        }
        write_watch_asked = false;
    }
    write_watch.reset();
}

void RunnerProcess::Impl::on_log(const channel::Message& message) {
    channel::FieldReader fields(message.payload);
    const auto level = fields.next_number();
    const auto text = fields.next();
    const auto more = fields.next();
    if (!level || !text || !more) {
        protocol_fault("a malformed log message");
        return;
    }
    std::string line = printable(*text, LineSplitter::kMaxLine);
    if (!more->empty()) {
        line += " " + printable(*more, LineSplitter::kMaxLine);
    }
    log_line(log_limit, static_cast<int>(std::clamp<std::int64_t>(*level, 0, 3)), line);
}

void RunnerProcess::Impl::log_line(LineLimiter& limiter, int level, const std::string& line) {
    std::uint64_t skipped = 0;
    const bool passes = limiter.admit(std::chrono::steady_clock::now(), skipped);
    if (skipped != 0 && events.on_log) {
        events.on_log(2,
                      std::to_string(skipped) + " more lines were dropped: over " +
                          std::to_string(LineLimiter::kMaxLines) + " in " +
                          std::to_string(LineLimiter::kWindow.count()) + " s");
    }
    if (passes && events.on_log) {
        events.on_log(level, line);
    }
    if (!passes) {
        const std::lock_guard guard(mutex);
        ++status.dropped_lines;
    }
}

/// What the plugin prints. Kept apart from the protocol: a stray printf is a log line and no more.
void RunnerProcess::Impl::on_output() {
    const auto on_line = [this](const std::string& line) {
        {
            const std::lock_guard guard(mutex);
            status.stderr_lines.push_back(line);
            if (status.stderr_lines.size() > kOutputLines) {
                status.stderr_lines.erase(status.stderr_lines.begin());
            }
        }
        log_line(output_limit, 1, line);
    };
    std::array<char, 4096> buffer;
    for (int i = 0; i < kOutputReadsAtOnce && child; ++i) {
        const ssize_t got = ::read(child->output(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && errno == EAGAIN) {
            return;
        }
        if (got <= 0) {
            output.flush(on_line);
            output_watch.reset();
            return;
        }
        output.take({buffer.data(), static_cast<std::size_t>(got)}, on_line);
    }
}

void RunnerProcess::Impl::protocol_fault(const std::string& what) {
    kill_now(Error(Errc::plugin_protocol, "broke the protocol: " + what));
}

void RunnerProcess::Impl::kill_now(Error why) {
    {
        const std::lock_guard guard(mutex);
        if (!kill_reason) {
            kill_reason = std::move(why);
        }
    }
    kill_child();
}

/// Nothing that it still says counts.
void RunnerProcess::Impl::kill_child() {
    read_watch.reset();
    at_eof = true;
    if (child) {
        child->kill();
    }
}

}  // namespace daybook
