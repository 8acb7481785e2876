// What the tests of runners share: an I/O thread, a desk's inbox, plugins of the fake runner or of
// the fixtures.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/plugin/call.hpp"
#include "host/plugin/registry.hpp"
#include "host/plugin/runner_process.hpp"
#include "tests/catch.hpp"
#include "tests/support/io_thread.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::test {

inline constexpr std::chrono::seconds kPatience{20};

inline SteadyTime within(std::chrono::milliseconds time) {
    return std::chrono::steady_clock::now() + time;
}

/// Keeps what a runner's events say; may be asked from any thread.
class EventLog {
  public:
    RunnerEvents events() {
        return {[this](int level, const std::string& line) {
                    const std::lock_guard guard(mutex_);
                    lines_.emplace_back(level, line);
                },
                [this](const std::string& what, const RunnerStatus&) {
                    const std::lock_guard guard(mutex_);
                    lifecycle_.push_back(what);
                }};
    }
    std::vector<std::pair<int, std::string>> lines() const {
        const std::lock_guard guard(mutex_);
        return lines_;
    }
    std::vector<std::string> lifecycle() const {
        const std::lock_guard guard(mutex_);
        return lifecycle_;
    }
    bool has_line(const std::string& part) const {
        const std::lock_guard guard(mutex_);
        for (const auto& [level, line] : lines_) {
            if (line.find(part) != std::string::npos) {
                return true;
            }
        }
        return false;
    }

  private:
    mutable std::mutex mutex_;  // guards what follows
    std::vector<std::pair<int, std::string>> lines_;
    std::vector<std::string> lifecycle_;
};

/// Answers verbs with a function; counts them.
class ScriptedVerbs final : public VerbServer {
  public:
    using Answer = std::function<Result<std::string>(
        Leash&, std::string_view, const std::vector<std::string>&, CallOutcome&)>;
    explicit ScriptedVerbs(Answer answer = {}) : answer_(std::move(answer)) {}
    Result<std::string> serve(Leash& leash,
                              std::string_view verb,
                              const std::vector<std::string>& arguments,
                              CallOutcome& outcome) override {
        asked.emplace_back(verb);
        return answer_ ? answer_(leash, verb, arguments, outcome)
                       : Result<std::string>(Error(Errc::refused, "no verbs here"));
    }
    std::vector<std::string> asked;

  private:
    Answer answer_;
};

struct Bench {
    TempFolder folder;
    DeskInbox inbox;
    EventLog log;
    IoThread io;  // ends last of those that use the loop

    Bench() {
        std::filesystem::create_directories(folder / "desk");
        folder.write("probe", "x");
    }

    RunnerSettings settings(const std::string& program) const {
        RunnerSettings out;
        out.program = program;
        out.desk_dir = folder / "desk";
        out.desk = "main";
        out.zone = "Asia/Kolkata";
        out.probe_file = folder / "probe";
        out.cancel_grace = std::chrono::milliseconds(300);
        return out;
    }

    /// Serves the inbox until the condition holds.
    bool wait(const std::function<bool()>& done) {
        const SteadyTime end = within(kPatience);
        while (!done()) {
            if (std::chrono::steady_clock::now() >= end) {
                return false;
            }
            inbox.serve_until(done, within(std::chrono::milliseconds(5)));
        }
        return true;
    }
};

inline std::string fake_runner() {
    return std::string(DAYBOOK_BUILD_DIR) + "/tests/daybook_fake_runner";
}
inline std::string real_runner() {
    return std::string(DAYBOOK_BUILD_DIR) + "/libexec/daybook/daybook-runner";
}

/// A plugin as the fake runner describes itself.
inline PluginEntry fake_plugin(const std::string& mode) {
    PluginEntry entry;
    entry.config.name = mode;
    entry.file = "/nowhere/" + mode + ".so";
    entry.module = entry.file;
    auto manifest = Manifest::parse(R"({"manifest":1,"name":")" + mode +
                                    R"(","version":"1.0.0","abi":[1,0],"tools":[],)" +
                                    R"("models":[],"skills":[]})");
    REQUIRE(manifest);
    entry.manifest = *manifest;
    return entry;
}

/// One runner and calls on it.
class Caller {
  public:
    Caller(Bench& bench, PluginEntry plugin, RunnerSettings settings)
        : bench_(bench),
          plugin_(std::make_unique<PluginEntry>(std::move(plugin))),
          grace_(settings.cancel_grace),
          runner(bench.io.loop, bench.inbox, *plugin_, std::move(settings), bench.log.events()) {}

    CallOutcome call(const std::string& tool,
                     const std::string& arguments = "{}",
                     std::chrono::milliseconds time = std::chrono::milliseconds(10000),
                     const CallWatch& watch = {}) {
        Leash leash;
        leash.desk = "main";
        leash.plugin = plugin_->config.name;
        leash.tool = tool;
        leash.groups = kAllGroups;
        leash.calls_left = 10;
        leash.deadline = within(time);
        CallRequest request;
        request.name = tool;
        request.arguments = arguments;
        request.idempotency_key = "key-1";
        return run_call(runner, bench_.inbox, leash, request, verbs, watch, grace_);
    }

  private:
    Bench& bench_;
    std::unique_ptr<PluginEntry> plugin_;
    std::chrono::milliseconds grace_;

  public:
    ScriptedVerbs verbs;
    RunnerProcess runner;
};

}  // namespace daybook::test
