// What the owner and the host have decided about each plugin, kept over a restart: whether it is
// switched off, which file is in force when that is not the one on the plugin path, what was in
// force before, and since when a new one is on probation.
//
// plugins.state in the state folder, one JSON object (docs/formats.md), replaced as a whole: after
// a crash either the old or the new one is there. Thread: [any], the caller's lock.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <daybook/result.hpp>

#include "host/os/os.hpp"

namespace daybook {

/// One file of a plugin, kept as modules/<sha256>.so.
struct PluginVersion {
    std::string sha256;
    std::string version;  ///< as its manifest says
    std::string file;     ///< where it came from
    friend bool operator==(const PluginVersion&, const PluginVersion&) = default;
};

struct PluginState {
    std::string off;                        ///< "" = on; "disabled" or "unloaded", by the owner
    std::string off_since;                  ///< RFC 3339
    std::optional<PluginVersion> current;   ///< last put in force by a swap
    std::optional<PluginVersion> previous;  ///< what a rollback goes back to
    /// `current` is in force although another file lies on the plugin path: one with the hash
    /// `passed_over`, or none when that is "". A third file that appears there ends it at the next
    /// start or reload.
    bool pinned = false;
    std::string passed_over;
    std::string probation_since;  ///< RFC 3339; "" = not on probation
    std::string last;             ///< what became of the last swap, a sentence
    friend bool operator==(const PluginState&, const PluginState&) = default;
};

using PluginStates = std::map<std::string, PluginState>;

struct LoadedPluginStates {
    PluginStates states;
    std::string note;  ///< "" or what is to be told, such as that the file was damaged
};

/// An absent file is an empty one. What cannot be read is kept as plugins.state.damaged.
/// Errors: io.
Result<LoadedPluginStates> load_plugin_states(Os& os, int state_dir);
/// Durable when it returns. Errors: io, full.
Result<> save_plugin_states(Os& os, int state_dir, const PluginStates& states);

}  // namespace daybook
