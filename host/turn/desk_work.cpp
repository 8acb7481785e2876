// What a desk's thread does.
#include <algorithm>

#include "host/turn/desk_impl.hpp"
#include "host/turn/owner_work.hpp"

namespace daybook {
namespace {

constexpr std::chrono::milliseconds kFirstRetry{1000};
constexpr std::chrono::milliseconds kLongestRetry{30000};
constexpr int kLogError = 3;

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
    if (!tasks.empty() || !host_records.empty() || clock_due) {
        return true;
    }
    return queue.waiting() > 0 && std::chrono::steady_clock::now() >= retry_at;
}

SteadyTime Desk::Impl::next_look() {
    const std::lock_guard lock(work_mutex);
    const bool held = queue.waiting() > 0 && std::chrono::steady_clock::now() < retry_at;
    return held ? retry_at : SteadyTime::max();
}

void Desk::Impl::run_one() {
    write_host_records();
    Task task;
    bool rollover = false;
    bool trigger = false;
    {
        const std::lock_guard lock(work_mutex);
        if (!tasks.empty()) {
            task = std::move(tasks.front());
            tasks.pop_front();
        } else {
            rollover = std::exchange(clock_due, false);
            trigger = std::chrono::steady_clock::now() >= retry_at;
        }
    }
    interrupt.clear();
    in_turn = true;
    if (task.work) {
        task.work();
    } else if (rollover) {
        run_rollover();
    } else if (trigger) {
        run_trigger();
    }
    in_turn = false;
    write_host_records();
    update_board();
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
        return Hold{"read-only",
                    "journal unavailable: a sync failed; look at the disk and restart the host",
                    {}};
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
        if (auto done = rollover.run(plan.why); !done) {
            return Hold{"paused", done.error().message(), {}};
        }
        plan = keeper.plan(state, session_opened(), services.clock.now());
    }
    if (plan.step == KeeperPlan::Step::open) {
        if (auto opened = rollover.open_session(plan.day); !opened) {
            return Hold{"paused", opened.error().message(), {}};
        }
    }
    day = plan.day;
    return std::nullopt;
}

void Desk::Impl::run_trigger() {
    auto taken = queue.take();
    if (!taken) {
        return;
    }
    set_state("in turn", "");
    DeskDate day;
    if (auto held = prepare_turn(day)) {
        hold(std::move(*taken), std::move(*held));
        return;
    }
    update_board();
    const TurnEnd end = Turn(parts, router, taken->trigger, day).run();
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
    set_state("in turn", "rolling over session " + stores.sessions->state().session);
    const auto done = Rollover(parts, router).run("time");
    if (!done && !interrupt.is_stopping()) {
        services.log(kLogError, "rollover: " + done.error().message() + " desk=" + config.name);
        set_state("paused", done.error().message());
        return;
    }
    set_state("idle", "");
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
        board.state = "read-only";
        board.reason = *read_only;
    }
}

void Desk::Impl::add_task(Task task) {
    bool dropped = true;
    {
        const std::lock_guard lock(work_mutex);
        if (!stopping) {
            tasks.push_back(task);
            dropped = false;
        }
    }
    if (dropped) {
        task.dropped();
        return;
    }
    thread.wake();
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
    std::deque<Task> left;
    {
        const std::lock_guard lock(work_mutex);
        left.swap(tasks);
    }
    for (Task& task : left) {
        task.dropped();
    }
    runners.clear();
    write_host_records();
}

}  // namespace daybook
