// The running host: what its configuration names, opened; and what requests and signals do with it.
//
// main.cpp builds it before any other thread runs. Desks are opened once; a desk that does not open
// keeps its reason and the others serve. Thread: [any] unless said.
#pragma once

#include <atomic>
#include <chrono>
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
#include "host/journal/journal.hpp"
#include "host/os/clock.hpp"
#include "host/os/folder_watcher.hpp"
#include "host/os/http_client.hpp"
#include "host/os/io_loop.hpp"
#include "host/os/key_files.hpp"
#include "host/os/os.hpp"
#include "host/plugin/registry.hpp"
#include "host/surface/desk_slots.hpp"
#include "host/surface/log.hpp"
#include "host/surface/places.hpp"
#include "host/surface/state_folder.hpp"
#include "host/surface/worker.hpp"
#include "host/turn/desk.hpp"

namespace daybook {

class PluginControl;

class Host {
  public:
    /// Borrowed; outlives the host.
    struct Needs {
        Os& os;
        IoLoop& loop;
        Log& log;
        const Places& places;
        const StateFolder& state;
    };

    /// Registry, clock and the host's own journal; no desk yet. Errors: io, corrupt, invalid
    /// (replay_start).
    static Result<std::unique_ptr<Host>> open(const Needs& needs, Config config);
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    Host(Host&&) = delete;
    Host& operator=(Host&&) = delete;

    /// Takes up every desk: opens it, unless it is known to be at rest. A failure is logged,
    /// journalled and kept. `on_progress` hears of each that was opened: its number, and how many
    /// there are. Thread: [main], before requests are served.
    void open_desks(const std::function<void(std::size_t done, std::size_t all)>& on_progress = {});

    /// Opens the desk when it is at rest. It may be used until the request, or the job, ends; what
    /// outlives that holds its shared_from_this(). Errors: not_found (lists the desks), unavailable
    /// (the desk did not open: why), busy (it is being reloaded).
    Result<Desk*> desk(std::string_view name) const;
    [[nodiscard]] std::vector<Desk*> desks() const;          ///< that are open, by name
    [[nodiscard]] std::vector<DeskStatus> statuses() const;  ///< of all, by name
    /// One that is open, or else can be; nullptr: there is none.
    [[nodiscard]] Desk* any_desk() const;

    [[nodiscard]] const Needs& needs() const noexcept { return needs_; }
    /// Of the newest configuration in force; valid for the host's life.
    [[nodiscard]] const Config& config() const noexcept { return current_.load()->config; }
    [[nodiscard]] const Registry& registry() const noexcept { return *registry_; }
    [[nodiscard]] const Journal& journal() const noexcept { return *journal_; }
    [[nodiscard]] const Clock& clock() const noexcept { return *clock_; }
    [[nodiscard]] ReplayedClock* replayed() const noexcept {
        return replayed_;
    }  ///< nullptr = the real clock
    [[nodiscard]] FolderWatcher::Status watched() const { return watcher_.status(); }
    [[nodiscard]] Log& log() const noexcept { return needs_.log; }
    [[nodiscard]] Worker& worker() noexcept { return worker_; }
    [[nodiscard]] Jobs& jobs() noexcept { return jobs_; }
    [[nodiscard]] std::chrono::steady_clock::time_point started() const noexcept {
        return started_;
    }
    /// Swaps of plugins, and their probations.
    [[nodiscard]] PluginControl& plugins() const noexcept { return *plugins_; }
    /// Where plugins are looked for and kept.
    [[nodiscard]] Registry::Places plugin_places(PluginStates states) const;
    /// Puts the entry in force; returns it as it is kept.
    const PluginEntry* put_plugin(PluginEntry entry) { return registry_->put(std::move(entry)); }
    /// One line for systemd and people: "3 desks, 2 plugins, next rollover main 15:45".
    [[nodiscard]] std::string summary() const;

    /// Compares every desk's clock with its next rollover, and closes desks that had nothing to do.
    /// True: more are due than were opened at once. Thread: [worker].
    bool tick();
    /// Reads the configuration again and puts it in force: desks that are new, gone or changed,
    /// models, plugins and limits. A wrong one changes nothing, and status says why. `done` runs in
    /// any case. Thread: [any].
    void reload(std::function<void()> done);
    /// Runs `work` on the files of one desk that is closed meanwhile, as DeskSlots::while_closed.
    /// A desk that the configuration does not name is nobody's: `work` runs. Thread: a job's.
    Result<> while_closed(const std::string& desk,
                          const std::string& is,
                          const std::function<Result<>()>& work);
    /// What became of the last reload when it needs the owner's eye; "" = nothing.
    [[nodiscard]] std::string reload_note() const;
    /// Journals a line of the host's own; a failure is logged. Thread: not [io].
    void record(std::string type, Json data);
    /// Makes the replayed clock's next position durable, before the clock moves there. Errors: io,
    /// full.
    Result<> save_replay_position(Timestamp at);

    /// Called once by whoever wants the host to end; main hears of it.
    void request_stop(const std::string& why);
    void on_stop_requested(std::function<void(const std::string& why)> listener);
    [[nodiscard]] bool is_stopping() const noexcept { return stopping_.load(); }
    void note_stopping() noexcept { stopping_ = true; }
    /// Ends every desk: running turns may end within the grace. Waits. Thread: not [io], not a
    /// desk's.
    void drain(std::chrono::milliseconds grace);
    /// While stopping: cuts whatever turn runs; what was accepted runs at the next start. Thread:
    /// [any].
    void cut_now();

  private:
    /// One configuration with what was made of it. Desks refer to theirs, so all are kept.
    struct Generation {
        Config config;
        std::map<std::string, std::string> tables;  ///< to compare the next one with
        std::unique_ptr<Registry> registry;         ///< as read; what is in force is the host's
        std::optional<DeskServices> services;
    };

    explicit Host(const Needs& needs);
    Result<> make_clock(const HostConfig& config);
    /// Errors: those of the registry. Nothing is in force yet.
    Result<std::unique_ptr<Generation>> make_generation(Config config,
                                                        std::map<std::string, std::string> tables);
    struct ReadAgain;
    Result<ReadAgain> read_again();
    Result<> check_generation(const Generation& fresh) const;
    Result<> put_in_force(ReadAgain fresh);
    void note_reload(std::string note);
    void tell_plugins(const Registry& registry);

    Needs needs_;
    std::unique_ptr<Clock> clock_;
    ReplayedClock* replayed_ = nullptr;
    std::unique_ptr<Journal> journal_;
    FolderWatcher watcher_;
    HttpClient http_;
    KeyFiles keys_;
    const std::unique_ptr<Registry> registry_ = std::make_unique<Registry>();
    std::vector<std::unique_ptr<Generation>> generations_;  // added to by one reload at a time
    std::atomic<Generation*> current_{nullptr};
    mutable std::mutex note_mutex_;  // guards reload_note_
    std::string reload_note_;
    std::unique_ptr<PluginControl> plugins_;
    mutable DeskSlots slots_;
    std::chrono::steady_clock::time_point started_;
    std::atomic<bool> stopping_{false};
    std::mutex stop_mutex_;  // guards stop_listener_
    std::function<void(const std::string&)> stop_listener_;
    Jobs jobs_;
    Worker worker_;
};

}  // namespace daybook
