#include "host/surface/plugin_control.hpp"

#include <algorithm>
#include <utility>

#include "host/format/manifest.hpp"
#include "host/plugin/plugin_file.hpp"
#include "host/surface/host.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{30};
constexpr std::size_t kShortHash = 12;

std::string short_of(const std::string& sha256) {
    return sha256.empty() ? "nothing" : sha256.substr(0, kShortHash);
}

PluginVersion version_of(const PluginEntry& entry) {
    return {entry.sha256, entry.manifest.version, entry.file.string()};
}

Json outcome(const PluginEntry& now, const std::string& from, bool changed) {
    return Json::object()
        .set("plugin", now.config.name)
        .set("changed", changed)
        .set("version", now.manifest.version)
        .set("sha256", now.sha256)
        .set("file", now.file.string())
        .set("from", from);
}

}  // namespace

PluginControl::Turn::Turn(PluginControl& control) : control_(control) {
    std::unique_lock lock(control_.mutex_);
    held_ = control_.freed_.wait_for(lock, kPatience, [&] { return !control_.taken_; });
    control_.taken_ = control_.taken_ || held_;
}

PluginControl::Turn::~Turn() {
    if (!held_) {
        return;
    }
    {
        const std::lock_guard lock(control_.mutex_);
        control_.taken_ = false;
    }
    control_.freed_.notify_one();
}

Result<> PluginControl::Turn::taken() const {
    return held_ ? Result<>()
                 : Result<>(Error(Errc::busy, "another plugin is being put in force; try again"));
}

Result<> PluginControl::open() {
    auto loaded = load_plugin_states(host_.needs().os, host_.needs().state.dir());
    if (!loaded) {
        return loaded.error();
    }
    states_ = std::move(loaded->states);
    note_ = std::move(loaded->note);
    return {};
}

void PluginControl::resume() {
    if (!note_.empty()) {
        host_.log().error(note_);
        host_.record("plugin", Json::object().set("what", "states_damaged").set("text", note_));
    }
    PluginStates states = this->states();
    bool is_new = false;
    for (auto& [name, state] : states) {
        const PluginEntry* entry = host_.registry().find(name);
        if (entry == nullptr || entry->sha256.empty() || !state.current) {
            continue;
        }
        if (entry->sha256 != state.current->sha256) {
            // Another file lay on the plugin path at this start; a rollback goes to the one before.
            state.previous = std::exchange(state.current, version_of(*entry));
            state.pinned = false;
            state.passed_over.clear();
            state.probation_since.clear();
            is_new = true;
        } else if (!state.probation_since.empty() && entry->refused.empty()) {
            const std::lock_guard lock(mutex_);
            begin_probation_locked(*entry);
        }
    }
    if (is_new) {
        const auto saved = save_plugin_states(host_.needs().os, host_.needs().state.dir(), states);
        if (!saved) {
            host_.log().error("plugins.state was not written reason=" + saved.error().message());
            return;
        }
        const std::lock_guard lock(mutex_);
        states_ = std::move(states);
    }
}

PluginStates PluginControl::states() const {
    const std::lock_guard lock(mutex_);
    return states_;
}

PluginState PluginControl::state_of(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto found = states_.find(name);
    return found == states_.end() ? PluginState{} : found->second;
}

Result<const PluginEntry*> PluginControl::find(const std::string& name) const {
    if (const PluginEntry* entry = host_.registry().find(name)) {
        return entry;
    }
    return Error(Errc::not_found,
                 "no plugin " + name +
                     " in the configuration; add it to the plugins of a desk, or say which one the "
                     "file is to be: daybook plugin load FILE NAME");
}

Result<PluginEntry> PluginControl::read(const PluginConfig& plugin, PluginStates states) const {
    return Registry::read_entry(host_.needs().os, host_.plugin_places(std::move(states)), plugin);
}

std::string PluginControl::now_text() const {
    return to_rfc3339(host_.clock().now());
}

Result<> PluginControl::keep(const std::string& name, const PluginState& state) {
    PluginStates states = this->states();
    states[name] = state;
    auto saved = save_plugin_states(host_.needs().os, host_.needs().state.dir(), states);
    if (saved) {
        const std::lock_guard lock(mutex_);
        states_ = std::move(states);
    }
    return saved;
}

void PluginControl::tell(const std::string& name, const char* what, Json data) const {
    Json record = Json::object().set("what", what).set("plugin", name);
    std::string line = std::string("plugin ") + what + " plugin=" + name;
    for (const auto& [key, value] : data.members()) {
        line += " " + key + "=\"" + (value.is_string() ? value.as_string() : value.dump()) + "\"";
        record.set(key, value);
    }
    host_.log().info(line);
    host_.record("plugin", std::move(record));
}

void PluginControl::flip(PluginEntry entry, bool on_probation) {
    const PluginEntry* now = host_.put_plugin(std::move(entry));
    {
        const std::lock_guard lock(mutex_);
        probations_.erase(now->config.name);
        if (on_probation) {
            begin_probation_locked(*now);
        }
    }
    for (Desk* desk : host_.desks()) {
        desk->look_at_plugins();
    }
}

Result<Json> PluginControl::load(const fs::path& file, std::string name) {
    const Turn turn(*this);
    if (auto taken = turn.taken(); !taken) {
        return taken.error();
    }
    if (!file.is_absolute()) {
        return Error(Errc::invalid, "file " + file.string() + ": an absolute path is wanted");
    }
    std::error_code missing;
    const fs::path found = fs::canonical(file, missing);
    if (missing) {
        return Error(Errc::not_found, "file " + file.string() + ": " + missing.message());
    }
    if (name.empty()) {
        const auto bytes = read_plugin_file(host_.needs().os, found);
        const auto note = bytes ? read_manifest_note(*bytes) : Result<std::string>(bytes.error());
        const auto manifest = note ? Json::parse(*note) : Result<Json>(note.error());
        if (!manifest) {
            return manifest.error().during("load " + found.string());
        }
        name = (*manifest)["name"].as_string();
    }
    auto known = find(name);
    if (!known) {
        return known.error();
    }
    PluginConfig plugin = (*known)->config;
    plugin.file = found.string();
    PluginStates states = this->states();
    states.erase(name);
    auto fresh = read(plugin, std::move(states));
    if (!fresh) {
        return fresh.error();
    }
    fresh->config = (*known)->config;
    return swap(std::move(*fresh), "loaded from " + found.string());
}

Result<Json> PluginControl::reload(const std::string& name) {
    const Turn turn(*this);
    auto taken = turn.taken();
    auto known = taken ? find(name) : Result<const PluginEntry*>(taken.error());
    if (!known) {
        return known.error();
    }
    PluginStates states = this->states();
    states.erase(name);
    auto fresh = read((*known)->config, std::move(states));
    return fresh ? swap(std::move(*fresh), "reloaded") : Result<Json>(fresh.error());
}

/// From a fresh entry to one in force. The caller has the turn.
Result<Json> PluginControl::swap(PluginEntry fresh, const std::string& why) {
    const std::string name = fresh.config.name;
    const PluginEntry* before = host_.registry().find(name);
    const bool was_fine = before != nullptr && before->refused.empty();
    const std::string from = was_fine ? before->sha256 : std::string();
    Result<> proved =
        fresh.refused.empty() ? Result<>() : Result<>(Error(Errc::refused, fresh.refused));
    if (proved && was_fine && from == fresh.sha256) {
        return outcome(*before, from, false);
    }
    proved = proved ? prove(fresh, host_.config()) : proved;
    PluginState state = state_of(name);
    if (!proved) {
        const std::string stays =
            was_fine ? "; version " + before->manifest.version + " (" + short_of(from) + ") stays"
                     : "";
        tell(name,
             "swap_refused",
             Json::object()
                 .set("sha256", fresh.sha256)
                 .set("file", fresh.file.string())
                 .set("reason", proved.error().message()));
        return Error(proved.error().code(), proved.error().message() + stays);
    }
    const std::string on_path =
        hash_on_path(host_.needs().os, host_.plugin_places({}).search_path, fresh.config);
    if (was_fine) {
        state.previous = version_of(*before);
    }
    state.off.clear();
    state.off_since.clear();
    state.current = version_of(fresh);
    state.pinned = on_path != fresh.sha256;
    state.passed_over = state.pinned ? on_path : std::string();
    state.probation_since = was_fine ? now_text() : std::string();
    state.last = why + " at " + now_text();
    if (auto kept = keep(name, state); !kept) {
        return kept.error();
    }
    const Json told = outcome(fresh, from, true);
    flip(std::move(fresh), was_fine);
    tell(name, "swapped", Json(told).set("why", why));
    return told;
}

Result<Json> PluginControl::roll_back(const std::string& name) {
    const Turn turn(*this);
    auto taken = turn.taken();
    auto known = taken ? find(name) : Result<const PluginEntry*>(taken.error());
    return known ? put_back(name, "by the owner") : Result<Json>(known.error());
}

/// The caller has the turn.
Result<Json> PluginControl::put_back(const std::string& name, const std::string& why) {
    const PluginEntry* before = host_.registry().find(name);
    PluginState state = state_of(name);
    if (before == nullptr || !state.previous) {
        return Error(Errc::not_found,
                     "plugin \"" + name + "\": no earlier file of it is known to go back to");
    }
    PluginState back;
    back.current = state.previous;
    back.pinned = true;
    back.passed_over =
        hash_on_path(host_.needs().os, host_.plugin_places({}).search_path, before->config);
    auto entry = read(before->config, {{name, back}});
    if (!entry) {
        return entry.error();
    }
    Result<> proved =
        entry->sha256 != back.current->sha256
            ? Error(Errc::not_found,
                    "plugin \"" + name + "\": the kept copy of version " + back.current->version +
                        " (" + short_of(back.current->sha256) +
                        ") is gone or damaged; load its file")
        : !entry->refused.empty() ? Error(Errc::refused, entry->refused)
                                  : prove(*entry, host_.config());
    if (!proved) {
        return proved.error();
    }
    back.previous = before->sha256.empty() ? state.previous : version_of(*before);
    back.pinned = back.passed_over != entry->sha256;
    back.passed_over = back.pinned ? back.passed_over : std::string();
    back.last = "rolled back from version " + before->manifest.version + " (" +
                short_of(before->sha256) + ") at " + now_text() + ": " + why;
    if (auto kept = keep(name, back); !kept) {
        return kept.error();
    }
    const Json told = outcome(*entry, before->sha256, true);
    flip(std::move(*entry), false);
    tell(name, "rolled_back", Json(told).set("why", why));
    return told;
}

Result<Json> PluginControl::switch_off(const std::string& name, const std::string& how) {
    const Turn turn(*this);
    auto taken = turn.taken();
    auto known = taken ? find(name) : Result<const PluginEntry*>(taken.error());
    if (!known) {
        return known.error();
    }
    PluginState state = state_of(name);
    if (state.off == how) {
        return outcome(**known, (*known)->sha256, false);
    }
    state.off = how;
    state.off_since = now_text();
    state.probation_since.clear();
    auto entry = read((*known)->config, {{name, state}});
    if (!entry) {
        return entry.error();
    }
    if (auto kept = keep(name, state); !kept) {
        return kept.error();
    }
    const Json told = outcome(*entry, (*known)->sha256, true);
    flip(std::move(*entry), false);
    tell(name, how.c_str(), Json(told).set("why", "by the owner"));
    return told;
}

Result<Json> PluginControl::enable(const std::string& name) {
    const Turn turn(*this);
    auto taken = turn.taken();
    auto known = taken ? find(name) : Result<const PluginEntry*>(taken.error());
    if (!known) {
        return known.error();
    }
    PluginState state = state_of(name);
    if (state.off.empty() && (*known)->refused.empty()) {
        return outcome(**known, (*known)->sha256, false);
    }
    state.off.clear();
    state.off_since.clear();
    auto entry = read((*known)->config, {{name, state}});
    if (!entry) {
        return entry.error();
    }
    if (!entry->refused.empty()) {
        return Error(Errc::refused, entry->refused);
    }
    if (auto proved = prove(*entry, host_.config()); !proved) {
        return proved.error();
    }
    if (auto kept = keep(name, state); !kept) {
        return kept.error();
    }
    const Json told = outcome(*entry, "", true);
    flip(std::move(*entry), false);
    tell(name, "enabled", Json(told).set("why", "by the owner"));
    return told;
}

}  // namespace daybook
