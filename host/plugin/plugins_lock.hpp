// plugins.lock: which file each plugin was loaded from last time, and what it wanted
// (docs/formats.md). One JSON object:
// {"lock":1,"plugins":{"memory":{"sha256":"…","version":"0.1.0","file":"…","wants":["daybook.desk-files/1"]}}}
#pragma once

#include <map>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/os.hpp"
#include "host/plugin/registry.hpp"

namespace daybook {

struct LockedPlugin {
    std::string sha256;
    std::string version;
    std::string file;
    std::vector<std::string> wants;
    friend bool operator==(const LockedPlugin&, const LockedPlugin&) = default;
};

/// Compares what loads now with the lock, writes the lock when they differ, and returns the
/// differences, a sentence each. A plugin that does not load keeps its line. A lock that cannot be
/// read is kept as plugins.lock.damaged. Errors: io, full.
Result<std::vector<std::string>> update_lock(Os& os,
                                             int state_dir,
                                             const std::map<std::string, PluginEntry>& plugins);

}  // namespace daybook
