// Whether a plugin's file may run: the owner approved it, or it came with this daybook.
//
// A file comes with daybook when it lies in the folder of plugins beside the program and
// FILE.sha256 beside it names its hash: who may write both may replace daybookd itself. Such a file
// is recorded as "shipped". Everything else wants the owner's word once for each file
// (`daybook plugin trust FILE`). Thread: [any] but [io].
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/os.hpp"
#include "host/plugin/plugins_lock.hpp"
#include "host/plugin/registry.hpp"

namespace daybook {

/// One reading of plugins.lock, for every plugin of a registry.
struct TrustCheck {
    Os& os;
    std::vector<std::filesystem::path> shipped;
    UniqueFd guard;  ///< held until the lock is written; none = it is not written
    PluginsLock lock;
    std::optional<Error> unreadable;  ///< then only shipped files are trusted
    std::vector<std::string> changes;
};

TrustCheck begin_trust_check(Os& os, int state_dir, std::vector<std::filesystem::path> shipped);
/// Sets entry.trust, or says what to do. Errors: refused.
Result<> check_trust(PluginEntry& entry, TrustCheck& check);
/// Writes what is new about shipped files. Errors: io, full.
Result<> end_trust_check(Os& os, int state_dir, TrustCheck& check);

/// The line that approves the entry as it was read (plugin_reading.hpp).
[[nodiscard]] TrustedFile trusted_line(const PluginEntry& entry,
                                       const std::string& by,
                                       Timestamp at);

/// Records the owner's approval of the entry, which read_plugin() has filled. Errors: corrupt (the
/// lock cannot be read, and is left alone), busy, io, full.
Result<> approve_plugin(Os& os, int state_dir, const PluginEntry& entry, Timestamp at);

}  // namespace daybook
