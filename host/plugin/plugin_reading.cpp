#include "host/plugin/plugin_reading.hpp"

#include <algorithm>
#include <utility>

#include <daybook/version.h>

#include "host/format/elf_module.hpp"
#include "host/format/json.hpp"
#include "host/format/sha256.hpp"
#include "host/gate/leash.hpp"
#include "host/os/desk_path.hpp"
#include "host/plugin/plugin_file.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

/// What this version's host calls serve.
constexpr unsigned kServedGroups =
    kDeskFiles | kClock | kTools | kJournal | kScratch | kHttp | kProcess | kHistory | kTriggers;

std::string abi_text(std::uint32_t major, std::uint32_t minor) {
    return std::to_string(major) + "." + std::to_string(minor);
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

}  // namespace

std::string described(const Manifest& manifest, const fs::path& file) {
    return "plugin \"" + printable(manifest.name, 64) + "\" " + printable(manifest.version, 64) +
           " (" + file.string() + "): ";
}

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

Result<std::string> read_plugin(Os& os, PluginEntry& entry) {
    const std::string who = "plugin \"" + entry.config.name + "\" (" + entry.file.string() + ")";
    auto bytes = read_plugin_file(os, entry.file);
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
        return wants.error();
    }
    const auto module = read_elf_module(*bytes);
    if (!module) {
        return module.error().during(who);
    }
    if (const std::string problem = entry_problem(*module, DAYBOOK_ABI_MAJOR); !problem.empty()) {
        return Error(Errc::unsupported, described(entry.manifest, entry.file) + problem);
    }
    entry.sha256 = sha256_hex(*bytes);
    return bytes;
}

}  // namespace daybook
