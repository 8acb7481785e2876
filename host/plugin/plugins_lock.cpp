#include "host/plugin/plugins_lock.hpp"

#include <algorithm>
#include <utility>

#include "host/format/json.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kLockNumber = 2;
constexpr std::size_t kMaxLockBytes = 4UL * 1024 * 1024;
constexpr std::size_t kShortHash = 12;
constexpr std::size_t kHashDigits = 64;

/// The lock stays as it is, whatever is wrong with it: it holds what the owner has approved.
Error damaged(const std::string& what) {
    return Error(Errc::corrupt,
                 "read plugins.lock: " + what +
                     "; nothing was changed in it: mend it, or move it away (mv plugins.lock "
                     "plugins.lock.old) and approve the plugins again with daybook plugin trust");
}

bool is_hash(const std::string& text) {
    return text.size() == kHashDigits &&
           text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Result<TrustedFile> line_of(const Json& json, const std::string& plugin) {
    TrustedFile line;
    line.sha256 = json["sha256"].as_string();
    line.version = json["version"].as_string();
    line.file = json["file"].as_string();
    line.by = json["by"].as_string();
    line.at = json["at"].as_string();
    line.wants = wants_from(json);
    if (!json.is_object() || !is_hash(line.sha256)) {
        return damaged("a line of plugin " + plugin +
                       " has no sha256 of 64 hexadecimal digits (got " +
                       json["sha256"].dump().substr(0, 80) + ")");
    }
    return line;
}

Json line_json(const TrustedFile& line) {
    Json json = Json::object()
                    .set("sha256", line.sha256)
                    .set("version", line.version)
                    .set("file", line.file)
                    .set("by", line.by)
                    .set("at", line.at);
    const Json wants = wants_json(line.wants);
    for (const auto& [name, value] : wants.members()) {
        json.set(name, value);
    }
    return json;
}

}  // namespace

std::string short_hash(std::string_view sha256) {
    return std::string(sha256.substr(0, kShortHash));
}

Result<PluginsLock> PluginsLock::load(Os& os, int state_dir) {
    PluginsLock lock;
    const auto text = read_file(os, state_dir, kLockFile, kMaxLockBytes);
    if (!text) {
        return text.error().code() == Errc::not_found
                   ? Result<PluginsLock>(std::move(lock))
                   : Result<PluginsLock>(text.error().during("read plugins.lock"));
    }
    JsonLimits limits;
    limits.max_bytes = kMaxLockBytes;
    const auto json = Json::parse(*text, limits);
    if (!json) {
        return damaged(json.error().message());
    }
    const std::int64_t number = (*json)["lock"].as_integer(0);
    if (number > kLockNumber) {
        return Error(Errc::unsupported,
                     "read plugins.lock: number " + std::to_string(number) +
                         " is of a later daybook, this one knows " + std::to_string(kLockNumber) +
                         "; use that one, or move the file away and approve the plugins again");
    }
    if (number < 1 || !(*json)["plugins"].is_object()) {
        return damaged("wanted {\"lock\":2,\"plugins\":{…}}");
    }
    for (const auto& [name, value] : (*json)["plugins"].members()) {
        // Number 1 had one line a plugin, written for whatever the configuration named.
        const Json lines = number == 1 ? Json::array().push(value) : value;
        if (!lines.is_array()) {
            return damaged("wanted a list of lines for plugin " + name);
        }
        for (const Json& each : lines.items()) {
            auto line = line_of(each, name);
            if (!line) {
                return line.error();
            }
            line->by = number == 1 ? "configuration" : line->by;
            lock.plugins_[name].push_back(std::move(*line));
        }
    }
    lock.changed_ = number != kLockNumber;
    return lock;
}

const TrustedFile* PluginsLock::find(std::string_view sha256) const {
    for (const auto& [name, lines] : plugins_) {
        const auto found = std::find_if(lines.begin(), lines.end(), [&](const TrustedFile& line) {
            return line.sha256 == sha256;
        });
        if (found != lines.end()) {
            return &*found;
        }
    }
    return nullptr;
}

const TrustedFile* PluginsLock::newest(const std::string& plugin) const {
    const auto found = plugins_.find(plugin);
    return found == plugins_.end() || found->second.empty() ? nullptr : &found->second.front();
}

void PluginsLock::add(const std::string& plugin, TrustedFile file) {
    std::vector<TrustedFile>& lines = plugins_[plugin];
    if (!lines.empty() && lines.front() == file) {
        return;
    }
    std::erase_if(lines, [&](const TrustedFile& line) { return line.sha256 == file.sha256; });
    lines.insert(lines.begin(), std::move(file));
    if (lines.size() > kMaxTrustedFiles) {
        lines.resize(kMaxTrustedFiles);
    }
    changed_ = true;
}

std::size_t PluginsLock::remove(const std::string& plugin) {
    const auto found = plugins_.find(plugin);
    if (found == plugins_.end()) {
        return 0;
    }
    const std::size_t lines = found->second.size();
    plugins_.erase(found);
    changed_ = true;
    return lines;
}

Result<> PluginsLock::save(Os& os, int state_dir) const {
    Json plugins = Json::object();
    for (const auto& [name, lines] : plugins_) {
        Json list = Json::array();
        for (const TrustedFile& line : lines) {
            list.push(line_json(line));
        }
        plugins.set(name, std::move(list));
    }
    const Json lock = Json::object().set("lock", kLockNumber).set("plugins", std::move(plugins));
    return write_file_durably(os, state_dir, kLockFile, lock.dump_pretty() + "\n");
}

Result<UniqueFd> guard_plugins_lock(Os& os, int state_dir) {
    if (auto made = os.make_directory(state_dir, "run"); !made) {
        return made.error();
    }
    auto guard = os.open_beneath(state_dir, "run/plugins.guard", OpenMode::lock);
    if (!guard) {
        return guard.error();
    }
    if (auto held = os.lock(guard->get()); !held) {
        return held.error().code() == Errc::busy
                   ? Error(Errc::busy, "plugins.lock is being changed by somebody else; try again")
                   : held.error();
    }
    return guard;
}

std::string why_untrusted(const TrustedFile& file,
                          const TrustedFile* found,
                          const TrustedFile* newest) {
    const std::string approve = "daybook plugin trust " + file.file;
    if (found != nullptr) {
        const std::string more = more_wants(found->wants, file.wants);
        return more.empty() ? std::string()
                            : "wants more than was approved: " + more +
                                  ". If that is right, approve it: " + approve;
    }
    if (newest == nullptr) {
        return "is not trusted: sha256 " + short_hash(file.sha256) + ", " + wants_text(file.wants) +
               ". If that is right, approve it: " + approve;
    }
    std::string text = "changed since it was approved: approved was sha256 " +
                       short_hash(newest->sha256) + " (version " + newest->version +
                       "), the file is " + short_hash(file.sha256) + " (version " + file.version +
                       ")";
    if (const std::string more = more_wants(newest->wants, file.wants); !more.empty()) {
        text += ", and now it wants " + more;
    }
    if (const std::string less = more_wants(file.wants, newest->wants); !less.empty()) {
        text += ", no longer " + less;
    }
    return text + ". If that is right, approve it: " + approve + "; else put the old file back";
}

}  // namespace daybook
