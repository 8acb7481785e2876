// While a call is out, the desk's thread waits for the runner's channel itself and reads it: a
// message then wakes one thread, not two.
//
// The I/O thread's watch stays until it is first woken in vain; then it is given up ("lent") and a
// timer looks now and then whether the desk still reads. So a row of calls costs the I/O thread
// nothing, and a runner without a call is watched as ever. Whoever reads holds io_mutex, so frames
// are put together in order; a message that the I/O thread has handed on goes first.
#include <fcntl.h>
#include <memory>
#include <string>
#include <utility>

#include "host/plugin/runner_impl.hpp"

namespace daybook {

using channel::MessageType;

namespace {

/// How long after the last call the I/O thread may leave the channel unwatched.
constexpr std::chrono::milliseconds kLendTime{50};
constexpr int kFramesAtOnce = 32;

}  // namespace

void RunnerProcess::Impl::begin_desk_reading() {
    {
        const std::lock_guard guard(mutex);
        if (!socket || status.state != RunnerState::ready) {
            return;
        }
        if (!desk_channel || desk_channel_of != incarnation) {
            desk_channel = UniqueFd(::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
            desk_channel_of = incarnation;
        }
    }
    if (!desk_reads && desk_channel) {
        desk_reads = inbox.add_source(desk_channel.get(), [this] { return read_on_desk(); });
    }
}

void RunnerProcess::Impl::end_desk_reading() {
    if (desk_reads) {
        inbox.remove_source(desk_channel.get());
        desk_reads = false;
    }
}

/// Reads up to one message. False: there is nothing more to read here, the I/O thread goes on.
bool RunnerProcess::Impl::read_on_desk() {
    const auto self = shared_from_this();  // what it leads to may end the runner
    const std::uint64_t from = desk_channel_of;
    channel::Message message;
    std::string fault;
    Frame frame = Frame::none;
    {
        const std::lock_guard io(io_mutex);
        bool is_over = at_eof || noise_full;
        {
            const std::lock_guard guard(mutex);
            is_over = is_over || closed || !socket || incarnation != from;
            if (!is_over && (waiting_messages != 0 || backlog_full)) {
                return true;  // they wait in the inbox, which runs them first
            }
        }
        if (is_over) {
            desk_reads = false;
            return false;
        }
        frame = take_frame(message, fault);
        for (int i = 1; i < kFramesAtOnce && frame == Frame::part; ++i) {
            frame = take_frame(message, fault);
        }
        at_eof = at_eof || frame == Frame::malformed;  // nothing that it still says counts
    }
    switch (frame) {
        case Frame::none:
        case Frame::part:
            return true;
        case Frame::message:
            return take_on_desk(from, std::move(message));
        case Frame::malformed:
            kill_reason_once(Error(Errc::plugin_protocol, "broke the protocol: " + fault));
            break;
        case Frame::end:
            post_io(from, &Impl::on_eof);
            break;
    }
    desk_reads = false;
    return false;
}

/// Of the process's own life: the I/O thread's business.
void RunnerProcess::Impl::pass_to_io(std::uint64_t from, channel::Message message) {
    loop.post([self = shared_from_this(),
               from,
               held = std::make_shared<channel::Message>(std::move(message))] {
        const std::lock_guard io(self->io_mutex);
        {
            const std::lock_guard guard(self->mutex);
            if (self->closed || self->incarnation != from) {
                return;
            }
        }
        self->on_message(std::move(*held));
    });
}

/// A message that was read on the desk's thread. Returns whether the desk reads on.
bool RunnerProcess::Impl::take_on_desk(std::uint64_t from, channel::Message message) {
    Verdict verdict = Verdict::drop;
    std::string fault;
    bool is_within_rate = true;
    {
        const std::lock_guard io(io_mutex);
        verdict = judge_any(message, fault);
        if (verdict == Verdict::log || verdict == Verdict::pass_as_noise ||
            verdict == Verdict::late_verb) {
            is_within_rate = is_within_noise_rate();
        }
        if (verdict == Verdict::log && is_within_rate && !closed) {
            on_log(message);
        }
        at_eof = at_eof || verdict == Verdict::fault;  // nothing that it still says counts
    }
    if (!is_within_rate) {
        post_io(from, &Impl::pause_for_noise);
        desk_reads = false;
        return false;
    }
    switch (verdict) {
        case Verdict::fault:
            kill_reason_once(Error(Errc::plugin_protocol, "broke the protocol: " + fault));
            desk_reads = false;
            return false;
        case Verdict::late_verb:
            answer_late(message);
            return true;
        case Verdict::process:
            pass_to_io(from, std::move(message));
            return true;
        case Verdict::log:
        case Verdict::drop:
            return true;
        case Verdict::pass:
        case Verdict::pass_as_noise:
            break;
    }
    {
        const std::lock_guard guard(mutex);
        last_activity = std::chrono::steady_clock::now();
    }
    hand_over(from, message);
    return desk_reads;
}

/// What becomes of a message of any type, read on the desk's thread. io_mutex is held.
RunnerProcess::Impl::Verdict RunnerProcess::Impl::judge_any(const channel::Message& message,
                                                            std::string& fault) {
    switch (message.type) {
        case MessageType::verb:
        case MessageType::result:
        case MessageType::failure:
        case MessageType::progress:
        case MessageType::event:
            return judge(message, fault);
        case MessageType::log:
            return Verdict::log;
        case MessageType::drained:
            if (phase == Phase::draining) {
                return Verdict::process;
            }
            break;
        case MessageType::ready:
        case MessageType::opened:
        case MessageType::start_failed:
            break;
        case MessageType::open:
        case MessageType::call:
        case MessageType::verb_reply:
        case MessageType::cancel:
        case MessageType::drain:
        case MessageType::close:
            fault = "a message that only the host sends";
            return Verdict::fault;
    }
    fault = "a message out of turn";
    return Verdict::fault;
}

/// The desk's thread reads: this one need not be woken as well.
void RunnerProcess::Impl::lend_channel() {
    read_watch.reset();
    is_lent = true;
    watch_lent_channel();
}

void RunnerProcess::Impl::watch_lent_channel() {
    lend_timer = loop.after(kLendTime, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) {
            return;
        }
        const std::lock_guard io(self->io_mutex);
        if (self->closed || !self->is_lent) {
            return;
        }
        SteadyTime last{};
        {
            const std::lock_guard guard(self->mutex);
            last = self->last_activity;
        }
        if (self->desk_reads || std::chrono::steady_clock::now() - last < kLendTime) {
            self->watch_lent_channel();
        } else {
            self->take_channel_back();
        }
    });
}

void RunnerProcess::Impl::take_channel_back() {
    is_lent = false;
    resume_reading();
}

}  // namespace daybook
