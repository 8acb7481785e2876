#include "host/plugin/plugins_lock.hpp"

#include <algorithm>
#include <utility>

#include "host/format/json.hpp"

namespace daybook {
namespace {

constexpr const char* kLockFile = "plugins.lock";
constexpr std::size_t kMaxLockBytes = 4UL * 1024 * 1024;
constexpr std::size_t kShortHash = 12;

using Lock = std::map<std::string, LockedPlugin>;

std::optional<Lock> parse_lock(const std::string& text) {
    JsonLimits limits;
    limits.max_bytes = kMaxLockBytes;
    const auto json = Json::parse(text, limits);
    if (!json || (*json)["lock"].as_integer() != 1 || !(*json)["plugins"].is_object()) {
        return std::nullopt;
    }
    Lock lock;
    for (const auto& [name, line] : (*json)["plugins"].members()) {
        LockedPlugin locked{
            line["sha256"].as_string(), line["version"].as_string(), line["file"].as_string(), {}};
        for (const Json& want : line["wants"].items()) {
            locked.wants.push_back(want.as_string());
        }
        lock.emplace(name, std::move(locked));
    }
    return lock;
}

std::string lock_text(const Lock& lock) {
    Json lines = Json::object();
    for (const auto& [name, locked] : lock) {
        Json wants = Json::array();
        for (const std::string& want : locked.wants) {
            wants.push(want);
        }
        Json line = Json::object();
        line.set("sha256", locked.sha256).set("version", locked.version).set("file", locked.file);
        line.set("wants", std::move(wants));
        lines.set(name, std::move(line));
    }
    Json out = Json::object();
    out.set("lock", 1).set("plugins", std::move(lines));
    return out.dump_pretty() + "\n";
}

std::string listed(const std::vector<std::string>& wants, const std::vector<std::string>& without) {
    std::string text;
    for (const std::string& want : wants) {
        if (std::find(without.begin(), without.end(), want) == without.end()) {
            text += (text.empty() ? "" : ", ") + want;
        }
    }
    return text;
}

/// How the two differ, or "".
std::string difference(const std::string& name,
                       const LockedPlugin* before,
                       const LockedPlugin& after) {
    const std::string who = "plugin \"" + name + "\" " + after.version + ": ";
    const std::string hash = after.sha256.substr(0, kShortHash);
    if (before == nullptr) {
        const std::string wants = listed(after.wants, {});
        return who + "new, file " + after.file + " (sha256 " + hash + "), wants " +
               (wants.empty() ? "nothing" : wants);
    }
    std::string text;
    if (before->sha256 != after.sha256) {
        text = "file changed from " + before->sha256.substr(0, kShortHash) + " (version " +
               before->version + ") to " + hash;
    }
    if (const std::string more = listed(after.wants, before->wants); !more.empty()) {
        text += (text.empty() ? "now wants " : "; now wants ") + more;
    }
    if (const std::string less = listed(before->wants, after.wants); !less.empty()) {
        text += (text.empty() ? "no longer wants " : "; no longer wants ") + less;
    }
    return text.empty() ? text : who + text;
}

}  // namespace

Result<std::vector<std::string>> update_lock(Os& os,
                                             int state_dir,
                                             const std::map<std::string, PluginEntry>& plugins) {
    std::vector<std::string> changes;
    Lock lock;
    const auto text = read_file(os, state_dir, kLockFile, kMaxLockBytes);
    if (text) {
        if (auto parsed = parse_lock(*text)) {
            lock = std::move(*parsed);
        } else {
            if (auto kept = os.rename_over(state_dir, kLockFile, "plugins.lock.damaged"); !kept) {
                return kept.error();
            }
            changes.emplace_back(
                "plugins.lock was damaged: kept as plugins.lock.damaged and written anew");
        }
    } else if (text.error().code() != Errc::not_found) {
        return text.error().during("read plugins.lock");
    }
    Lock after = lock;
    for (const auto& [name, plugin] : plugins) {
        if (!plugin.refused.empty()) {
            continue;
        }
        LockedPlugin now{
            plugin.sha256, plugin.manifest.version, plugin.file.string(), plugin.manifest.wants};
        const auto before = lock.find(name);
        if (std::string change =
                difference(name, before == lock.end() ? nullptr : &before->second, now);
            !change.empty()) {
            changes.push_back(std::move(change));
        }
        after[name] = std::move(now);
    }
    if (!text || after != lock || !changes.empty()) {
        if (auto written = write_file_durably(os, state_dir, kLockFile, lock_text(after));
            !written) {
            return written.error();
        }
    }
    return changes;
}

}  // namespace daybook
