// What a desk's thread does.
#include <algorithm>

#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"
#include "host/turn/desk_impl.hpp"
#include "host/turn/owner_work.hpp"

namespace daybook {
namespace {

constexpr std::chrono::milliseconds kFirstRetry{1000};
constexpr std::chrono::milliseconds kLongestRetry{30000};
constexpr const char* kReadOnly = "read-only";
constexpr std::size_t kMaxWhat = 200;
constexpr std::size_t kMaxShownTool = 64;

std::string reasons_text(const std::vector<ModelRefusal>& refusals) {
    std::string text;
    for (const ModelRefusal& refusal : refusals) {
        text += (text.empty() ? "" : "; ") + refusal.model + (refusal.model.empty() ? "" : ": ") +
                refusal.reason;
    }
    return text;
}

}  // namespace

bool Desk::Impl::has_work() {
    const std::lock_guard lock(work_mutex);
    if (!tasks.empty() || !between_calls.empty() || !host_records.empty()) {
        return true;
    }
    if (paused) {
        return false;
    }
    if (clock_due) {
        return true;
    }
    return queue.waiting() > 0 && std::chrono::steady_clock::now() >= retry_at;
}

SteadyTime Desk::Impl::next_look() {
    const std::lock_guard lock(work_mutex);
    const bool held = !paused && queue.waiting() > 0 && std::chrono::steady_clock::now() < retry_at;
    return held ? retry_at : SteadyTime::max();
}

void Desk::Impl::wake_thread() {
    if (auto awake = thread.wake(); !awake) {
        // What was added stays, and goes on with the next that arrives.
        services.log(kLogError, awake.error().message() + " desk=" + config.name);
    }
}

Error Desk::Impl::log_exception(const std::string& what, const std::exception& error) const {
    // Its text may hold what a file or a message said: for the log only, and masked.
    services.log(kLogError,
                 what + ": internal: " + printable(mask_secrets(error.what()), kMaxWhat) +
                     " desk=" + config.name);
    return Error(Errc::internal, what + ": a fault of the host itself; its log says more");
}

void Desk::Impl::run_one() {
    try {
        run_piece();
    } catch (const std::exception& error) {
        static_cast<void>(log_exception("work of the desk", error));
        set_state("idle", "");
    }
    in_turn = false;
}

void Desk::Impl::run_piece() {
    run_between_calls();
    write_host_records();
    Task task;
    bool rollover = false;
    bool trigger = false;
    {
        const std::lock_guard lock(work_mutex);
        if (!tasks.empty()) {
            task = std::move(tasks.front());
            tasks.pop_front();
        } else if (!paused) {
            rollover = std::exchange(clock_due, false);
            trigger = std::chrono::steady_clock::now() >= retry_at;
        }
    }
    interrupt.clear();
    take_up_plugins();
    in_turn = true;
    if (task.work) {
        task.work();
    } else if (rollover) {
        run_rollover();
    } else if (trigger) {
        run_trigger();
    }
    in_turn = false;
    tell_notices();
    write_host_records();
    update_board();
    if (stores.gate->trash_waits()) {
        const std::lock_guard lock(work_mutex);
        trash_due = trash_due.value_or(std::chrono::steady_clock::now() + Trash::kKept);
    }
}

void Desk::Impl::take_up_plugins() {
    if (services.registry.version() == plugins.version()) {
        return;
    }
    PluginSet fresh = services.registry.in_force();
    auto fresh_tools = fresh.tools_of(config);
    plugins = std::move(fresh);
    {
        const std::lock_guard lock(tools_mutex);
        tools = std::move(fresh_tools);
    }
    schemas.clear();  // they may be another version's
    router.forget_all();
    runners.keep_only(plugins);
}

Desk::ToolAnswer Desk::Impl::run_owner_call(const std::string& tool, const std::string& arguments) {
    Desk::ToolAnswer answer;
    if (auto low = check_disk()) {
        answer.result =
            Error(low->state == kReadOnly ? Errc::unavailable : Errc::full, low->reason);
        return answer;
    }
    // A quiet evening's call belongs to the date it is made on, a closed day stays closed.
    DeskDate day = keeper.day_of(services.clock.now());
    if (const auto& open = stores.sessions->state().session_day) {
        day = std::max(day, *open);
    }
    // A trigger that waits goes on waiting: what it waits for stands on the board again after this.
    const auto [state, reason] = state_now();
    set_state("in turn", "the owner calls " + printable(mask_secrets(tool), kMaxShownTool));
    try {
        answer = call_tool_for_owner(parts, day, tool, arguments);
    } catch (const std::exception& error) {
        answer.result = log_exception("the owner's call", error);
    }
    set_state(state, reason);
    return answer;
}

void Desk::Impl::write_host_records() {
    std::deque<JournalEntry> records;
    {
        const std::lock_guard lock(work_mutex);
        records.swap(host_records);
    }
    for (JournalEntry& record : records) {
        if (auto written = services.host_journal.append(std::move(record)); !written) {
            services.log(kLogError,
                         "journal/_host: " + written.error().message() + " desk=" + config.name);
        }
    }
}

std::optional<Desk::Impl::Hold> Desk::Impl::check_disk() {
    if (stores.journal->failed()) {
        return Hold{kReadOnly,
                    "journal unavailable: a sync failed; look at the disk and restart the host",
                    {}};
    }
    if (const auto& broken = stores.sessions->broken()) {
        return Hold{kReadOnly, "session unavailable: " + *broken + "; restart the host", {}};
    }
    auto free = services.os.free_bytes(stores.home.get());
    if (!free) {
        return Hold{"paused", "free space is not known: " + free.error().message(), {}};
    }
    if (*free < services.config.host.min_free_bytes) {
        return Hold{"paused",
                    "low on disk space: " + std::to_string(*free >> 20U) +
                        " MiB free, host.min_free_bytes is " +
                        std::to_string(services.config.host.min_free_bytes >> 20U) + " MiB",
                    {}};
    }
    return std::nullopt;
}

/// Makes sure that the right session is open. Nothing is lost when it fails: the next try goes on
/// from there.
std::optional<Desk::Impl::Hold> Desk::Impl::prepare_turn(DeskDate& day) {
    if (auto low = check_disk()) {
        return low;
    }
    Rollover rollover(parts, router);
    const DeskState& state = stores.sessions->state();
    KeeperPlan plan = keeper.plan(state, session_opened(), services.clock.now());
    if (plan.step == KeeperPlan::Step::roll_over) {
        set_state("in turn", "rolling over session " + state.session);
        redo_is_over = false;
        if (auto done = rollover.run(plan.why); !done) {
            return Hold{"paused", done.error().message(), {}};
        }
        plan = keeper.plan(state, session_opened(), services.clock.now());
    }
    const auto opened = plan.step == KeeperPlan::Step::open ? rollover.open_session(plan.day)
                                                            : rollover.record_opened();
    if (!opened) {
        return Hold{"paused", opened.error().message(), {}};
    }
    day = plan.day;
    note_calendar_end(day);
    return std::nullopt;
}

void Desk::Impl::note_calendar_end(DeskDate day) {
    if (stores.calendar.covers(day) || uncovered_day == day) {
        return;
    }
    uncovered_day = day;
    services.log(kLogWarn, stores.calendar.end_note(day) + " desk=" + config.name);
}

TurnEnd Desk::Impl::run_turn(const Trigger& trigger, DeskDate day) {
    Turn turn(parts, router, trigger, day);
    try {
        return turn.run();
    } catch (const std::exception& error) {
        const Error reason = log_exception("turn", error);
        try {
            return turn.fail(reason);
        } catch (const std::exception& again) {
            TurnEnd waiting;
            waiting.reason = log_exception("end a turn", again).message();
            return waiting;
        }
    }
}

void Desk::Impl::run_trigger() {
    auto taken = queue.take();
    if (!taken) {
        return;
    }
    set_state("in turn", "");
    DeskDate day;
    std::optional<Hold> held;
    try {
        held = prepare_turn(day);
    } catch (const std::exception& error) {
        held = Hold{"paused", log_exception("prepare a turn", error).message(), {}};
    }
    if (held) {
        hold(std::move(*taken), std::move(*held));
        return;
    }
    update_board();
    const TurnEnd end = run_turn(taken->trigger, day);
    if (end.kind == TurnEnd::Kind::waiting) {
        const bool no_model = !end.refusals.empty();
        hold(std::move(*taken),
             Hold{no_model ? "waiting for a model" : "paused",
                  no_model ? reasons_text(end.refusals) : end.reason,
                  end.refusals});
        return;
    }
    note_settled(taken->trigger.id);
    queue.settle();
    {
        const std::lock_guard lock(work_mutex);
        retry_at = {};
        retry_delay = {};
    }
    {
        const std::lock_guard lock(board_mutex);
        board.model = end.model;
        board.window = end.window;
        board.context_tokens = end.context_tokens > 0 ? end.context_tokens : board.context_tokens;
    }
    remember_settled_day();
    set_state("idle", "");
    if (end.kind == TurnEnd::Kind::completed) {
        redo_summary();
    }
}

void Desk::Impl::hold(TriggerQueue::Taken taken, Hold hold) {
    const std::string id = taken.trigger.id;
    queue.put_back(std::move(taken));
    if (interrupt.is_stopping()) {
        return;
    }
    {
        const std::lock_guard lock(work_mutex);
        retry_delay = std::clamp(retry_delay * 2, kFirstRetry, kLongestRetry);
        retry_at = std::chrono::steady_clock::now() + retry_delay;
    }
    set_state(hold.state, hold.reason);
    Json reasons = Json::array();
    for (const ModelRefusal& refusal : hold.refusals) {
        reasons.push(Json::object().set("model", refusal.model).set("reason", refusal.reason));
    }
    // Everybody behind it waits for the same thing.
    for (const std::string& waiting : queue.ids()) {
        events.emit("waiting",
                    Json::object()
                        .set("trigger", waiting)
                        .set("state", hold.state)
                        .set("reason", hold.reason)
                        .set("models", reasons)
                        .set("first", waiting == id));
    }
}

void Desk::Impl::run_rollover() {
    const auto due = keeper.due(stores.sessions->state(), session_opened());
    if (!due || services.clock.now() < *due) {
        return;
    }
    const auto [state, reason] = state_now();
    set_state("in turn", "rolling over session " + stores.sessions->state().session);
    redo_is_over = false;
    const auto done = Rollover(parts, router).run("time");
    if (!done && !interrupt.is_stopping()) {
        services.log(kLogError, "rollover: " + done.error().message() + " desk=" + config.name);
        set_state("paused", done.error().message());
        return;
    }
    // A trigger that was held goes on waiting for what it waited for.
    const bool still_held = queue.waiting() > 0 && state != "in turn";
    set_state(still_held ? state : "idle", still_held ? reason : "");
}

void Desk::Impl::remember_settled_day() {
    const std::string today = stores.journal->today().str();
    if (stores.sessions->state().settled_day == today || !queue.is_settled()) {
        return;
    }
    DeskState state = stores.sessions->state();
    state.settled_day = today;
    state.next_turn = next_turn;
    if (auto saved = stores.sessions->save_state(std::move(state)); !saved) {
        // Only a convenience: the next start reads a day more.
        services.log(kLogError, saved.error().message() + " desk=" + config.name);
    }
}

std::optional<Timestamp> Desk::Impl::session_opened() const {
    const auto& lines = stores.sessions->conversation();
    return lines.empty() ? std::nullopt : std::optional(lines.front().ts);
}

void Desk::Impl::set_state(const std::string& state, const std::string& reason) {
    const std::lock_guard lock(board_mutex);
    board.state = state;
    board.reason = reason;
}

std::pair<std::string, std::string> Desk::Impl::state_now() const {
    const std::lock_guard lock(board_mutex);
    return {board.state, board.reason};
}

void Desk::Impl::update_board() {
    const DeskState& state = stores.sessions->state();
    const auto opened = session_opened();
    const auto due = keeper.due(state, opened);
    const auto read_only = stores.gate->read_only_reason();
    const std::lock_guard lock(board_mutex);
    board.session = state.session;
    board_day = state.session_day;
    board.context_tokens = state.session.empty() ? 0 : board.context_tokens;
    rollover_due = due;
    if (read_only && board.state == "idle") {
        board.state = kReadOnly;
        board.reason = *read_only;
    }
}

void Desk::Impl::add_task(Task task) {
    bool dropped = true;
    const auto awake = thread.wake();
    {
        const std::lock_guard lock(work_mutex);
        if (!stopping && awake) {
            tasks.push_back(task);
            dropped = false;
        }
    }
    if (dropped) {
        task.dropped();
        return;
    }
    wake_thread();
}

void Desk::Impl::stop(std::chrono::milliseconds grace) {
    {
        const std::lock_guard lock(work_mutex);  // add_task() looks at it under the mutex
        stopping = true;
    }
    thread.close();
    if (!thread.wait_ended(std::chrono::steady_clock::now() + grace)) {
        interrupt.set_stopping();
    }
    thread.join();
    watching.reset();
    edits.reset();
    std::deque<Task> left;
    std::deque<Task> between;
    {
        const std::lock_guard lock(work_mutex);
        left.swap(tasks);
        between.swap(between_calls);
    }
    for (Task& task : between) {
        task.dropped();
    }
    for (Task& task : left) {
        task.dropped();
    }
    runners.clear();
    write_host_records();
}

}  // namespace daybook
