// Pausing a desk and going on: the owner's word, journalled first and kept over a restart.
#include "host/gate/content_rules.hpp"
#include "host/turn/desk_impl.hpp"

namespace daybook {

Result<Json> Desk::Impl::set_paused(bool on, const std::string& why) {
    Json answer = Json::object();
    answer.set("desk", config.name).set("paused", on).set("changed", paused != on);
    answer.set("queued", queue.waiting());
    if (stopping) {
        return Error(Errc::unavailable, "desk " + config.name + " is stopping");
    }
    if (paused == on) {
        return answer;
    }
    Json data = Json::object();
    data.set("what", on ? "paused" : "resumed").set("queued", queue.waiting());
    if (!why.empty()) {
        data.set("reason", mask_secrets(why));
    }
    auto record = stores.journal->append(DeskParts::entry("desk", "", "", std::move(data)));
    if (!record) {
        return record.error().during(on ? "pause desk " + config.name
                                        : "resume desk " + config.name);
    }
    paused = on;
    if (on) {
        for (const std::string& waiting : queue.ids()) {
            tell_paused(waiting);
        }
    } else {
        const std::lock_guard lock(work_mutex);
        retry_at = {};
        clock_due = true;  // a day may have ended meanwhile
    }
    add_task({[this] { keep_paused(); }, [] {}});
    return answer;
}

void Desk::Impl::keep_paused() {
    DeskState state = stores.sessions->state();
    state.paused = paused;
    state.next_turn = next_turn;
    if (auto saved = stores.sessions->save_state(std::move(state)); !saved) {
        // The journal has it: only a desk whose files of the last days are gone would forget.
        services.log(kLogWarn, saved.error().message() + " desk=" + config.name);
    }
}

void Desk::Impl::tell_paused(const std::string& trigger) {
    events.emit("waiting",
                Json::object()
                    .set("trigger", trigger)
                    .set("state", "paused")
                    .set("reason", kPausedByOwner)
                    .set("models", Json::array())
                    .set("first", false));
}

}  // namespace daybook
