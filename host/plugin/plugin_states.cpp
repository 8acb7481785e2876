#include "host/plugin/plugin_states.hpp"

#include <algorithm>
#include <utility>

#include "host/format/json.hpp"

namespace daybook {
namespace {

constexpr const char* kFile = "plugins.state";
constexpr const char* kDamaged = "plugins.state.damaged";
constexpr std::size_t kMaxBytes = 4UL * 1024 * 1024;
constexpr std::size_t kHashLength = 64;

bool is_hash(const std::string& text) {
    return text.size() == kHashLength && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

Json version_json(const PluginVersion& version) {
    return Json::object()
        .set("sha256", version.sha256)
        .set("version", version.version)
        .set("file", version.file);
}

/// False: it is there and no version.
bool read_version(const Json& json, std::optional<PluginVersion>& into) {
    if (json.is_null()) {
        return true;
    }
    into = PluginVersion{
        json["sha256"].as_string(), json["version"].as_string(), json["file"].as_string()};
    return is_hash(into->sha256);
}

std::optional<PluginState> read_state(const Json& json) {
    PluginState state;
    state.off = json["off"].as_string();
    state.off_since = json["off_since"].as_string();
    state.pinned = json["pinned"].as_bool();
    state.passed_over = json["passed_over"].as_string();
    state.probation_since = json["probation_since"].as_string();
    state.last = json["last"].as_string();
    const bool is_whole = json.is_object() && read_version(json["current"], state.current) &&
                          read_version(json["previous"], state.previous) &&
                          (state.off.empty() || state.off == "disabled" || state.off == "unloaded");
    // A pin without what it pins, and a probation of nothing, mean nothing.
    if (!is_whole || (!state.current && (state.pinned || !state.probation_since.empty()))) {
        return std::nullopt;
    }
    return state;
}

std::optional<PluginStates> parse(const std::string& text) {
    JsonLimits limits;
    limits.max_bytes = kMaxBytes;
    const auto json = Json::parse(text, limits);
    if (!json || (*json)["state"].as_integer() != 1 || !(*json)["plugins"].is_object()) {
        return std::nullopt;
    }
    PluginStates states;
    for (const auto& [name, value] : (*json)["plugins"].members()) {
        auto state = read_state(value);
        if (!state) {
            return std::nullopt;
        }
        states.emplace(name, std::move(*state));
    }
    return states;
}

Json state_json(const PluginState& state) {
    Json json = Json::object();
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) {
            json.set(name, value);
        }
    };
    add("off", state.off);
    add("off_since", state.off_since);
    if (state.current) {
        json.set("current", version_json(*state.current));
    }
    if (state.previous) {
        json.set("previous", version_json(*state.previous));
    }
    if (state.pinned) {
        json.set("pinned", true);
    }
    add("passed_over", state.passed_over);
    add("probation_since", state.probation_since);
    add("last", state.last);
    return json;
}

}  // namespace

Result<LoadedPluginStates> load_plugin_states(Os& os, int state_dir) {
    LoadedPluginStates loaded;
    const auto text = read_file(os, state_dir, kFile, kMaxBytes);
    if (!text && text.error().code() == Errc::not_found) {
        return loaded;
    }
    if (!text && text.error().code() != Errc::full) {
        return text.error().during(std::string("read ") + kFile);
    }
    if (auto states = text ? parse(*text) : std::nullopt) {
        loaded.states = std::move(*states);
        return loaded;
    }
    if (auto kept = os.rename_over(state_dir, kFile, kDamaged); !kept) {
        return kept.error();
    }
    loaded.note = std::string(kFile) + " was damaged: kept as " + kDamaged +
                  "; every plugin is loaded from the plugin path, and none is switched off";
    return loaded;
}

Result<> save_plugin_states(Os& os, int state_dir, const PluginStates& states) {
    Json plugins = Json::object();
    for (const auto& [name, state] : states) {
        if (state != PluginState{}) {
            plugins.set(name, state_json(state));
        }
    }
    const Json whole = Json::object().set("state", 1).set("plugins", std::move(plugins));
    return write_file_durably(os, state_dir, kFile, whole.dump_pretty() + "\n");
}

}  // namespace daybook
