#include "host/plugin/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

#include <daybook/version.h>

#include "host/format/json.hpp"
#include "host/format/sha256.hpp"
#include "host/gate/leash.hpp"
#include "host/os/desk_path.hpp"
#include "host/plugin/plugin_file.hpp"
#include "host/plugin/plugins_lock.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

/// What this version's host calls serve.
constexpr unsigned kServedGroups =
    kDeskFiles | kClock | kTools | kJournal | kScratch | kHttp | kHistory | kTriggers;

std::string abi_text(std::uint32_t major, std::uint32_t minor) {
    return std::to_string(major) + "." + std::to_string(minor);
}

std::string described(const Manifest& manifest, const fs::path& file) {
    return "plugin \"" + printable(manifest.name, 64) + "\" " + printable(manifest.version, 64) +
           " (" + file.string() + "): ";
}

/// Name, version and ABI numbers alone, so that a plugin of another major is told so whatever else
/// its manifest holds.
Manifest read_head(const Json& json) {
    Manifest head;
    head.name = json["name"].as_string();
    head.version = json["version"].as_string();
    const auto number = [](const Json& value) {
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value.as_integer(0), 0, 65535));
    };
    const auto& abi = json["abi"].items();
    head.abi_major = abi.size() == 2 ? number(abi[0]) : 0;
    head.abi_minor = abi.size() == 2 ? number(abi[1]) : 0;
    head.min_host_minor = number(json["min_host_minor"]);
    return head;
}

Result<> check_wants(PluginEntry& entry) {
    const std::string who = described(entry.manifest, entry.file);
    for (const std::string& want : entry.manifest.wants) {
        const auto group = group_of(want);
        if (!group || (*group & kServedGroups) == 0) {
            return Error(Errc::refused,
                         who + "wants " + printable(want) + "; this host does not serve " +
                             printable(want) + " yet (it serves " + names_of_groups(kServedGroups) +
                             "); remove the want or use a later daybook");
        }
        entry.groups |= *group;
    }
    if ((entry.manifest.profile == "scratch") != ((entry.groups & kScratch) != 0)) {
        return Error(Errc::refused,
                     who +
                         "profile \"scratch\" and the want daybook.scratch/1 belong together, and "
                         "it has one of them only; correct its manifest");
    }
    return {};
}

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

/// From the configuration to an entry that may run. The error's sentence becomes `refused`.
Result<> load_entry(Os& os, const Registry::Places& places, int state_dir, PluginEntry& entry) {
    const std::string name = "plugin \"" + entry.config.name + "\"";
    if (!entry.config.enabled) {
        return Error(Errc::refused,
                     name + ": switched off by enabled = false in the configuration");
    }
    auto found = find_plugin_file(places.search_path, entry.config);
    if (!found) {
        return found.error().during(name);
    }
    entry.file = found->file;
    entry.shadowed = std::move(found->shadowed);
    const std::string who = name + " (" + entry.file.string() + ")";
    const auto bytes = read_plugin_file(os, entry.file);
    if (!bytes) {
        return bytes.error().during(who);
    }
    const auto note = read_manifest_note(*bytes);
    if (!note) {
        return note.error().during(who);
    }
    const auto json = Json::parse(*note);
    if (!json) {
        return json.error().during(who + ": manifest");
    }
    entry.manifest = read_head(*json);
    if (const std::string mismatch = abi_mismatch(entry.manifest, entry.file);
        entry.manifest.abi_major != 0 && !mismatch.empty()) {
        return Error(Errc::unsupported, mismatch);
    }
    auto manifest = Manifest::parse(*note);
    if (!manifest) {
        return manifest.error().during(who);
    }
    entry.manifest = std::move(*manifest);
    if (auto wants = check_wants(entry); !wants) {
        return wants;
    }
    if (auto fits =
            check_config(entry, entry.config.config, "plugin." + entry.config.name + ".config");
        !fits) {
        return fits;
    }
    entry.sha256 = sha256_hex(*bytes);
    auto module = keep_module(os, state_dir, *bytes, entry.sha256);
    if (!module) {
        return module.error().during(who + ": keep a copy");
    }
    entry.module = fs::absolute(places.state) / *module;
    return {};
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

std::string abi_mismatch(const Manifest& manifest, const fs::path& file) {
    const std::string host = abi_text(DAYBOOK_ABI_MAJOR, DAYBOOK_ABI_MINOR);
    const std::string theirs = abi_text(manifest.abi_major, manifest.abi_minor);
    if (manifest.abi_major != DAYBOOK_ABI_MAJOR) {
        return described(manifest, file) + "made for daybook ABI " + theirs +
               "; this host serves ABI " + host + ". Use a build of the plugin for ABI " +
               std::to_string(DAYBOOK_ABI_MAJOR) + ", or a daybook that serves ABI " +
               std::to_string(manifest.abi_major);
    }
    if (manifest.min_host_minor > DAYBOOK_ABI_MINOR) {
        const std::string wanted = abi_text(DAYBOOK_ABI_MAJOR, manifest.min_host_minor);
        return described(manifest, file) + "built for daybook ABI " + theirs +
               " and needs host minor >= " + std::to_string(manifest.min_host_minor) +
               "; this host serves ABI " + host + ". Upgrade daybook to one that serves ABI " +
               wanted + ", or rebuild the plugin with DAYBOOK_ABI_TARGET=" +
               std::to_string(DAYBOOK_ABI_MAJOR * 1000 + DAYBOOK_ABI_MINOR);
    }
    return {};
}

Result<Registry> Registry::load(Os& os, const Places& places, const Config& config) {
    auto state = os.open_root(places.state);
    if (!state) {
        return state.error();
    }
    Registry registry;
    for (auto& [name, plugin] : named_plugins(config)) {
        PluginEntry entry;
        entry.config = plugin;
        if (auto loaded = load_entry(os, places, state->get(), entry); !loaded) {
            entry.refused = loaded.error().message();
        }
        registry.plugins_.emplace(name, std::move(entry));
    }
    auto changes = update_lock(os, state->get(), registry.plugins_);
    if (!changes) {
        return changes.error();
    }
    registry.changes_ = std::move(*changes);
    return registry;
}

const PluginEntry* Registry::find(std::string_view name) const {
    const auto found = plugins_.find(std::string(name));
    return found == plugins_.end() ? nullptr : &found->second;
}

std::map<std::string, ToolOffer> Registry::tools_of(const DeskConfig& desk) const {
    std::map<std::string, ToolOffer> tools;
    for (const std::string& name : desk.plugins) {
        const PluginEntry* plugin = find(name);
        if (plugin == nullptr || !plugin->refused.empty()) {
            continue;
        }
        for (const ToolManifest& tool : plugin->manifest.tools) {
            tools.emplace(tool.name, ToolOffer{plugin, &tool});
        }
    }
    return tools;
}

Result<const PluginEntry*> Registry::model_plugin(const ModelConfig& model) const {
    const PluginEntry* plugin = find(model.plugin);
    if (plugin == nullptr) {
        return Error(Errc::not_found,
                     "model \"" + model.name + "\": no plugin \"" + model.plugin + "\"");
    }
    if (!plugin->refused.empty()) {
        return Error(Errc::refused, "model \"" + model.name + "\": " + plugin->refused);
    }
    if (plugin->manifest.models.empty()) {
        return Error(Errc::unsupported,
                     "model \"" + model.name + "\": " + described(plugin->manifest, plugin->file) +
                         "it offers no model; name a model backend in [model." + model.name + "]");
    }
    return plugin;
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
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        add(program.parent_path().parent_path() / "lib/daybook/plugins/1");
    }
    return folders;
}

}  // namespace daybook
