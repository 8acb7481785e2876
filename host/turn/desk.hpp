// A desk at work: its stores, its runners, its queue of triggers and the one thread that runs its
// turns.
//
// Everything that changes the desk happens on its thread, one thing at a time. The thread starts
// with work and ends when there has been none for a while. Order of the queue: fills, alerts, jobs,
// messages; first come first served in each. Queue full: the trigger is refused (Errc::full) before
// it is journalled.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/calendar.hpp"
#include "host/format/config.hpp"
#include "host/os/clock.hpp"
#include "host/os/io_loop.hpp"
#include "host/os/os.hpp"
#include "host/plugin/registry.hpp"
#include "host/plugin/runner_process.hpp"
#include "host/turn/trigger.hpp"

namespace daybook {

class CheckpointStore;
class FolderWatcher;
class HttpClient;
struct DeskRest;
class Journal;
class KeyFiles;
class SessionStore;
class WriteGate;

/// Levels of DeskServices::log, as a plugin's log lines have them.
inline constexpr int kLogInfo = 1;
inline constexpr int kLogWarn = 2;
inline constexpr int kLogError = 3;

/// Borrowed from main; outlives every desk.
struct DeskServices {
    Os& os;
    Clock& clock;
    IoLoop& loop;
    const Registry& registry;
    const Config& config;
    Journal& host_journal;
    std::filesystem::path home;   ///< state folder
    std::filesystem::path share;  ///< share/daybook: shipped calendars
    std::filesystem::path runner_program;
    std::filesystem::path probe_file;
    std::function<void(int level, const std::string& line)> log;  ///< [any]
    std::filesystem::path owner_folder = {};  ///< of the configuration file; "" = none
    HttpClient* http = nullptr;               ///< nullptr: no http/1
    const KeyFiles* keys = nullptr;           ///< nullptr: no credentials
    /// What became of a runner, as RunnerEvents::on_lifecycle. May be empty; must not block. [io]
    std::function<void(const PluginEntry&, const std::string& what, const RunnerStatus&)>
        on_runner = {};
    FolderWatcher* watcher = nullptr;  ///< nullptr: the owner's edits are found by scans alone
};

/// One event of a desk, for whoever watches (`daybook say`, `status --watch`). JSON with "event"
/// and "desk": turn_start, text, reasoning, tool_call, tool_result, progress, turn_end, rollover,
/// waiting.
using DeskListener = std::function<void(const Json& event)>;

struct Accepted {
    std::string trigger;     ///< its id
    bool duplicate = false;  ///< the key was accepted before; nothing new was queued
    bool settled = false;    ///< of a duplicate: its turn is already over
};

struct DeskStatus {
    std::string name, state, session, zone, calendar,
        model;  ///< state: idle, "in turn", "waiting for a model", paused, "read-only", failed
    std::string reason;   ///< of failed, read-only, waiting
    bool paused = false;  ///< by the owner
    std::size_t queued = 0;
    std::int64_t context_tokens = 0, window = 0;
    std::size_t notes_today = 0;
    std::uint64_t memory_bytes = 0;
    std::string next_rollover;  ///< "2026-10-19T15:45:00+05:30", "" = none known
    std::string calendar_note;  ///< the calendar's list ends soon or is past its end; else ""
    [[nodiscard]] Json to_json() const;
};

class Desk : public std::enable_shared_from_this<Desk> {
  public:
    /// Opens every store, recovers from a crash (write gate, unsettled triggers, cut turns) and
    /// queues what is pending. Errors: whatever keeps this desk from serving; other desks go on.
    static Result<std::unique_ptr<Desk>> open(const DeskServices& services,
                                              const DeskConfig& config);
    ~Desk();  ///< stops, as stop() with no grace
    Desk(const Desk&) = delete;
    Desk& operator=(const Desk&) = delete;
    Desk(Desk&&) = delete;
    Desk& operator=(Desk&&) = delete;

    [[nodiscard]] const std::string& name() const noexcept;
    [[nodiscard]] const DeskConfig& config() const noexcept;
    [[nodiscard]] const Calendar& calendar() const noexcept;
    [[nodiscard]] const Zone& zone() const noexcept;

    /// Journals the trigger and queues it. Durable when it returns. May wait for a sync. Thread:
    /// [any] but [io]. Errors: full, unavailable (stopping, journal), invalid (empty or too long
    /// text, over 64 KiB of line).
    Result<Accepted> accept(TurnKind kind, std::string text, std::string key, std::string name);
    /// Runs something on the desk's thread between turns. `work` gets nothing if the desk stops
    /// first: then `dropped` runs.
    void run(std::function<void()> work, std::function<void()> dropped);
    /// The owner calls a tool: an owner turn's allowance, journalled as a turn. `done` runs on the
    /// desk's thread.
    struct ToolAnswer {
        Result<std::string> result = Error(Errc::internal, "no outcome");
        std::string turn;
        std::vector<std::string> checkpoints;
    };
    void call_tool(std::string tool, std::string arguments, std::function<void(ToolAnswer)> done);
    /// Puts everything, or one file (raw path), back as a checkpoint holds it: on the desk's thread
    /// between two calls, also while a turn runs.
    void restore(std::string checkpoint, std::string file, std::function<void(Result<Json>)> done);
    /// The same with what the newest restore had found.
    void undo_restore(std::function<void(Result<Json>)> done);
    /// Records the owner's edits now; `reason` is for the answer.
    void note_edits(std::function<void(Result<Json>)> done);
    void empty_trash(std::function<void(Result<Json>)> done);
    /// What lies in the trash, newest first. [any]
    [[nodiscard]] Result<Json> trash() const;
    void take_checkpoint(std::string reason, std::function<void(Result<Json>)> done);
    /// Runs `work` between turns, on the desk's thread, when all of its checkpoints are in git: for
    /// a backup. Meanwhile nothing of the desk's own changes but the triggers it accepts.
    void hold_still(std::function<Result<>()> work, std::function<void(Result<>)> done);

    /// Called by the host's tick and after a replayed clock moved: queues a timed rollover when one
    /// is due. [any]
    void check_clock();
    /// Cancels the turn that runs now. False: none runs. [any]
    bool interrupt(const std::string& why);
    /// Paused: triggers are accepted and wait, no turn starts and no day ends; the turn that runs
    /// now goes on to its end, and the owner's own tool calls are made. Journalled (durable when it
    /// returns), kept over a restart. Returns "paused", "changed" and "queued". Thread: [any] but
    /// [io]. Errors: unavailable, io, full (the journal's).
    Result<Json> set_paused(bool on, const std::string& why);
    /// While stopping: cuts the running turn now, as a crash would leave it; the next start takes
    /// it up. [any]
    void cut();
    /// No new work; the running turn may end within the grace, then it is cancelled. Returns when
    /// the thread has ended.
    void stop(std::chrono::milliseconds grace);
    /// Nothing runs, waits or watches, no plugin is being given up: it may be closed. [any]
    [[nodiscard]] bool is_idle() const;
    /// Every accepted trigger has had its turn. [any]
    [[nodiscard]] bool is_settled() const;
    /// What is kept of it when it is closed. [any]
    [[nodiscard]] DeskRest rest() const;
    /// Tells whoever listens that this object ends and another one goes on. [any]
    void tell_reloaded();
    /// Waits until queue and thread are idle. For the replay and tests. False at the deadline.
    /// [any] but [io], [desk]
    bool wait_idle(SteadyTime deadline);

    /// Thread: [any]. The listener runs on the desk's thread and must be short. Returns an id for
    /// unlisten.
    std::uint64_t listen(DeskListener listener);
    void unlisten(std::uint64_t id);
    [[nodiscard]] DeskStatus status() const;                  ///< [any]
    [[nodiscard]] std::vector<RunnerStatus> runners() const;  ///< [any]
    void retry_runner(const std::string& plugin);             ///< [any]
    /// Other plugins are in force: they are taken up as soon as no work is under way. [any]
    void look_at_plugins();

    // Reading, on any thread: these only read files.
    [[nodiscard]] const SessionStore& sessions() const noexcept;
    [[nodiscard]] const CheckpointStore& checkpoints() const noexcept;
    [[nodiscard]] const Journal& journal() const noexcept;
    [[nodiscard]] Result<std::string> read_own_file(const DeskPath& path) const;
    [[nodiscard]] std::map<std::string, ToolOffer> tools() const;

  private:
    struct Impl;
    explicit Desk(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace daybook
