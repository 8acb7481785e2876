// What the owner is shown of a plugin's file before approving it, and the approval: online through
// the host, offline by `daybookd --once`. Nothing of the file is executed. Thread: [any] but [io].
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/config.hpp"
#include "host/format/json.hpp"
#include "host/os/os.hpp"
#include "host/plugin/registry.hpp"

namespace daybook {

/// Where plugins, their approvals and their grants lie. Borrowed.
struct ApprovalPlace {
    Os& os;
    int state_dir = -1;
    const Registry::Places& plugins;
    const Config* config = nullptr;  ///< nullptr: it cannot be read
};

/// One of the two: an absolute path, or a plugin's name as the configuration and the plugin path
/// know it.
struct ApprovalWish {
    std::filesystem::path file;
    std::string plugin;
    std::string sha256;  ///< what the owner was shown; "" = whatever the file is now
};

/// {"plugin","version","file","sha256","profile","wants","calls","origins","programs","reads",
/// "granted":{"origins","urls","reads"},"trusted":"owner","why":""}. `why` says how the file
/// differs from what was approved, "" when it may run. Errors: not_found, invalid, unsupported,
/// refused, io.
Result<Json> look_at_plugin(const ApprovalPlace& place, const ApprovalWish& wish);

/// Records the approval and returns the same, with "trusted":"owner". Errors: conflict (the file is
/// another than was shown), corrupt (plugins.lock), busy, and those above.
Result<Json> approve_plugin_file(const ApprovalPlace& place,
                                 const ApprovalWish& wish,
                                 Timestamp at);

/// For journal/_host, record type "plugin": {"what":"trusted","plugin","version","sha256",…}.
[[nodiscard]] Json approval_record(const Json& approved);

}  // namespace daybook
