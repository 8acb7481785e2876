// Which plugins there are, what each offers, and whether it may run.
//
// A plugin's file is found on the plugin path, read once, copied to modules/<sha256>.so (0444) and
// loaded from there, so that replacing the file never touches a running one. Nothing of it is
// executed here: the manifest is read from its ELF note. A file runs when plugins.lock holds its
// hash and wants, or when it came with this daybook (plugin_trust.hpp); else it is refused with how
// it differs. What is in force may be exchanged while desks work (put, adopt). Thread: [any].
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/config.hpp"
#include "host/format/manifest.hpp"
#include "host/os/os.hpp"
#include "host/plugin/plugin_set.hpp"
#include "host/plugin/plugin_states.hpp"

namespace daybook {

struct PluginEntry {
    PluginConfig config;
    std::filesystem::path file;    ///< where it was found
    std::filesystem::path module;  ///< the copy that runners load
    std::string sha256;
    Manifest manifest;
    unsigned groups = 0;  ///< approved groups (gate/leash.hpp)
    std::string trust;    ///< "shipped", "owner", "configuration"; "" = not trusted
    std::string refused;  ///< why it does not load; "" = fine
    /// Calls that runners of this entry have answered, of all desks. Null where nobody counts.
    std::shared_ptr<std::atomic<std::uint64_t>> answered = {};
    std::vector<std::filesystem::path>
        shadowed;  ///< files of the same name further down the plugin path
};

class Registry {
  public:
    struct Places {
        std::vector<std::filesystem::path> search_path;  ///< plugin folders, first match wins
        std::filesystem::path state;                     ///< holds modules/ and plugins.lock
        std::vector<std::filesystem::path> shipped{};    ///< folders of plugins beside the program
        PluginStates states{};  ///< what is switched off, and what is pinned
    };

    /// Never fails as a whole: a plugin that cannot load has `refused` set with a sentence of both
    /// sides (file, wanted, got, what to do) and the others go on. Errors: io (the state folder).
    static Result<Registry> load(Os& os, const Places& places, const Config& config);

    /// One plugin's entry, as load() makes it; `refused` says why it may not run. Nothing is in
    /// force by that. Errors: io (the state folder).
    static Result<PluginEntry> read_entry(Os& os, const Places& places, const PluginConfig& plugin);

    /// What is new since the last start, a sentence each: a shipped plugin that is new or another,
    /// a lock that cannot be read. For journal/_host.
    [[nodiscard]] const std::vector<std::string>& changes() const noexcept { return changes_; }
    /// The plugin's configuration for the desk: the desk's own laid over the plugin's, checked
    /// against its schema. Errors: invalid (names the table and the rule), refused (the plugin does
    /// not load).
    [[nodiscard]] Result<Json> config_of(const PluginEntry& plugin, const DeskConfig& desk) const;
    /// What is in force now. The entries stay valid for the registry's life, also those that
    /// others took the place of.
    [[nodiscard]] PluginSet in_force() const;
    [[nodiscard]] std::uint64_t version() const;  ///< PluginSet::version() of in_force()
    [[nodiscard]] PluginSet::Entries plugins() const { return in_force().entries(); }
    [[nodiscard]] const PluginEntry* find(std::string_view name) const {
        return in_force().find(name);
    }
    [[nodiscard]] std::map<std::string, ToolOffer> tools_of(const DeskConfig& desk) const {
        return in_force().tools_of(desk);
    }
    [[nodiscard]] Result<const PluginEntry*> model_plugin(const ModelConfig& model) const {
        return in_force().model_plugin(model);
    }

    /// Puts the entry in force under its name; work that has begun goes on with what it began with.
    /// Returns the entry that is in force now.
    const PluginEntry* put(PluginEntry entry);
    /// Puts all of another one's in force, and takes out what it does not name.
    void adopt(const Registry& fresh);

  private:
    struct Shared {
        std::mutex mutex;  // guards all of it
        PluginSet::Entries entries;
        std::uint64_t version = 1;
        std::vector<std::unique_ptr<const PluginEntry>> kept;  ///< all that ever were in force
    };
    const PluginEntry* keep_locked(PluginEntry entry);

    std::unique_ptr<Shared> shared_ = std::make_unique<Shared>();
    std::vector<std::string> changes_;
};

/// Default plugin folders: $DAYBOOK_PLUGIN_PATH (absolute folders, separated by colons), the user's
/// ($XDG_DATA_HOME/daybook/plugins/1), then beside this program (bin/../lib/daybook/plugins/1).
[[nodiscard]] std::vector<std::filesystem::path> default_plugin_path();
/// The folder of plugins beside this program, for Places::shipped.
[[nodiscard]] std::vector<std::filesystem::path> shipped_plugin_folders();

/// ABI check as one sentence for people, "" when it fits: file, what it wants, what this host
/// serves, what to do. Looks at name, version and ABI numbers only.
[[nodiscard]] std::string abi_mismatch(const Manifest& manifest, const std::filesystem::path& file);

}  // namespace daybook
