// One walled process for one plugin and one desk: start, handshake, messages, deadline, crash,
// restart.
//
// The process and its socket are watched on the I/O thread; whole messages are posted to the desk's
// inbox. A runner is started with its first call, stopped when idle, and started again after a
// crash: at once, then after 0.25 s doubling to 60 s with jitter; five crashes in ten minutes open
// the breaker until the owner says otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/config.hpp"
#include "host/os/io_loop.hpp"
#include "host/os/process.hpp"
#include "host/plugin/channel.hpp"
#include "host/plugin/desk_inbox.hpp"
#include "host/plugin/registry.hpp"
#include "host/plugin/restart_policy.hpp"

namespace daybook {

enum class RunnerState { stopped, starting, ready, draining, backoff, open_breaker, refused };
[[nodiscard]] std::string_view name_of(RunnerState state) noexcept;

/// For `plugin list` and `plugin why`.
struct RunnerStatus {
    std::string plugin, desk;
    RunnerState state = RunnerState::stopped;
    std::string reason;                     ///< of refused, backoff, open_breaker
    std::string walls;                      ///< JSON from the runner's ready frame, "" before
    std::string last_exit;                  ///< "signal 11 (SIGSEGV)", "" = never
    std::vector<std::string> stderr_lines;  ///< newest 20
    std::uint64_t calls = 0, crashes = 0, restarts = 0;
    std::uint64_t answered = 0;     ///< calls that had an outcome from the plugin
    bool half_open = false;         ///< retried after its breaker had opened, no call answered yet
    double next_start_seconds = 0;  ///< of backoff: until it may be started again; 0 = now
    int pid = -1;
    double start_milliseconds = 0;  ///< spawn to the ready frame: all walls proved, module loaded
    std::uint64_t late_messages =
        0;  ///< verbs, progress and events for calls that had ended; answered not_found or dropped
    std::uint64_t dropped_lines = 0;  ///< log and output lines over the rate
};

struct RunnerSettings {
    std::filesystem::path program;  ///< daybook-runner
    std::filesystem::path desk_dir;
    std::string desk;
    std::string zone;  ///< TZ of the runner's environment
    std::vector<std::filesystem::path> reads;
    std::string config_json = "{}";
    Isolation isolation = Isolation::required;
    std::filesystem::path probe_file;  ///< a file the runner must not be able to open for writing
    std::chrono::seconds idle{60};
    std::chrono::milliseconds start_timeout{5000};
    std::chrono::milliseconds cancel_grace{2000};
    std::filesystem::path scratch_dir;  ///< of profile scratch, else empty
    std::uint64_t scratch_max_bytes = 0;
    /// Before each start, on the desk's thread: what it refuses is not started. May be empty.
    std::function<Result<>()> before_start;
    int landlock_cap = 0;  ///< 0 = what the kernel has; tests lower it
    bool breaker = true;
    RestartLimits restart{};  ///< back-off and breaker; tests make them small
};

/// Lines that a plugin logs or prints, and lifecycle events for journal/_host: started,
/// start_failed, refused, crashed, breaker_opened, stopped. Thread: [io]; must not block.
struct RunnerEvents {
    std::function<void(int level, const std::string& message)> on_log;
    std::function<void(const std::string& what, const RunnerStatus& status)> on_lifecycle;
};

class RunnerProcess {
  public:
    RunnerProcess(IoLoop& loop,
                  DeskInbox& inbox,
                  const PluginEntry& plugin,
                  RunnerSettings settings,
                  RunnerEvents events);
    /// Kills the process and collects it; no callback runs afterwards. Not from a callback of
    /// RunnerEvents.
    ~RunnerProcess();
    RunnerProcess(const RunnerProcess&) = delete;
    RunnerProcess& operator=(const RunnerProcess&) = delete;
    RunnerProcess(RunnerProcess&&) = delete;
    RunnerProcess& operator=(RunnerProcess&&) = delete;

    /// Starts it when it is not running, and waits in the inbox until it is open for calls.
    /// Errors: unavailable (back-off or breaker: says until when and why; ended before it was
    /// ready: how, and its last lines), refused (walls, ABI, descriptor: the runner's reason),
    /// deadline (also: not ready within start_timeout). Looks for links in the desk's own files
    /// before a start and names them in the log. Thread: [desk].
    Result<> ensure_ready(SteadyTime deadline) { return ensure_ready(deadline, {}); }
    /// The same; gives up with `cancelled` when `is_cancelled` holds, looked at every 50 ms. May be
    /// empty.
    Result<> ensure_ready(SteadyTime deadline, const std::function<bool()>& is_cancelled);
    /// Receives the messages of one call from now on (on the desk's thread, in order). Returns the
    /// call's id. `gone` is called once if the process ends first, with how. Thread: [desk].
    struct Receiver {
        std::function<void(channel::Message)> message;
        std::function<void(const Error&)> gone;
    };
    channel::CallId attach(Receiver receiver);
    void detach(channel::CallId call);
    /// Queues a message (bounded); never blocks. Errors: unavailable, full (the runner does not
    /// read). Thread: [any].
    Result<> send(channel::Message message);
    /// SIGKILL now; whoever is attached gets `gone` with this error. Counts as a crash unless the
    /// code is unavailable. Thread: [any].
    void kill(Error why);
    /// Asks it to finish and exit; kills it after cancel_grace. The next ensure_ready() starts a
    /// new one. Thread: [any].
    void stop();
    /// It may be started at once; an open breaker is half open until a call is answered, and one
    /// crash opens it again. Thread: [any].
    void retry();
    [[nodiscard]] RunnerStatus status() const;  ///< Thread: [any].
    /// Whether a call is out on it: a call back into it would wait for itself. Thread: [desk].
    [[nodiscard]] bool is_busy() const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace daybook
