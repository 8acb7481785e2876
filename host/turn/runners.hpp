// The runner processes of one desk: one a plugin, made with its first call, kept with the desk.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/format/config.hpp"
#include "host/format/journal_record.hpp"
#include "host/plugin/desk_inbox.hpp"
#include "host/plugin/runner_process.hpp"
#include "host/plugin/scratch_folder.hpp"

namespace daybook {

struct DeskServices;

class Runners {
  public:
    /// Borrowed, outlives the runners. `record` gets lifecycle entries for the host's journal; it
    /// must not block. [io]
    Runners(const DeskServices& services,
            const DeskConfig& config,
            std::string zone,
            DeskInbox& inbox,
            std::function<void(JournalEntry)> record);

    /// The plugin's runner; it starts its process with the first call. Errors: invalid (its
    /// configuration), refused. Thread: [desk].
    Result<RunnerProcess*> of(const PluginEntry& plugin);
    /// The plugin's scratch folder for this desk; null when its profile has none. Thread: [desk].
    ScratchFolder* scratch_of(const PluginEntry& plugin);
    /// The same by the plugin's name, once it has run. Thread: [desk].
    [[nodiscard]] const ScratchFolder* find_scratch(const std::string& plugin) const;
    /// For CallWatch::inspect: whether its scratch folder stays within its bounds; empty without
    /// one. Thread: [desk].
    std::function<Result<>()> inspection_of(const PluginEntry& plugin);
    [[nodiscard]] std::vector<RunnerStatus> statuses() const;  ///< [any]
    void retry(const std::string& plugin);                     ///< [any]
    /// Ends every process. The desk's thread must not run any more.
    void clear();

  private:
    [[nodiscard]] Result<RunnerSettings> settings_for(const PluginEntry& plugin);
    [[nodiscard]] RunnerEvents events_for(const std::string& plugin) const;

    const DeskServices& services_;
    const DeskConfig& config_;
    const std::string zone_;
    DeskInbox& inbox_;
    const std::function<void(JournalEntry)> record_;
    mutable std::mutex mutex_;  // guards the map; runners are added by the desk's thread only
    std::map<std::string, std::unique_ptr<RunnerProcess>> runners_;
    std::map<std::string, std::unique_ptr<ScratchFolder>> scratch_;  // [desk]
};

}  // namespace daybook
