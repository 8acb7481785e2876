// The runner processes of one desk: one a plugin, made with its first call, kept with the desk.
// When another file of the plugin is put in force, its runner is drained and a new one made.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/format/config.hpp"
#include "host/format/journal_record.hpp"
#include "host/plugin/child_programs.hpp"
#include "host/plugin/desk_inbox.hpp"
#include "host/plugin/host_process.hpp"
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

    /// The runner of just this entry; an earlier entry's is drained. It starts its process with the
    /// first call. Errors: invalid (its configuration), refused. Thread: [desk].
    Result<RunnerProcess*> of(const PluginEntry& plugin);
    /// The plugin's scratch folder for this desk; null when its profile has none. Thread: [desk].
    ScratchFolder* scratch_of(const PluginEntry& plugin);
    /// The same by the plugin's name, once it has run. Thread: [desk].
    [[nodiscard]] const ScratchFolder* find_scratch(const std::string& plugin) const;
    /// For CallWatch::inspect: whether its scratch folder stays within its bounds; empty without
    /// one. Thread: [desk].
    std::function<Result<>()> inspection_of(const PluginEntry& plugin);
    /// What process/1 may start for the plugin.
    [[nodiscard]] ProcessAccess process_access(const PluginEntry& plugin);
    /// The walled children, with the plugin of each. [any]
    [[nodiscard]] std::vector<std::pair<std::string, ChildStatus>> children() const {
        return children_.statuses();
    }
    [[nodiscard]] std::vector<RunnerStatus> statuses() const;  ///< [any]
    void retry(const std::string& plugin);                     ///< [any]
    /// Drains the runners of entries that are not in the set. No call is out. Thread: [desk].
    void keep_only(const PluginSet& plugins);
    /// Ends every process. The desk's thread must not run any more.
    void clear();

  private:
    [[nodiscard]] Result<RunnerSettings> settings_for(const PluginEntry& plugin);
    struct Held {
        const PluginEntry* entry = nullptr;
        std::unique_ptr<RunnerProcess> process;
    };
    [[nodiscard]] RunnerEvents events_for(const PluginEntry& entry) const;
    /// Asks it to finish; it is kept until it has.
    void retire_locked(Held held);
    /// Retired ones that have ended. Destroyed by the caller, without the lock.
    [[nodiscard]] std::vector<Held> take_ended_locked();
    [[nodiscard]] ScratchBounds scratch_bounds() const;
    [[nodiscard]] ChildrenSettings children_settings() const;

    const DeskServices& services_;
    const DeskConfig& config_;
    const std::string zone_;
    DeskInbox& inbox_;
    const std::function<void(JournalEntry)> record_;
    mutable std::mutex mutex_;  // guards both; runners are added by the desk's thread only
    std::map<std::string, Held> runners_;
    std::vector<Held> retired_;                                      // asked to finish
    std::map<std::string, std::unique_ptr<ScratchFolder>> scratch_;  // [desk]
    ChildPrograms children_;
};

}  // namespace daybook
