// Approves plugins as `daybook plugin trust` does: what tests bring did not come with daybook.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "host/plugin/plugin_reading.hpp"
#include "host/plugin/plugin_trust.hpp"
#include "tests/support/must.hpp"

namespace daybook::test {

/// Approves the file in the state folder. False: it is no plugin that could ever load.
inline bool trust_plugin(Os& os,
                         const std::filesystem::path& state,
                         const std::filesystem::path& file) {
    PluginEntry entry;
    entry.config.name = file.stem().string();
    entry.file = std::filesystem::canonical(file);
    if (!read_plugin(os, entry)) {
        return false;
    }
    const UniqueFd dir = must(os.open_root(state));
    must(approve_plugin(os, dir.get(), entry, Timestamp{}));
    return true;
}

}  // namespace daybook::test
