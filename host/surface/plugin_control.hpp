// Plugins that come and go while desks work: load, reload, unload, roll back, switch off and on.
//
// A swap: the new file is read and kept as modules/<sha256>.so; a runner of its own proves it for
// the desks that use it; the decision is written durably; only then is the new entry in force. Each
// desk takes it up between two pieces of its work, drains the old runner and starts the new one
// with its next call, so that no call is dropped and a turn ends on what it began with. From then
// on the new file is on probation: if a runner of it crashes or does not start, the file before it
// is put back. plugins.state holds the decisions, so a host that dies in the middle comes back with
// one of both, whole.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/config.hpp"
#include "host/format/json.hpp"
#include "host/os/clock.hpp"
#include "host/plugin/plugin_states.hpp"
#include "host/plugin/registry.hpp"
#include "host/plugin/runner_process.hpp"

namespace daybook {

class Host;

/// A new file is on probation for so long, and until it has answered so many calls.
struct ProbationLimits {
    std::chrono::seconds time{60};
    std::uint64_t calls = 3;
};

class PluginControl {
  public:
    /// One swap at a time, whoever asks for it: held from the reading to the flip.
    class Turn {
      public:
        explicit Turn(PluginControl& control);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        Turn(Turn&&) = delete;
        Turn& operator=(Turn&&) = delete;
        [[nodiscard]] Result<> taken() const;  ///< Errors: busy.

      private:
        PluginControl& control_;
        bool held_ = false;
    };

    /// The host outlives it.
    explicit PluginControl(Host& host, ProbationLimits limits = {})
        : host_(host), limits_(limits) {}

    /// Reads plugins.state, before the registry is loaded. Errors: io. Thread: [main].
    Result<> open();
    /// Takes up what was in force before the restart. Thread: [main], once the registry is.
    void resume();
    [[nodiscard]] PluginStates states() const;                          ///< [any]
    [[nodiscard]] PluginState state_of(const std::string& name) const;  ///< [any]
    /// {"since","answered","wanted"} of a plugin on probation, else null. Thread: [any].
    [[nodiscard]] Json probation_of(const std::string& name) const;

    // The owner's requests. What is refused changes nothing. Thread: a job's.

    /// Puts the file in force as plugin `name`, or, when that is "", as the one that its manifest
    /// names. Errors: not_found, refused (what it says of itself, or its proof), unavailable (its
    /// proof: it crashed, or is not well), busy (another swap), io, full.
    Result<Json> load(const std::filesystem::path& file, std::string name);
    /// The same with the file on the plugin path.
    Result<Json> reload(const std::string& name);
    /// Puts back what was in force before. Errors: those of load(); not_found: nothing was.
    Result<Json> roll_back(const std::string& name);
    /// `how`: "disabled" or "unloaded". Its runners are drained. Errors: not_found, busy, io, full.
    Result<Json> switch_off(const std::string& name, const std::string& how);
    Result<Json> enable(const std::string& name);

    /// For a configuration that is read again: proves what is another file now. One that fails
    /// stays as it is when its configuration did not change, and `notes` says so. Thread: a job's.
    /// Errors: refused (the new configuration cannot be in force).
    struct Reviewed {
        std::vector<const PluginEntry*> fresh;  ///< proved, in the order of their names
        std::vector<std::string> notes;
    };
    Result<Reviewed> review(Registry& fresh, const Config& config);
    /// Writes what the review decided, just before the new registry is adopted; then `adopt` runs.
    /// The caller has had the turn since before the review. Errors: io, full; nothing is adopted.
    Result<> put_in_force(const Reviewed& reviewed, const std::function<void()>& adopt);

    /// RunnerEvents::on_lifecycle of every desk. Thread: [io].
    void on_runner(const PluginEntry& entry, const std::string& what, const RunnerStatus& status);
    /// Ends probations that are passed, and begins rollbacks that are due. Thread: [worker].
    void tick();

  private:
    struct Probation {
        const PluginEntry* entry = nullptr;
        SteadyTime since{};
        std::uint64_t answered_before = 0;
        std::string due;  ///< why it is to be rolled back; "" = it is not
    };
    [[nodiscard]] Result<const PluginEntry*> find(const std::string& name) const;
    Result<PluginEntry> read(const PluginConfig& plugin, PluginStates states) const;
    Result<Json> swap(PluginEntry fresh, const std::string& why);
    Result<> prove(const PluginEntry& fresh, const Config& config) const;
    Result<> prove_on(const PluginEntry& fresh,
                      const Config& config,
                      const std::string& desk) const;
    Result<Json> put_back(const std::string& name, const std::string& why);
    void roll_back_due(const std::string& name, const std::string& why);
    void start_due();
    /// Writes the states with this one changed; in memory too once they are durable.
    Result<> keep(const std::string& name, const PluginState& state);
    void flip(PluginEntry entry, bool on_probation);
    void begin_probation_locked(const PluginEntry& entry);
    void tell(const std::string& name, const char* what, Json data) const;
    [[nodiscard]] std::string now_text() const;

    Host& host_;
    const ProbationLimits limits_;
    mutable std::mutex mutex_;  // guards all below; never held while anything is called
    std::condition_variable freed_;
    bool taken_ = false;
    PluginStates states_;
    std::map<std::string, Probation> probations_;
    std::string note_;  ///< of the reading at start
};

}  // namespace daybook
