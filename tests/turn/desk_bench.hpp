// A whole desk for a test: a home, the real runner, a model that follows a script, plugins of the
// fixtures.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/journal/journal.hpp"
#include "host/journal/journal_reader.hpp"
#include "host/session/session_store.hpp"
#include "host/turn/desk.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fault_os.hpp"
#include "tests/support/io_thread.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::test {

inline SteadyTime patience() {
    return std::chrono::steady_clock::now() + std::chrono::seconds(20);
}

/// Keeps what a desk tells; a test waits in it for what it expects. Thread: [any].
class EventLog {
  public:
    void take(const Json& event) {
        const std::lock_guard lock(mutex_);
        events_.push_back(event);
        arrived_.notify_all();
    }
    /// The first event that fits, from the beginning; null at the deadline.
    Json wait(const std::function<bool(const Json&)>& fits) {
        std::unique_lock lock(mutex_);
        Json found;
        arrived_.wait_until(lock, patience(), [&] {
            for (const Json& event : events_) {
                if (fits(event)) {
                    found = event;
                    return true;
                }
            }
            return false;
        });
        return found;
    }
    Json wait(const std::string& name) {
        return wait([&](const Json& event) { return event["event"].as_string() == name; });
    }
    std::vector<Json> all(const std::string& name) const {
        const std::lock_guard lock(mutex_);
        std::vector<Json> found;
        std::copy_if(
            events_.begin(), events_.end(), std::back_inserter(found), [&](const Json& event) {
                return event["event"].as_string() == name;
            });
        return found;
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        events_.clear();
    }

  private:
    mutable std::mutex mutex_;  // guards events_
    std::condition_variable arrived_;
    std::vector<Json> events_;
};

class DeskBench {
  public:
    /// `script` is the answer list of the model "one" (tests/turn/scripted_model).
    explicit DeskBench(const std::string& script = "[]",
                       const std::string& now = "2026-10-19T09:30:00+05:30")
        : clock(now) {
        config.host.min_free_bytes = 1;
        config.host.cancel_grace = std::chrono::milliseconds(500);
        add_model("one", script);
        desk_config.name = "main";
        desk_config.calendar = "nse";
        desk_config.rollover = must(TimeOfDay::parse("15:45"));
        desk_config.plugins = {"memory", "effects", "echo", "crash"};
        for (const std::string& plugin : desk_config.plugins) {
            config.plugins[plugin].name = plugin;
        }
        folder.write("probe", "x");
    }
    ~DeskBench() { close(); }
    DeskBench(const DeskBench&) = delete;
    DeskBench& operator=(const DeskBench&) = delete;
    DeskBench(DeskBench&&) = delete;
    DeskBench& operator=(DeskBench&&) = delete;

    void add_model(const std::string& name,
                   const std::string& script,
                   const std::string& plugin_config = "{}") {
        const std::string plugin = "scripted_" + name;
        config.plugins[plugin].name = plugin;
        config.plugins[plugin].file = "scripted.so";
        config.plugins[plugin].config = must(Json::parse(plugin_config));
        ModelConfig model;
        model.name = name;
        model.plugin = plugin;
        model.model = "scripted";
        model.config = Json::object().set("script", must(Json::parse(script)));
        config.models[name] = model;
        if (std::find(desk_config.models.begin(), desk_config.models.end(), name) ==
            desk_config.models.end()) {
            desk_config.models.push_back(name);
        }
    }
    void set_script(const std::string& name, const std::string& script) {
        config.models.at(name).config = Json::object().set("script", must(Json::parse(script)));
    }

    Desk& open() {
        close();
        io = std::make_unique<IoThread>();
        host_dir = must(real.open_root(folder.path()));
        host_journal =
            must(Journal::open(os, clock, host_dir.get(), "journal/_host", "_host", std::nullopt));
        const std::filesystem::path built(DAYBOOK_BUILD_DIR);
        registry = std::make_unique<Registry>(
            must(Registry::load(real,
                                {{built / "lib/daybook/plugins/1", built / "lib/daybook/fixtures"},
                                 folder.path(),
                                 {built / "lib/daybook/plugins/1", built / "lib/daybook/fixtures"}},
                                config)));
        services = std::make_unique<DeskServices>(
            DeskServices{os,
                         clock,
                         io->loop,
                         *registry,
                         config,
                         *host_journal,
                         folder.path(),
                         std::filesystem::path(DAYBOOK_SOURCE_DIR) / "share",
                         built / "libexec/daybook/daybook-runner",
                         folder / "probe",
                         [this](int level, const std::string& line) {
                             const std::lock_guard lock(log_mutex_);
                             log_ += std::to_string(level) + " " + line + "\n";
                         }});
        desk = must(Desk::open(*services, desk_config));
        desk->listen([this](const Json& event) { events.take(event); });
        return *desk;
    }
    void close() {
        desk.reset();
        services.reset();
        registry.reset();
        host_journal.reset();
        host_dir.reset();
        io.reset();
        events.clear();
    }
    /// Stops at once, as a crash would leave it but for what the desk's thread was just writing.
    void stop_hard() {
        desk->stop(std::chrono::milliseconds(0));
        close();
    }

    std::string accept(const std::string& text,
                       TurnKind kind = TurnKind::message,
                       const std::string& key = "") {
        return must(desk->accept(kind, text, key, "")).trigger;
    }
    /// The turn_end event of a trigger.
    Json end_of(const std::string& trigger) {
        return events.wait([&](const Json& event) {
            return event["event"].as_string() == "turn_end" &&
                   event["trigger"].as_string() == trigger;
        });
    }
    Json say(const std::string& text, TurnKind kind = TurnKind::message) {
        return end_of(accept(text, kind));
    }
    Desk::ToolAnswer call_tool(const std::string& tool, const std::string& arguments) {
        Desk::ToolAnswer answer;
        std::mutex mutex;
        std::condition_variable done;
        bool is_done = false;
        desk->call_tool(tool, arguments, [&](Desk::ToolAnswer result) {
            const std::lock_guard lock(mutex);
            answer = std::move(result);
            is_done = true;
            done.notify_one();
        });
        std::unique_lock lock(mutex);
        REQUIRE(done.wait_until(lock, patience(), [&] { return is_done; }));
        return answer;
    }
    void settle() { REQUIRE(desk->wait_idle(patience())); }

    /// Records of the desk's journal, of one type, or all.
    std::vector<JournalRecord> records(const std::string& type = "") const {
        std::vector<JournalRecord> found;
        const UniqueFd dir = must(LinuxOs().open_root(folder.path()));
        LinuxOs reading;
        const auto reader = must(JournalReader::open(reading, dir.get(), "journal/main"));
        for (const DeskDate day : must(reader.days())) {
            for (JournalRecord& record : must(reader.read_day(day)).records) {
                if (type.empty() || record.entry.type == type) {
                    found.push_back(std::move(record));
                }
            }
        }
        return found;
    }
    std::vector<SessionRecord> session(const std::string& id) const {
        return must(desk->sessions().read(id));
    }
    std::string log() const {
        const std::lock_guard lock(log_mutex_);
        return log_;
    }

    TempFolder folder;
    LinuxOs real;
    FaultOs os{real};
    FakeClock clock;
    Config config;
    DeskConfig desk_config;
    EventLog events;
    std::unique_ptr<IoThread> io;  ///< made by open(), so that a test may fork before it
    UniqueFd host_dir;
    std::unique_ptr<Journal> host_journal;
    std::unique_ptr<Registry> registry;
    std::unique_ptr<DeskServices> services;
    std::unique_ptr<Desk> desk;

  private:
    mutable std::mutex log_mutex_;  // guards log_
    std::string log_;
};

}  // namespace daybook::test
