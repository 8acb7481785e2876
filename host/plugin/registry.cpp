#include "host/plugin/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "host/format/json.hpp"
#include "host/plugin/plugin_file.hpp"
#include "host/plugin/plugin_reading.hpp"
#include "host/plugin/plugin_trust.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

Result<> check_config(const PluginEntry& entry, const Json& config, const std::string& table) {
    if (entry.manifest.config_schema.empty()) {
        return {};
    }
    const std::string who = described(entry.manifest, entry.file);
    auto schema = JsonSchema::compile(entry.manifest.config_schema);
    if (!schema) {
        return Error(Errc::invalid,
                     who + "its config_schema is unusable: " + schema.error().message() +
                         "; that is the plugin's fault: rebuild it");
    }
    if (auto fits = schema->check(config); !fits) {
        return Error(Errc::invalid,
                     who + "[" + table + "] does not fit its config_schema: " +
                         fits.error().message() + "; correct it in the configuration");
    }
    return {};
}

std::string off_text(const std::string& name, const PluginState& state) {
    const bool is_unloaded = state.off == "unloaded";
    return name + (is_unloaded ? ": unloaded" : ": switched off") + " by the owner since " +
           state.off_since + "; " +
           (is_unloaded ? "daybook plugin load FILE or daybook plugin reload"
                        : "daybook plugin enable") +
           (is_unloaded ? " brings it back" : " switches it on");
}

/// From the configuration to an entry that may run. The error's sentence becomes `refused`.
Result<> load_entry(
    Os& os, const Registry::Places& places, int state_dir, TrustCheck& trust, PluginEntry& entry) {
    const std::string name = "plugin \"" + entry.config.name + "\"";
    if (!entry.config.enabled) {
        return Error(Errc::refused,
                     name + ": switched off by enabled = false in the configuration");
    }
    const auto known = places.states.find(entry.config.name);
    const PluginState state = known == places.states.end() ? PluginState{} : known->second;
    const bool pinned = pin_stands(os, state_dir, places.search_path, entry.config, state);
    if (pinned) {
        entry.file = fs::absolute(places.state) / module_path(state.current->sha256);
    } else {
        auto found = find_plugin_file(places.search_path, entry.config);
        if (!found) {
            return found.error().during(name);
        }
        entry.file = found->file;
        entry.shadowed = std::move(found->shadowed);
    }
    const auto bytes = read_plugin(os, entry);
    if (!bytes) {
        return bytes.error();
    }
    if (auto trusted = check_trust(entry, trust); !trusted) {
        return trusted;
    }
    if (auto fits =
            check_config(entry, entry.config.config, "plugin." + entry.config.name + ".config");
        !fits) {
        return fits;
    }
    auto module = keep_module(os, state_dir, *bytes, entry.sha256);
    if (!module) {
        return module.error().during(name + " (" + entry.file.string() + "): keep a copy");
    }
    entry.module = fs::absolute(places.state) / *module;
    if (pinned) {
        entry.file = state.current->file;
    }
    return state.off.empty() ? Result<>() : Result<>(Error(Errc::refused, off_text(name, state)));
}

/// Every plugin that the configuration names, also by a desk or a model only: those have no table
/// and the defaults.
std::map<std::string, PluginConfig> named_plugins(const Config& config) {
    std::map<std::string, PluginConfig> named = config.plugins;
    const auto add = [&](const std::string& name) {
        PluginConfig plain;
        plain.name = name;
        named.emplace(name, std::move(plain));
    };
    for (const auto& [name, desk] : config.desks) {
        std::for_each(desk.plugins.begin(), desk.plugins.end(), add);
    }
    for (const auto& [name, model] : config.models) {
        add(model.plugin);
    }
    return named;
}

}  // namespace

Result<Registry> Registry::load(Os& os, const Places& places, const Config& config) {
    auto state = os.open_root(places.state);
    if (!state) {
        return state.error();
    }
    std::map<std::string, PluginEntry> plugins;
    TrustCheck trust = begin_trust_check(os, state->get(), places.shipped);
    for (auto& [name, plugin] : named_plugins(config)) {
        PluginEntry entry;
        entry.config = plugin;
        if (auto loaded = load_entry(os, places, state->get(), trust, entry); !loaded) {
            entry.refused = loaded.error().message();
        }
        plugins.emplace(name, std::move(entry));
    }
    if (auto kept = end_trust_check(os, state->get(), trust); !kept) {
        return kept.error();
    }
    Registry registry;
    for (auto& [name, entry] : plugins) {
        registry.put(std::move(entry));
    }
    registry.changes_ = std::move(trust.changes);
    return registry;
}

PluginSet Registry::in_force() const {
    const std::lock_guard guard(shared_->mutex);
    return PluginSet(shared_->entries, shared_->version);
}

std::uint64_t Registry::version() const {
    const std::lock_guard guard(shared_->mutex);
    return shared_->version;
}

namespace {

bool is_same(const OriginConfig& a, const OriginConfig& b) {
    return std::tie(a.url, a.credential, a.credential_header, a.private_network) ==
           std::tie(b.url, b.credential, b.credential_header, b.private_network);
}

/// Whether a desk would notice nothing if the one took the other's place.
bool is_same(const PluginEntry& a, const PluginEntry& b) {
    const auto& x = a.config;
    const auto& y = b.config;
    return a.sha256 == b.sha256 && a.file == b.file && a.refused == b.refused &&
           a.trust == b.trust && a.groups == b.groups && a.shadowed == b.shadowed &&
           x.name == y.name && x.file == y.file && x.config == y.config &&
           x.programs == y.programs &&
           std::equal(x.origins.begin(),
                      x.origins.end(),
                      y.origins.begin(),
                      y.origins.end(),
                      [](const OriginConfig& one, const OriginConfig& other) {
                          return is_same(one, other);
                      });
}

}  // namespace

Result<PluginEntry> Registry::read_entry(Os& os, const Places& places, const PluginConfig& plugin) {
    auto state = os.open_root(places.state);
    if (!state) {
        return state.error();
    }
    PluginEntry entry;
    entry.config = plugin;
    TrustCheck trust = begin_trust_check(os, state->get(), places.shipped);
    if (auto loaded = load_entry(os, places, state->get(), trust, entry); !loaded) {
        entry.refused = loaded.error().message();
    }
    if (auto kept = end_trust_check(os, state->get(), trust); !kept) {
        return kept.error();
    }
    return entry;
}

const PluginEntry* Registry::keep_locked(PluginEntry entry) {
    for (const auto& kept : shared_->kept) {
        if (is_same(*kept, entry)) {
            return kept.get();
        }
    }
    entry.answered = std::make_shared<std::atomic<std::uint64_t>>(0);
    shared_->kept.push_back(std::make_unique<const PluginEntry>(std::move(entry)));
    return shared_->kept.back().get();
}

const PluginEntry* Registry::put(PluginEntry entry) {
    const std::lock_guard guard(shared_->mutex);
    const std::string name = entry.config.name;
    const PluginEntry* kept = keep_locked(std::move(entry));
    const PluginEntry*& now = shared_->entries[name];
    shared_->version += now == kept ? 0U : 1U;
    now = kept;
    return kept;
}

void Registry::adopt(const Registry& fresh) {
    const PluginSet others = fresh.in_force();
    const std::lock_guard guard(shared_->mutex);
    PluginSet::Entries entries;
    for (const auto& [name, entry] : others.entries()) {
        entries.emplace(name, keep_locked(*entry));
    }
    shared_->version += entries == shared_->entries ? 0U : 1U;
    shared_->entries = std::move(entries);
}

namespace {

/// A plugin whose configuration has a member "folders" reads price files or the like: unless the
/// owner named others, those are the folders that the desk grants.
void add_granted_folders(Json& config, const PluginEntry& plugin, const DeskConfig& desk) {
    auto schema = Json::parse(plugin.manifest.config_schema);
    if (!schema || !(*schema)["properties"].has("folders") || config.has("folders") ||
        config.has("folder") || desk.reads.empty()) {
        return;
    }
    Json folders = Json::array();
    for (const fs::path& folder : desk.reads) {
        folders.push(folder.string());
    }
    config.set("folders", std::move(folders));
}

}  // namespace

Result<Json> Registry::config_of(const PluginEntry& plugin, const DeskConfig& desk) const {
    if (!plugin.refused.empty()) {
        return Error(Errc::refused, plugin.refused);
    }
    Json merged = plugin.config.config;
    const auto own = desk.plugin_config.find(plugin.config.name);
    if (own != desk.plugin_config.end()) {
        for (const auto& [key, value] : own->second.members()) {
            merged.set(key, value);
        }
    }
    add_granted_folders(merged, plugin, desk);
    if (auto fits =
            check_config(plugin, merged, "desk." + desk.name + ".config." + plugin.config.name);
        !fits) {
        return fits.error();
    }
    return merged;
}

std::vector<fs::path> shipped_plugin_folders() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? std::vector<fs::path>()
                 : std::vector<fs::path>{program.parent_path().parent_path() /
                                         "lib/daybook/plugins/1"};
}

std::vector<fs::path> default_plugin_path() {
    std::vector<fs::path> folders;
    const auto add = [&](const fs::path& folder) {
        // A relative folder would depend on where the program was started.
        if (folder.is_absolute() &&
            std::find(folders.begin(), folders.end(), folder) == folders.end()) {
            folders.push_back(folder.lexically_normal());
        }
    };
    const auto variable = [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    const std::string own = variable("DAYBOOK_PLUGIN_PATH");
    for (std::size_t start = 0; start < own.size();) {
        const std::size_t end = std::min(own.find(':', start), own.size());
        add(own.substr(start, end - start));
        start = end + 1;
    }
    const std::string data = variable("XDG_DATA_HOME");
    const std::string home = variable("HOME");
    if (!data.empty()) {
        add(fs::path(data) / "daybook/plugins/1");
    } else if (!home.empty()) {
        add(fs::path(home) / ".local/share/daybook/plugins/1");
    }
    for (const fs::path& folder : shipped_plugin_folders()) {
        add(folder);
    }
    return folders;
}

}  // namespace daybook
