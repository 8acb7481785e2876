#include "host/turn/desk.hpp"

#include <algorithm>

#include "host/gate/content_rules.hpp"
#include "host/turn/desk_impl.hpp"
#include "host/turn/desk_rest.hpp"
#include "host/turn/owner_work.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxHostRecords = 256;
constexpr const char* kNoThread = "the desk is stopping, or the system gives it no thread";

TimeOfDay rollover_of(const DeskConfig& config, const Calendar& calendar) {
    return config.rollover ? *config.rollover : calendar.default_rollover().value_or(TimeOfDay{0});
}

}  // namespace

Json DeskStatus::to_json() const {
    Json json = Json::object();
    json.set("name", name).set("state", state);
    if (!reason.empty()) {
        json.set("reason", reason);
    }
    json.set("session", session.empty() ? Json() : Json(session))
        .set("zone", zone)
        .set("calendar", calendar);
    if (paused) {
        json.set("paused", true);
    }
    json.set("model", model.empty() ? Json() : Json(model)).set("queued", queued);
    json.set("context_tokens", context_tokens)
        .set("window", window)
        .set("notes_today", notes_today);
    json.set("memory_bytes", static_cast<std::int64_t>(memory_bytes));
    if (!calendar_note.empty()) {
        json.set("calendar_note", calendar_note);
    }
    return json.set("next_rollover", next_rollover.empty() ? Json() : Json(next_rollover));
}

Desk::Impl::Impl(const DeskServices& services_, DeskConfig config_, DeskStores stores_)
    : services(services_),
      config(std::move(config_)),
      stores(std::move(stores_)),
      keeper(stores.calendar, stores.zone, rollover_of(config, stores.calendar)),
      plugins(services.registry.in_force()),
      tools(plugins.tools_of(config)),
      events(config.name),
      queue(services.config.host.queue_limit),
      runners(services,
              config,
              stores.zone.name(),
              inbox,
              [this](JournalEntry entry) {
                  {
                      const std::lock_guard lock(work_mutex);
                      if (host_records.size() >= kMaxHostRecords) {
                          services.log(
                              kLogWarn,
                              "a record for journal/_host was dropped: too many wait desk=" +
                                  config.name);
                          return;
                      }
                      host_records.push_back(std::move(entry));
                  }
                  wake_thread();
              }),
      history(services.os,
              stores.home.get(),
              stores.desk_dir.get(),
              config.name,
              *stores.journal,
              *stores.sessions),
      parts{services,
            config,
            stores.calendar,
            stores.zone,
            *stores.journal,
            *stores.sessions,
            *stores.checkpoints,
            *stores.gate,
            runners,
            inbox,
            events,
            interrupt,
            plugins,
            tools,
            schemas,
            next_turn,
            meter,
            history,
            [this](const HandOver& trigger) { return accept_from_plugin(trigger); }},
      router(parts),
      thread(inbox,
             DeskWork{[this] { return has_work(); },
                      [this] { run_one(); },
                      [this] { return next_look(); },
                      [this](const std::exception& error) {
                          static_cast<void>(log_exception("the desk's thread", error));
                      }}) {
    board.name = config.name;
    board.state = "idle";
    board.zone = stores.zone.name();
    board.calendar = stores.calendar.id();
    board.model = stores.sessions->state().last_model;
    board.context_tokens = stores.sessions->state().context_tokens;
}

Desk::Impl::~Impl() {
    stop(std::chrono::milliseconds(0));
}

Desk::Desk(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Desk::~Desk() = default;

Result<std::unique_ptr<Desk>> Desk::open(const DeskServices& services, const DeskConfig& config) {
    auto stores = DeskStores::open(services, config);
    if (!stores) {
        return stores.error().during("open desk " + config.name);
    }
    // From here on something may become pending.
    if (auto lifted = lift_mark(services.os, stores->home.get(), config.name); !lifted) {
        return lifted.error().during("open desk " + config.name);
    }
    auto impl = std::make_unique<Impl>(services, config, std::move(*stores));
    if (auto recovered = impl->recover(); !recovered) {
        return recovered.error().during("open desk " + config.name);
    }
    impl->watch_edits();
    std::unique_ptr<Desk> desk(new Desk(std::move(impl)));
    if (desk->impl_->queue.waiting() > 0) {
        desk->impl_->wake_thread();
    }
    desk->check_clock();  // a rollover that was cut, or missed
    return desk;
}

const std::string& Desk::name() const noexcept {
    return impl_->config.name;
}

const DeskConfig& Desk::config() const noexcept {
    return impl_->config;
}

const Calendar& Desk::calendar() const noexcept {
    return impl_->stores.calendar;
}

const Zone& Desk::zone() const noexcept {
    return impl_->stores.zone;
}

Result<Accepted> Desk::accept(TurnKind kind, std::string text, std::string key, std::string name) {
    return impl_->accept(kind, std::move(text), std::move(key), std::move(name));
}

void Desk::run(std::function<void()> work, std::function<void()> dropped) {
    impl_->add_task({std::move(work), std::move(dropped)});
}

void Desk::call_tool(std::string tool,
                     std::string arguments,
                     std::function<void(ToolAnswer)> done) {
    Impl* impl = impl_.get();
    impl->add_task({[impl, tool = std::move(tool), arguments = std::move(arguments), done] {
                        done(impl->run_owner_call(tool, arguments));
                    },
                    [done] {
                        ToolAnswer answer;
                        answer.result = Error(Errc::unavailable, kNoThread);
                        done(std::move(answer));
                    }});
}

void Desk::take_checkpoint(std::string reason, std::function<void(Result<Json>)> done) {
    Impl* impl = impl_.get();
    impl->add_task({[impl, reason = std::move(reason), done] {
                        done(impl->guarded<Json>("take a checkpoint", [&] {
                            return take_checkpoint_for_owner(impl->parts, reason);
                        }));
                    },
                    [done] { done(Error(Errc::unavailable, kNoThread)); }});
}

void Desk::hold_still(std::function<Result<>()> work, std::function<void(Result<>)> done) {
    Impl* impl = impl_.get();
    impl->add_task({[impl, work = std::move(work), done] {
                        auto outcome = impl->guarded<Json>("hold still", [&]() -> Result<Json> {
                            // What only the record log holds is brought into the repository.
                            auto worked = impl->stores.checkpoints->publish();
                            if (worked) {
                                worked = work();
                            }
                            return worked ? Result<Json>(Json()) : worked.error();
                        });
                        done(outcome ? Result<>() : Result<>(outcome.error()));
                    },
                    [done] { done(Error(Errc::unavailable, kNoThread)); }});
}

void Desk::check_clock() {
    bool trash_is_due = false;
    {
        const std::lock_guard lock(impl_->work_mutex);
        trash_is_due = impl_->trash_due && *impl_->trash_due <= std::chrono::steady_clock::now();
        if (trash_is_due) {
            impl_->trash_due.reset();
        }
    }
    if (trash_is_due) {
        Impl* impl = impl_.get();
        impl->add_between_calls({[impl] { impl->tend_trash(); }, [] {}});
    }
    if (impl_->paused) {
        return;  // caught up when it is resumed
    }
    {
        const std::lock_guard lock(impl_->board_mutex);
        if (!impl_->rollover_due || impl_->services.clock.now() < *impl_->rollover_due) {
            return;
        }
    }
    {
        const std::lock_guard lock(impl_->work_mutex);
        impl_->clock_due = true;
    }
    impl_->wake_thread();
}

bool Desk::interrupt(const std::string& why) {
    const bool runs = impl_->in_turn;
    if (runs) {
        impl_->interrupt.set(why);
    }
    return runs;
}

Result<Json> Desk::set_paused(bool on, const std::string& why) {
    return impl_->set_paused(on, why);
}

void Desk::cut() {
    impl_->interrupt.set_stopping();
}

void Desk::stop(std::chrono::milliseconds grace) {
    impl_->stop(grace);
}

bool Desk::wait_idle(SteadyTime deadline) {
    return impl_->thread.wait_idle(deadline);
}

std::uint64_t Desk::listen(DeskListener listener) {
    return impl_->events.listen(std::move(listener));
}

void Desk::unlisten(std::uint64_t id) {
    impl_->events.unlisten(id);
}

DeskStatus Desk::status() const {
    DeskStatus status;
    std::optional<DeskDate> day;
    std::optional<Timestamp> due;
    {
        const std::lock_guard lock(impl_->board_mutex);
        status = impl_->board;
        day = impl_->board_day;
        due = impl_->rollover_due;
    }
    status.queued = impl_->queue.waiting();
    status.paused = impl_->paused;
    if (status.paused && !impl_->in_turn && status.state != "read-only") {
        status.state = "paused";
        status.reason = kPausedByOwner;
    }
    const Timestamp now = impl_->services.clock.now();
    if (!due) {
        due = impl_->keeper.next_due(now);
    }
    status.next_rollover = due && *due > Timestamp{} ? impl_->stores.zone.local(*due) : "";
    // A replayed day lies behind or before the list's end as the feed has it: nobody can mend that.
    status.calendar_note = impl_->services.clock.is_replayed()
                               ? ""
                               : impl_->stores.calendar.end_note(impl_->stores.zone.date_of(now));
    const auto notes =
        DeskPath::parse("notes/" + day.value_or(impl_->keeper.day_of(now)).str() + ".md");
    const auto memory = DeskPath::parse("Memory.md");
    if (const auto text = notes ? read_own_file(*notes) : Result<std::string>(notes.error())) {
        for (std::size_t line = 0; line < text->size(); line = text->find('\n', line) + 1) {
            status.notes_today += text->compare(line, 2, "- ") == 0 ? 1U : 0U;
            if (text->find('\n', line) == std::string::npos) {
                break;
            }
        }
    }
    if (const auto text = memory ? read_own_file(*memory) : Result<std::string>(memory.error())) {
        status.memory_bytes = text->size();
    }
    return status;
}

bool Desk::is_settled() const {
    return impl_->queue.is_settled() && !impl_->stores.journal->failed();
}

bool Desk::is_idle() const {
    const auto gives_up = [](const RunnerStatus& runner) {
        return runner.state == RunnerState::backoff || runner.state == RunnerState::open_breaker ||
               runner.state == RunnerState::refused;
    };
    const auto all = runners();
    return !impl_->thread.is_running() && !impl_->in_turn && !impl_->has_work() &&
           impl_->next_look() == SteadyTime::max() && is_settled() &&
           !impl_->stores.gate->read_only_reason() && !impl_->events.is_watched() &&
           std::none_of(all.begin(), all.end(), gives_up);
}

DeskRest Desk::rest() const {
    DeskRest rest;
    rest.status = status();
    if (rest.status.state != "paused") {
        rest.status.state = "idle";
        rest.status.reason.clear();
    }
    const std::lock_guard lock(impl_->board_mutex);
    rest.due = impl_->rollover_due;
    return rest;
}

void Desk::tell_reloaded() {
    impl_->events.emit("reloaded", Json::object());
}

std::vector<RunnerStatus> Desk::runners() const {
    return impl_->runners.statuses();
}

void Desk::retry_runner(const std::string& plugin) {
    impl_->runners.retry(plugin);
}

void Desk::look_at_plugins() {
    impl_->add_task({[] {}, [] {}});  // each piece of work begins with the look
}

const SessionStore& Desk::sessions() const noexcept {
    return *impl_->stores.sessions;
}

const CheckpointStore& Desk::checkpoints() const noexcept {
    return *impl_->stores.checkpoints;
}

const Journal& Desk::journal() const noexcept {
    return *impl_->stores.journal;
}

Result<std::string> Desk::read_own_file(const DeskPath& path) const {
    return read_file(impl_->services.os, impl_->stores.desk_dir.get(), path.str(), kMaxOtherFile);
}

std::map<std::string, ToolOffer> Desk::tools() const {
    const std::lock_guard lock(impl_->tools_mutex);
    return impl_->tools;
}

}  // namespace daybook
