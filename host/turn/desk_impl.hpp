// The inside of a desk; for its own .cpp files only.
//
// The desk's thread takes work in this order: records for the host's journal, the owner's tasks, a
// timed rollover, triggers. Mutexes, none held while another is taken but as said in
// desk_thread.hpp, and none while the disk or a plugin is called:
//   work_mutex   guards the "work" part        board_mutex  guards what status() shows
//   known_mutex  guards which triggers were accepted and settled
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/os/folder_watcher.hpp"
#include "host/turn/desk_parts.hpp"
#include "host/turn/desk_stores.hpp"
#include "host/turn/desk_thread.hpp"
#include "host/turn/edit_watch.hpp"
#include "host/turn/history_feed.hpp"
#include "host/turn/model_router.hpp"
#include "host/turn/recovery.hpp"
#include "host/turn/rollover.hpp"
#include "host/turn/session_keeper.hpp"
#include "host/turn/trigger_queue.hpp"
#include "host/turn/turn.hpp"

namespace daybook {

/// Reason on the board while the owner has paused the desk.
inline constexpr const char* kPausedByOwner =
    "paused by the owner; triggers wait until it is resumed";

struct Desk::Impl {
    Impl(const DeskServices& services_, DeskConfig config_, DeskStores stores_);
    ~Impl();
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    Impl(Impl&&) = delete;
    Impl& operator=(Impl&&) = delete;

    // --- what a turn waits for when it cannot start
    struct Hold {
        std::string state;  ///< "waiting for a model" or "paused"
        std::string reason;
        std::vector<ModelRefusal> refusals;
    };
    struct Task {
        std::function<void()> work, dropped;
    };

    // desk_recovery.cpp [main]
    Result<> recover();

    // desk_accept.cpp [any]
    Result<Accepted> accept(TurnKind kind, std::string text, std::string key, std::string name);
    /// A trigger of a plugin: in its name, and never more than half of the queue.
    Result<Json> accept_from_plugin(const HandOver& trigger);
    void note_settled(const std::string& trigger);
    void tell_paused(const std::string& trigger);
    // desk_pause.cpp [any]
    Result<Json> set_paused(bool on, const std::string& why);
    void keep_paused();  ///< [desk] in state.json

    // desk_work.cpp
    bool has_work();         ///< [any]
    SteadyTime next_look();  ///< [any]
    void run_one();          ///< [desk]; throws nothing
    void run_piece();
    void wake_thread();  ///< [any]
    /// Takes up what plugins are in force now; never while work is under way. [desk]
    void take_up_plugins();
    Desk::ToolAnswer run_owner_call(const std::string& tool, const std::string& arguments);
    /// Runs it; an exception becomes an error and a line in the log.
    template <typename T>
    Result<T> guarded(const std::string& what, const std::function<Result<T>()>& work) {
        try {
            return work();
        } catch (const std::exception& error) {
            return log_exception(what, error);
        }
    }
    Error log_exception(const std::string& what, const std::exception& error) const;
    TurnEnd run_turn(const Trigger& trigger, DeskDate day);
    void run_trigger();
    std::optional<Hold> prepare_turn(DeskDate& day);
    std::optional<Hold> check_disk();
    void hold(TriggerQueue::Taken taken, Hold hold);
    void run_rollover();
    /// In idle time: lets a model write again what the host had to extract. [desk]
    void redo_summary();  // desk_redo.cpp
    void write_host_records();
    void remember_settled_day();
    /// Says once a day that the calendar's list does not cover it. [desk]
    void note_calendar_end(DeskDate day);
    void update_board();
    void set_state(const std::string& state, const std::string& reason);
    /// What the board says now, to be put back after other work.
    [[nodiscard]] std::pair<std::string, std::string> state_now() const;
    [[nodiscard]] std::optional<Timestamp> session_opened() const;

    // desk_restore.cpp
    /// Runs on the desk's thread at the next moment when no write is under way: also in the middle
    /// of a turn, while a call is out. [any]
    void add_between_calls(Task task);
    void run_between_calls();  ///< [desk]
    void tell_notices();       ///< [desk]: what the gate has for the owner
    void tend_trash();         ///< [desk]

    // desk_edits.cpp
    /// From here on the owner's edits are noticed while the desk rests between turns. [main]
    void watch_edits();
    void renew_watch();    ///< [main], [desk]
    void look_at_edits();  ///< [desk]: makes them a checkpoint
    enum class EditState { none, changed, open };
    EditState edit_of(const std::string& path, bool mode, bool wait);  ///< [desk]

    void add_task(Task task);  ///< [any]
    void stop(std::chrono::milliseconds grace);

    const DeskServices services;
    const DeskConfig config;
    DeskStores stores;
    const SessionKeeper keeper;
    PluginSet plugins;                       // [desk]
    std::map<std::string, ToolOffer> tools;  // written by [desk] under tools_mutex
    mutable std::mutex tools_mutex;          // guards tools against readers of other threads
    DeskInbox inbox;
    DeskEvents events;
    TurnInterrupt interrupt;
    std::map<std::string, JsonSchema> schemas;  // [desk]
    std::uint64_t next_turn = 1;                // [desk]
    std::optional<DeskDate> uncovered_day;      // [desk] the last that was told of
    ContextMeter meter;                         // [desk]
    bool redo_is_over = false;                  // [desk] no summary waits to be written again
    int redo_wait = 0, redo_failures = 0;       // [desk] turns to let go by; failures in a row
    TriggerQueue queue;
    Runners runners;
    HistoryFeed history;
    DeskParts parts;
    ModelRouter router;  // [desk]

    std::atomic<bool> stopping{false};
    std::atomic<bool> in_turn{false};
    std::atomic<bool> paused{false};  ///< no trigger runs and no day ends; the owner's tasks do

    std::mutex work_mutex;
    std::deque<Task> tasks;
    std::deque<Task> between_calls;
    std::optional<SteadyTime> trash_due;  ///< when replaced files are to be looked at again
    std::deque<JournalEntry> host_records;
    bool clock_due = false;
    bool is_redoing = false;  ///< a trigger that comes now sets `interrupt`, under the mutex
    SteadyTime retry_at{};    ///< triggers are held until then
    std::chrono::milliseconds retry_delay{0};  ///< the last one; 0 = nothing is held

    mutable std::mutex board_mutex;
    DeskStatus board;
    std::optional<Timestamp> rollover_due;  ///< of the open session
    std::optional<DeskDate> board_day;

    std::mutex known_mutex;
    std::map<std::string, bool>
        known;  ///< accepted triggers of the last days, and whether each is settled

    std::unique_ptr<EditWatch> edits;               ///< none on a replayed clock
    std::unique_ptr<FolderWatcher::Root> watching;  ///< tells `edits`; goes first
    std::string unwatched;                          ///< [desk] why, as last logged

    DeskThread thread;  // last: everything above outlives it
};

}  // namespace daybook
