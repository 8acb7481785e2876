// plugins.lock: which files of plugins the owner trusts, and what each may want (docs/formats.md).
//
// One line a file, newest first below its plugin's name; a file is known by its SHA-256 alone, so
// that an earlier one that was trusted once can be gone back to. Files that came with this daybook
// are added when they are loaded. A lock that cannot be read is never written over. Thread: [any]
// but [io].
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/clock.hpp"
#include "host/os/os.hpp"
#include "host/plugin/plugin_wants.hpp"

namespace daybook {

inline constexpr std::string_view kLockFile = "plugins.lock";
/// Lines kept of one plugin; the oldest goes.
inline constexpr std::size_t kMaxTrustedFiles = 16;

struct TrustedFile {
    std::string sha256;
    std::string version;
    std::string file;  ///< where it lay
    std::string by;    ///< "owner"; "shipped"; "configuration": from a lock of number 1
    std::string at;    ///< RFC 3339, "" in a lock of number 1
    PluginWants wants;
    friend bool operator==(const TrustedFile&, const TrustedFile&) = default;
};

class PluginsLock {
  public:
    /// No file is an empty lock. Errors: corrupt (where it is wrong, and what to do), unsupported
    /// (of a later daybook), io.
    static Result<PluginsLock> load(Os& os, int state_dir);

    [[nodiscard]] const TrustedFile* find(std::string_view sha256) const;
    /// The newest line of the plugin; nullptr = none.
    [[nodiscard]] const TrustedFile* newest(const std::string& plugin) const;
    void add(const std::string& plugin, TrustedFile file);
    /// Drops every line of the plugin; how many there were.
    std::size_t remove(const std::string& plugin);
    [[nodiscard]] bool is_changed() const noexcept { return changed_; }
    /// Errors: io, full.
    Result<> save(Os& os, int state_dir) const;

  private:
    std::map<std::string, std::vector<TrustedFile>> plugins_;
    bool changed_ = false;
};

/// Held while the lock is read, changed and written. Errors: busy (somebody else does so now), io.
Result<UniqueFd> guard_plugins_lock(Os& os, int state_dir);

/// "" when the file may run, else how it differs from what was trusted and what to do. `found` is
/// the line of the same hash, `newest` the newest of the same plugin; each may be nullptr.
[[nodiscard]] std::string why_untrusted(const TrustedFile& file,
                                        const TrustedFile* found,
                                        const TrustedFile* newest);

/// The first hex digits of a hash, for sentences.
[[nodiscard]] std::string short_hash(std::string_view sha256);

}  // namespace daybook
