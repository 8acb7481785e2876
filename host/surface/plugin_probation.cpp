// After a swap: the new file is watched, and the one before it is put back when it crashes.
#include <atomic>
#include <utility>

#include "host/surface/host.hpp"
#include "host/surface/plugin_control.hpp"

namespace daybook {
namespace {

std::uint64_t answered_of(const PluginEntry& entry) {
    return entry.answered ? entry.answered->load() : 0;
}

}  // namespace

void PluginControl::begin_probation_locked(const PluginEntry& entry) {
    probations_[entry.config.name] = {
        &entry, std::chrono::steady_clock::now(), answered_of(entry), ""};
}

Json PluginControl::probation_of(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = probations_.find(name);
    if (found == probations_.end()) {
        return {};
    }
    const auto state = states_.find(name);
    return Json::object()
        .set("since", state == states_.end() ? std::string() : state->second.probation_since)
        .set("answered",
             static_cast<std::int64_t>(answered_of(*found->second.entry) -
                                       found->second.answered_before))
        .set("wanted", static_cast<std::int64_t>(limits_.calls));
}

void PluginControl::on_runner(const PluginEntry& entry,
                              const std::string& what,
                              const RunnerStatus& status) {
    if (what == "started" || what == "stopped") {
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        const auto found = probations_.find(entry.config.name);
        if (found == probations_.end() || found->second.entry != &entry ||
            !found->second.due.empty()) {
            return;
        }
        found->second.due = what + " on desk " + status.desk + ": " + status.reason;
    }
    // The I/O thread starts nothing itself. Without room the next tick() sees to it.
    static_cast<void>(host_.worker().post([this] { start_due(); }));
}

void PluginControl::start_due() {
    std::vector<std::pair<std::string, std::string>> due;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [name, probation] : probations_) {
            if (!probation.due.empty()) {
                due.emplace_back(name, probation.due);
            }
        }
    }
    for (const auto& [name, why] : due) {
        // One that runs already, or finds no room, is begun by a later tick().
        static_cast<void>(host_.jobs().start(
            "plugin rollback " + name,
            [this, name = name, why = why](auto&) { roll_back_due(name, why); }));
    }
}

void PluginControl::roll_back_due(const std::string& name, const std::string& why) {
    const Turn turn(*this);
    if (!turn.taken()) {
        return;
    }
    const PluginEntry* entry = nullptr;
    {
        const std::lock_guard lock(mutex_);
        const auto found = probations_.find(name);
        if (found == probations_.end() || found->second.due.empty()) {
            return;  // something else took its place meanwhile
        }
        entry = found->second.entry;
    }
    if (host_.registry().find(name) != entry) {
        return;
    }
    auto done = put_back(name, "while on probation it " + why);
    if (done) {
        return;
    }
    // It stays, with its back-off and its breaker; nothing is tried again by itself.
    PluginState state = state_of(name);
    state.probation_since.clear();
    state.last = "on probation it " + why +
                 "; the file before it could not be put back: " + done.error().message();
    static_cast<void>(keep(name, state));
    {
        const std::lock_guard lock(mutex_);
        probations_.erase(name);
    }
    host_.log().error("plugin rollback failed plugin=" + name +
                      " reason=" + done.error().message());
    tell(name, "rollback_failed", Json::object().set("reason", done.error().message()));
}

void PluginControl::tick() {
    start_due();
    std::vector<std::string> passed;
    {
        const std::lock_guard lock(mutex_);
        if (taken_) {
            return;  // the next one looks again
        }
        const auto now = std::chrono::steady_clock::now();
        for (const auto& [name, probation] : probations_) {
            const bool enough =
                answered_of(*probation.entry) - probation.answered_before >= limits_.calls;
            if (probation.due.empty() && enough && now - probation.since >= limits_.time) {
                passed.push_back(name);
            }
        }
        for (const std::string& name : passed) {
            probations_.erase(name);
        }
    }
    for (const std::string& name : passed) {
        PluginState state = state_of(name);
        state.probation_since.clear();
        if (auto kept = keep(name, state); !kept) {
            host_.log().error("plugins.state was not written reason=" + kept.error().message());
        }
        tell(name, "probation_passed", Json::object());
    }
}

}  // namespace daybook
