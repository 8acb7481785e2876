#include "tests/story/story_life.hpp"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <unistd.h>

#include "host/surface/host.hpp"
#include "host/surface/log.hpp"
#include "host/surface/places.hpp"
#include "host/surface/replay.hpp"
#include "host/surface/state_folder.hpp"
#include "host/turn/trigger.hpp"
#include "tests/support/io_thread.hpp"
#include "tests/support/kill_os.hpp"
#include "tests/support/must.hpp"
#include "tests/support/trust.hpp"

namespace daybook::test {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::milliseconds kGrace{5000};

SteadyTime patience() {
    return std::chrono::steady_clock::now() + kPatience;
}

std::string text_or(const Json& value, const std::string& fallback) {
    return value.is_string() ? value.as_string() : fallback;
}

/// Replaces a file as an editor does: the new text beside it, then its name.
void save(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    const fs::path beside = file.parent_path() / (".edited-" + file.filename().string());
    std::ofstream(beside, std::ios::binary) << text;
    fs::rename(beside, file);
}

Places places_in(const fs::path& home) {
    Places places;
    places.layout = Layout::home;
    places.home = home;
    places.config = home / "daybook.toml";
    places.state = home / "state";
    places.share = fs::path(DAYBOOK_SOURCE_DIR) / "share";
    places.runner = fs::path(DAYBOOK_BUILD_DIR) / "libexec/daybook/daybook-runner";
    return places;
}

Config config_of(const Story& story) {
    Config config = must(Config::parse(story.config, story.name + "/daybook.toml"));
    for (const auto& [model, answers] : story.answers.members()) {
        const auto found = config.models.find(model);
        if (found == config.models.end()) {
            throw std::runtime_error("answers.json: no model " + model);
        }
        found->second.config.set("script", answers);
    }
    return config;
}

/// What the desks tell. Thread: [any].
class Heard {
  public:
    void take(const Json& event) {
        const std::lock_guard lock(mutex_);
        events_.push_back(event);
        arrived_.notify_all();
    }
    /// The first event of that name for the trigger; null after the patience.
    Json wait(const std::string& name, const std::string& trigger) {
        std::unique_lock lock(mutex_);
        Json found;
        arrived_.wait_until(lock, patience(), [&] {
            for (const Json& event : events_) {
                if (event["event"].as_string() == name && event["trigger"].as_string() == trigger) {
                    found = event;
                    return true;
                }
            }
            return false;
        });
        return found;
    }

  private:
    std::mutex mutex_;  // guards events_
    std::condition_variable arrived_;
    std::vector<Json> events_;
};

class Life {
  public:
    Life(const Story& story, const fs::path& home)
        : story_(story), home_(home), places_(places_in(home)) {}

    void start(const Json& action) {
        if (action.has("die")) {
            arm(action["die"]);
        }
        const std::string plugins = std::string(DAYBOOK_BUILD_DIR) +
                                    "/lib/daybook/plugins/1:" + DAYBOOK_BUILD_DIR +
                                    "/lib/daybook/fixtures";
        ::setenv("DAYBOOK_PLUGIN_PATH", plugins.c_str(), 1);
        state_.emplace(must(StateFolder::open(os_, places_.state)));
        for (const auto& [name, plugin] : config_of(story_).plugins) {
            if (!plugin.file.empty() && !trust_plugin(os_, places_.state, plugin.file)) {
                throw std::runtime_error("not a plugin: " + plugin.file);
            }
        }
        log_ = Log::to_stderr(LogLevel::info, false);
        io_ = std::make_unique<IoThread>();
        host_ = must(Host::open({os_, io_->loop, *log_, places_, *state_}, config_of(story_)));
        host_->open_desks();
        for (const DeskStatus& status : host_->statuses()) {
            if (status.state == "failed") {
                throw std::runtime_error("desk " + status.name + ": " + status.reason);
            }
        }
        for (Desk* desk : host_->desks()) {
            desk->listen([this](const Json& event) { on_event(event); });
        }
        if (!action["busy"].as_bool()) {
            settle();
        }
    }

    void stop() {
        host_->drain(kGrace);
        host_.reset();
        io_.reset();
        state_.reset();
    }

    void run(const Json& action) {
        if (action.has("at")) {
            advance(action);
        }
        const std::string& what = action["do"].as_string();
        if (what.empty()) {
            run_trigger(action);
        } else if (what == "batch") {
            run_batch(action);
        } else if (what == "tool") {
            call_tool(action);
        } else if (what == "on") {
            const std::lock_guard lock(hook_mutex_);
            hooks_.push_back(action);
        } else if (what == "die") {
            arm(action);
        } else if (what != "advance") {
            act_now(action);
        }
        if (!action["busy"].as_bool()) {
            settle();
        }
        if (!failure_.empty()) {
            throw std::runtime_error(failure_);
        }
    }

  private:
    Desk& desk_of(const Json& action) {
        return *must(host_->desk(text_or(action["desk"], "main")));
    }

    void settle() {
        for (Desk* desk : host_->desks()) {
            if (!desk->wait_idle(patience())) {
                throw std::runtime_error("desk " + desk->name() + " does not get idle: " +
                                         desk->status().state + " " + desk->status().reason);
            }
        }
    }

    void arm(const Json& step) {
        os_.arm({step["call"].as_string(), step["text"].as_string(), step["after"].as_bool()});
    }

    void advance(const Json& action) {
        const Timestamp to = must(parse_rfc3339(action["at"].as_string()));
        if (!action["busy"].as_bool()) {
            must(advance_clock(*host_, to, kPatience, {}));
            return;
        }
        must(host_->save_replay_position(to));
        must(host_->replayed()->advance_to(to));
        host_->tick();
    }

    void check_end(const Json& action, const std::string& trigger) {
        const std::string expected = text_or(action["expect"], "completed");
        if (expected == "nothing") {
            return;
        }
        const bool waits = expected == "waiting";
        const Json event = events_.wait(waits ? "waiting" : "turn_end", trigger);
        const std::string got = waits ? "waiting" : event["outcome"].as_string();
        if (event.is_null() || got != expected) {
            throw std::runtime_error("expected " + expected + ", got " + event.dump());
        }
    }

    std::string accept(const Json& action) {
        const auto kind = must(trigger_kind_of(text_or(action["kind"], "message")));
        std::string text = action["text"].as_string();
        for (std::int64_t i = 0; i < action["fill"].as_integer(); ++i) {
            text += i % 8 == 0 ? ' ' : 'x';  // words that say nothing, to fill a window
        }
        const Accepted accepted = must(desk_of(action).accept(
            kind, std::move(text), action["key"].as_string(), action["name"].as_string()));
        if (accepted.duplicate != action["duplicate"].as_bool()) {
            throw std::runtime_error("duplicate: " + std::to_string(accepted.duplicate));
        }
        return accepted.trigger;
    }

    void run_trigger(const Json& action) {
        const std::string trigger = accept(action);
        if (!action["duplicate"].as_bool()) {
            check_end(action, trigger);
        }
    }

    /// Accepted while the desk's thread is busy with something else, so that all of them wait at
    /// once.
    void run_batch(const Json& action) {
        std::promise<void> release;
        const std::shared_future<void> released = release.get_future().share();
        std::promise<void> held;
        desk_of(action).run(
            [&held, released] {
                held.set_value();
                released.wait();
            },
            [&held] { held.set_value(); });
        held.get_future().wait();
        std::vector<std::string> triggers;
        for (const Json& each : action["triggers"].items()) {
            triggers.push_back(accept(each));
        }
        release.set_value();
        for (std::size_t i = 0; i < triggers.size(); ++i) {
            check_end(action["triggers"].items()[i], triggers[i]);
        }
    }

    void call_tool(const Json& action) {
        std::promise<std::string> outcome;
        desk_of(action).call_tool(
            action["tool"].as_string(),
            action["arguments"].dump(),
            [&outcome](Desk::ToolAnswer answer) {
                outcome.set_value(
                    answer.result ? "ok" : std::string(name_of(answer.result.error().code())));
            });
        const std::string got = outcome.get_future().get();
        if (got != text_or(action["expect"], "ok")) {
            throw std::runtime_error("the tool's call ended as " + got);
        }
    }

    /// What needs no waiting: also from within an event.
    void act_now(const Json& action) {
        const std::string& what = action["do"].as_string();
        if (what == "kill") {
            ::kill(::getpid(), SIGKILL);
        } else if (what == "interrupt") {
            desk_of(action).interrupt("the owner interrupts");
        } else if (what == "pause" || what == "resume") {
            must(desk_of(action).set_paused(what == "pause", action["reason"].as_string()));
        } else if (what == "accept") {
            accept(action);
        } else {
            act_on_files(action, home_);
        }
    }

    void on_event(const Json& event) {
        Json then;
        {
            const std::lock_guard lock(hook_mutex_);
            for (auto hook = hooks_.begin(); hook != hooks_.end(); ++hook) {
                const bool is_its = (*hook)["event"] == event["event"] &&
                                    text_or((*hook)["desk"], "main") == event["desk"].as_string() &&
                                    (!hook->has("tool") || (*hook)["tool"] == event["tool"]) &&
                                    (!hook->has("step") || (*hook)["step"] == event["step"]);
                if (is_its) {
                    then = (*hook)["then"];
                    hooks_.erase(hook);
                    break;
                }
            }
        }
        try {
            if (!then.is_null()) {
                act_now(then);
            }
        } catch (const std::exception& error) {
            failure_ = error.what();
        }
        events_.take(event);
    }

    const Story& story_;
    const fs::path home_;
    const Places places_;
    LinuxOs real_;
    KillOs os_{real_};
    std::optional<StateFolder> state_;
    std::unique_ptr<Log> log_;
    Heard events_;
    std::mutex hook_mutex_;  // guards hooks_
    std::vector<Json> hooks_;
    std::string failure_;
    std::unique_ptr<IoThread> io_;
    std::unique_ptr<Host> host_;
};

}  // namespace

void act_on_files(const Json& action, const fs::path& home) {
    const std::string& what = action["do"].as_string();
    const fs::path file = home / "state" / action["file"].as_string();
    if (what == "clock") {  // the computer's clock while no host ran
        save(home / "state/replay_clock",
             to_rfc3339(must(parse_rfc3339(action["to"].as_string()))) + "\n");
    } else if (what == "edit" && action.has("from")) {
        std::string text = contents_of_file(file);
        const auto at = text.find(action["from"].as_string());
        if (at == std::string::npos) {
            throw std::runtime_error(file.string() + " does not hold " + action["from"].dump());
        }
        save(file, text.replace(at, action["from"].as_string().size(), action["text"].as_string()));
    } else if (what == "edit") {
        save(file, action["text"].as_string());
    } else if (what == "append") {
        std::ofstream(file, std::ios::binary | std::ios::app) << action["text"].as_string();
    } else if (what == "remove") {
        if (!fs::remove(file)) {
            throw std::runtime_error("there is no " + file.string());
        }
    } else if (what != "stop") {
        throw std::runtime_error("no action \"" + what + "\" while " + action["line"].dump() +
                                 " is read");
    }
}

std::size_t live(const Story& story,
                 const fs::path& home,
                 std::size_t first,
                 const std::function<void(std::size_t)>& began) {
    Life life(story, home);
    const bool is_started = first > 0 && story.actions[first - 1]["do"].as_string() == "start";
    life.start(is_started ? story.actions[first - 1] : Json::object());
    for (std::size_t number = first; number < story.actions.size(); ++number) {
        began(number);
        if (story.actions[number]["do"].as_string() == "stop") {
            life.stop();
            return number + 1;
        }
        life.run(story.actions[number]);
    }
    life.stop();
    return story.actions.size();
}

}  // namespace daybook::test
