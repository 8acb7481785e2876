#include "host/plugin/plugin_trust.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include "host/plugin/plugin_reading.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxSumBytes = 4096;
constexpr std::size_t kHashDigits = 64;

/// The hash that FILE.sha256 names, "" when there is none that can be relied on.
std::string recorded_sum(Os& os, const fs::path& file) {
    auto folder = os.open_root(file.parent_path());
    if (!folder) {
        return {};
    }
    const std::string name = file.filename().string() + ".sha256";
    const auto status = os.stat_beneath(folder->get(), name);
    if (!status || !S_ISREG(status->st_mode) || (status->st_mode & S_IWOTH) != 0) {
        return {};
    }
    const auto text = read_file(os, folder->get(), name, kMaxSumBytes);
    return text && text->size() >= kHashDigits ? text->substr(0, kHashDigits) : std::string();
}

bool is_shipped(const PluginEntry& entry, const TrustCheck& check) {
    const bool beside =
        std::any_of(check.shipped.begin(), check.shipped.end(), [&](const fs::path& folder) {
            std::error_code error;
            return fs::equivalent(folder, entry.file.parent_path(), error) && !error;
        });
    return beside && recorded_sum(check.os, entry.file) == entry.sha256;
}

/// What is new about a shipped file since the last start.
std::string shipped_change(const TrustedFile& now, const TrustedFile* before) {
    if (before == nullptr) {
        return "new, file " + now.file + " (sha256 " + short_hash(now.sha256) + "), " +
               wants_text(now.wants);
    }
    std::string text = "file changed from " + short_hash(before->sha256) + " (version " +
                       before->version + ") to " + short_hash(now.sha256);
    if (const std::string more = more_wants(before->wants, now.wants); !more.empty()) {
        text += "; now wants " + more;
    }
    if (const std::string less = more_wants(now.wants, before->wants); !less.empty()) {
        text += "; no longer wants " + less;
    }
    return text;
}

}  // namespace

TrustCheck begin_trust_check(Os& os, int state_dir, std::vector<fs::path> shipped) {
    TrustCheck check{os, std::move(shipped), {}, {}, std::nullopt, {}};
    // Without the guard the lock is still read: what is new is written by a later start.
    if (auto guard = guard_plugins_lock(os, state_dir)) {
        check.guard = std::move(*guard);
    }
    auto lock = PluginsLock::load(os, state_dir);
    if (lock) {
        check.lock = std::move(*lock);
    } else {
        check.unreadable = lock.error();
        check.changes.push_back(lock.error().message());
    }
    return check;
}

Result<> check_trust(PluginEntry& entry, TrustCheck& check) {
    const std::string& name = entry.manifest.name;
    TrustedFile now = trusted_line(entry, "shipped", {});
    now.at.clear();
    const TrustedFile* const found = check.lock.find(entry.sha256);
    if (is_shipped(entry, check)) {
        entry.trust = "shipped";
        if (found == nullptr && !check.unreadable) {
            check.changes.push_back("plugin \"" + name + "\" " + now.version + ": " +
                                    shipped_change(now, check.lock.newest(name)));
            check.lock.add(name, std::move(now));
        }
        return {};
    }
    const std::string who = described(entry.manifest, entry.file);
    if (check.unreadable) {
        return Error(Errc::refused, who + check.unreadable->message());
    }
    if (const std::string why = why_untrusted(now, found, check.lock.newest(name)); !why.empty()) {
        return Error(Errc::refused, who + why);
    }
    entry.trust = found->by.empty() ? "owner" : found->by;
    return {};
}

Result<> end_trust_check(Os& os, int state_dir, TrustCheck& check) {
    if (check.unreadable || !check.guard || !check.lock.is_changed()) {
        return {};
    }
    return check.lock.save(os, state_dir);
}

TrustedFile trusted_line(const PluginEntry& entry, const std::string& by, Timestamp at) {
    return TrustedFile{entry.sha256,
                       entry.manifest.version,
                       entry.file.string(),
                       by,
                       to_rfc3339(at),
                       wants_of(entry.manifest)};
}

Result<> approve_plugin(Os& os, int state_dir, const PluginEntry& entry, Timestamp at) {
    auto guard = guard_plugins_lock(os, state_dir);
    if (!guard) {
        return guard.error();
    }
    auto lock = PluginsLock::load(os, state_dir);
    if (!lock) {
        return lock.error();
    }
    lock->add(entry.manifest.name, trusted_line(entry, "owner", at));
    return lock->save(os, state_dir);
}

}  // namespace daybook
