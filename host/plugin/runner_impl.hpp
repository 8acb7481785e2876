// The inside of RunnerProcess; for its own .cpp files only.
//
// Two mutexes, always taken in this order:
//   io_mutex  held by every callback on the I/O thread while it runs, so that the destructor can
//   end everything from the
//             desk's thread; guards the "io" part. Nobody else waits for it.
//   mutex     guards the "shared" part. Held for moments; nothing is called under it but a
//   non-blocking send.
// The "desk" part belongs to the desk's thread alone.
//
// A process is known by its incarnation, a number that grows with each start: whatever is posted
// for an earlier one does nothing.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/plugin/line_limiter.hpp"
#include "host/plugin/runner_process.hpp"

namespace daybook {

inline constexpr std::size_t kMaxQueuedMessages = 256;
inline constexpr std::size_t kMaxQueuedBytes = 16UL * 1024 * 1024;
/// Messages of one runner that wait for the desk's thread, before it is read no further.
inline constexpr std::size_t kMaxWaitingMessages = DeskInbox::kMaxBacklog;
inline constexpr std::size_t kMaxWaitingBytes = 16UL * 1024 * 1024;
/// Log and progress messages a second, before it is read no further until the second is over.
inline constexpr std::uint64_t kMaxNoise = 5000;
inline constexpr std::size_t kOutputLines = 20;

struct RunnerProcess::Impl : std::enable_shared_from_this<RunnerProcess::Impl> {
    Impl(IoLoop& loop_,
         DeskInbox& inbox_,
         const PluginEntry& plugin_,
         RunnerSettings settings_,
         RunnerEvents events_);

    // --- fixed after the constructor
    IoLoop& loop;
    DeskInbox& inbox;
    const PluginEntry& plugin;
    const RunnerSettings settings;
    const std::string who;  ///< `plugin "memory"`

    // --- desk
    struct Attached {
        Receiver receiver;
        std::uint64_t incarnation = 0;
    };
    std::map<channel::CallId, Attached> receivers;
    UniqueFd desk_channel;              ///< a duplicate of the socket, for the inbox to wait on
    std::uint64_t desk_channel_of = 0;  ///< the incarnation that it leads to

    // --- shared, guarded by mutex
    mutable std::mutex mutex;
    bool closed = false;  ///< the RunnerProcess is gone; set under both mutexes
    RunnerStatus status;
    std::uint64_t incarnation = 0;
    RestartPolicy policy;
    SteadyTime backoff_until{};
    std::uint64_t failed_starts = 0;
    std::optional<Error> start_error;  ///< of the last failed start
    bool ended_unasked = false;        ///< the last process; its next start is a restart
    std::optional<Error> kill_reason;
    UniqueFd socket;  ///< closed only under both mutexes
    struct QueuedFrame {
        std::string bytes;
        bool ends_message = false;
    };
    std::deque<QueuedFrame> send_queue;
    std::size_t queued_bytes = 0;
    std::size_t queued_messages = 0;
    bool write_watch_asked = false;
    channel::CallId first_call = 1;  ///< ids below belong to earlier processes
    channel::CallId next_call = 1;
    std::map<channel::CallId, bool> calls;  ///< out on this process; whether the outcome was seen
    std::set<channel::CallId> abandoned;  ///< detached before the outcome: it may still come, once
    SteadyTime last_activity{};
    std::size_t waiting_messages = 0;
    std::size_t waiting_bytes = 0;
    bool backlog_full = false;

    /// The desk's thread reads the channel: a call is out.
    std::atomic<bool> desk_reads = false;

    // --- io, guarded by io_mutex
    std::mutex io_mutex;
    RunnerEvents events;
    enum class Phase { none, starting, opening, serving, draining };
    Phase phase = Phase::none;
    std::optional<ChildProcess> child;
    SteadyTime spawned_at{};
    channel::Assembler assembler;
    std::unique_ptr<Watch> read_watch, write_watch, exit_watch, output_watch;
    std::unique_ptr<Watch> start_timer, idle_timer, stop_timer, eof_timer, noise_timer, lend_timer;
    bool at_eof = false;
    bool is_lent = false;          ///< not watched here, because the desk's thread reads
    std::optional<Error> refusal;  ///< why this start cannot become ready, ever
    bool stop_asked = false;
    std::uint64_t noise = 0;
    SteadyTime noise_since{};
    bool noise_full = false;
    LineSplitter output;
    LineLimiter output_limit, log_limit;

    // runner_process.cpp [desk], [any]
    void begin_start_locked(SteadyTime now);
    std::optional<Error> why_not_startable_locked(SteadyTime now) const;
    void warn_of_links();
    void deliver(std::uint64_t from, const channel::Message& message, std::size_t bytes);
    /// To the receiver of its call.
    void hand_over(std::uint64_t from, const channel::Message& message);
    void deliver_gone(std::uint64_t from, const Error& how);
    /// Sends what fits and queues the rest. Takes mutex.
    Result<> queue_message(const channel::Message& message);
    /// Sends queued frames until the socket is full. Returns whether all are out.
    bool flush_locked();
    void post_io(std::uint64_t for_incarnation, void (Impl::*task)());

    // runner_start.cpp [io]
    void start();
    void start_unspawned(const Error& error);
    [[nodiscard]] SpawnRequest spawn_request(int channel_fd) const;
    void watch_child();
    void on_ready(const channel::Message& message);
    void on_start_failed(const channel::Message& message);
    void on_opened();
    void refuse_start(std::string reason);
    [[nodiscard]] std::string descriptor_mismatch(std::string_view descriptor_text) const;

    // runner_io.cpp [io]
    void on_readable();
    bool read_frame();
    /// What one read of the channel gave. `part` is also an interrupted read: read again.
    enum class Frame { none, part, message, end, malformed };
    Frame take_frame(channel::Message& into, std::string& fault);  // io_mutex is held
    void on_eof();
    void on_message(channel::Message message);
    void on_call_message(channel::Message message);
    /// What becomes of a message. `pass_as_noise`: within the rate. `log` and `process` (of its own
    /// life, not a call's) only from judge_any().
    enum class Verdict { pass, pass_as_noise, late_verb, drop, fault, log, process };
    Verdict judge(const channel::Message& message, std::string& fault);  // io_mutex is held
    void on_log(const channel::Message& message);
    void on_output();
    void on_writable();
    void arm_write_watch();
    void resume_reading();
    bool count_noise();
    bool is_within_noise_rate();  // io_mutex is held
    void pause_for_noise();
    void forward(channel::Message message);
    void answer_late(const channel::Message& message);  // [any]
    void kill_reason_once(Error why);                   // [any]
    void protocol_fault(const std::string& what);
    void kill_now(Error why);
    void kill_child();
    void log_line(LineLimiter& limiter, int level, const std::string& line);

    // runner_reading.cpp
    void begin_desk_reading();                                        // [desk]
    void end_desk_reading();                                          // [desk]
    bool read_on_desk();                                              // [desk]
    bool take_on_desk(std::uint64_t from, channel::Message message);  // [desk]
    Verdict judge_any(const channel::Message& message, std::string& fault);
    void pass_to_io(std::uint64_t from, channel::Message message);  // [desk]
    void lend_channel();                                            // [io]
    void watch_lent_channel();                                      // [io]
    void take_channel_back();                                       // [io]

    // runner_end.cpp [io]
    void on_exit();
    void finish(const ExitState& exit);
    void finish_start(const ExitState& exit, const std::optional<Error>& killed);
    void finish_serving(const ExitState& exit, const std::optional<Error>& killed);
    void crashed_locked(SteadyTime now, const std::string& how, std::string& lifecycle);
    void post_gone(const Error& how);
    void wake_desk();
    void close_connection();
    void begin_drain();
    void check_idle();
    void tell(const std::string& what);
    [[nodiscard]] std::string last_lines_locked() const;
};

}  // namespace daybook
