#include "host/surface/plugin_approval.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "host/plugin/plugin_file.hpp"
#include "host/plugin/plugin_reading.hpp"
#include "host/plugin/plugin_trust.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

Result<PluginEntry> read_entry(const ApprovalPlace& place, const ApprovalWish& wish) {
    PluginEntry entry;
    if (wish.file.empty()) {
        entry.config.name = wish.plugin;
        if (place.config != nullptr && place.config->plugins.contains(wish.plugin)) {
            entry.config = place.config->plugins.at(wish.plugin);
        }
        auto found = find_plugin_file(place.plugins.search_path, entry.config);
        if (!found) {
            return found.error().during("plugin " + wish.plugin);
        }
        entry.file = found->file;
    } else {
        std::error_code error;
        entry.file = fs::canonical(wish.file, error);
        if (error) {
            return Error(Errc::not_found, wish.file.string() + ": " + error.message());
        }
        entry.config.name = entry.file.stem().string();
    }
    auto bytes = read_plugin(place.os, entry);
    if (!bytes) {
        return bytes.error();
    }
    return entry;
}

/// Whether the configuration's plugin of this name is the file.
bool is_file_of(const ApprovalPlace& place, const PluginConfig& config, const PluginEntry& entry) {
    const auto found = find_plugin_file(place.plugins.search_path, config);
    return found && found->file == entry.file;
}

/// What the configuration grants whoever runs this file.
Json granted_json(const ApprovalPlace& place, const PluginEntry& entry) {
    Json origins = Json::array();
    Json urls = Json::array();
    Json reads = Json::array();
    if (place.config == nullptr) {
        return Json::object().set("origins", origins).set("urls", urls).set("reads", reads);
    }
    std::vector<std::string> names;
    PluginConfig plain;
    plain.name = entry.manifest.name;
    const bool named = place.config->plugins.contains(plain.name);
    if (!named && is_file_of(place, plain, entry)) {
        names.push_back(plain.name);
    }
    for (const auto& [name, config] : place.config->plugins) {
        if (!is_file_of(place, config, entry)) {
            continue;
        }
        names.push_back(name);
        for (const OriginConfig& origin : config.origins) {
            origins.push(origin.url);
        }
    }
    const auto is_ours = [&](const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    for (const auto& [name, model] : place.config->models) {
        if (is_ours(model.plugin) && !model.url.empty()) {
            urls.push(model.url);
        }
    }
    for (const auto& [name, desk] : place.config->desks) {
        if (std::any_of(desk.plugins.begin(), desk.plugins.end(), is_ours)) {
            for (const fs::path& folder : desk.reads) {
                reads.push(folder.string());
            }
        }
    }
    return Json::object()
        .set("origins", std::move(origins))
        .set("urls", std::move(urls))
        .set("reads", std::move(reads));
}

Json entry_json(const ApprovalPlace& place, const PluginEntry& entry) {
    Json json = Json::object()
                    .set("plugin", entry.manifest.name)
                    .set("version", entry.manifest.version)
                    .set("file", entry.file.string())
                    .set("sha256", entry.sha256);
    const Json wants = wants_json(wants_of(entry.manifest));
    for (const auto& [name, value] : wants.members()) {
        json.set(name, value);
    }
    return json.set("granted", granted_json(place, entry));
}

}  // namespace

Result<Json> look_at_plugin(const ApprovalPlace& place, const ApprovalWish& wish) {
    auto entry = read_entry(place, wish);
    if (!entry) {
        return entry.error();
    }
    TrustCheck check = begin_trust_check(place.os, place.state_dir, place.plugins.shipped);
    const auto trusted = check_trust(*entry, check);
    return entry_json(place, *entry)
        .set("trusted", entry->trust)
        .set("why", trusted ? std::string() : trusted.error().message());
}

Result<Json> approve_plugin_file(const ApprovalPlace& place,
                                 const ApprovalWish& wish,
                                 Timestamp at) {
    auto entry = read_entry(place, wish);
    if (!entry) {
        return entry.error();
    }
    if (!wish.sha256.empty() && wish.sha256 != entry->sha256) {
        return Error(Errc::conflict,
                     entry->file.string() + ": the file changed meanwhile: shown was sha256 " +
                         short_hash(wish.sha256) + ", it is now " + short_hash(entry->sha256) +
                         "; look again");
    }
    if (auto approved = approve_plugin(place.os, place.state_dir, *entry, at); !approved) {
        return approved.error();
    }
    return entry_json(place, *entry).set("trusted", "owner").set("why", "");
}

Json approval_record(const Json& approved) {
    Json record = Json::object().set("what", "trusted");
    for (const char* member : {"plugin",
                               "version",
                               "file",
                               "sha256",
                               "profile",
                               "wants",
                               "calls",
                               "origins",
                               "programs",
                               "reads"}) {
        record.set(member, approved[member]);
    }
    return record;
}

}  // namespace daybook
