// demo: a host of its own on a replayed clock, real bars, triggers written as data; then what
// became of it.
//
// A second run into the same home continues: the clock stands where it stood, and a trigger whose
// key was accepted is not run again.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "host/cli/commands.hpp"
#include "host/cli/daemon_process.hpp"
#include "host/cli/demo_report.hpp"
#include "host/cli/home_maker.hpp"
#include "host/cli/session.hpp"
#include "host/cli/table.hpp"
#include "host/os/clock.hpp"

namespace daybook::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDesk = "main";
constexpr const char* kReplayStart = "2019-01-02T08:55:00+05:30";
constexpr std::chrono::seconds kStopGrace{10};
constexpr std::size_t kTextColumns = 44;
constexpr std::size_t kAnswerColumns = 78;

struct DemoTrigger {
    std::string at, kind, key, name, text;
};

Result<std::vector<DemoTrigger>> read_triggers(const fs::path& file) {
    std::ifstream in(file);
    if (!in) {
        return Error(
            Errc::not_found,
            "read " + file.string() + ": it cannot be opened; is daybook installed whole?");
    }
    std::vector<DemoTrigger> triggers;
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) {
            continue;
        }
        auto json = Json::parse(line);
        const std::string where = file.string() + " line " + std::to_string(number);
        if (!json) {
            return json.error().during(where);
        }
        DemoTrigger trigger{(*json)["at"].as_string(),
                            (*json)["kind"].as_string(),
                            (*json)["key"].as_string(),
                            (*json)["name"].as_string(),
                            (*json)["text"].as_string()};
        if (!parse_rfc3339(trigger.at) || trigger.at.size() < 25 || trigger.kind.empty() ||
            trigger.key.empty() || trigger.text.empty()) {
            return Error(Errc::invalid, where + ": at, kind, key and text are wanted");
        }
        triggers.push_back(std::move(trigger));
    }
    if (triggers.empty()) {
        return Error(Errc::invalid, file.string() + " holds no trigger");
    }
    return triggers;
}

Result<fs::path> temporary_home() {
    std::error_code ignored;
    std::string pattern = (fs::temp_directory_path(ignored) / "daybook-demo-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        return Error(Errc::io, "make " + pattern + ": " + std::generic_category().message(errno));
    }
    return fs::path(pattern);
}

DeskConfig demo_desk(const Places& places) {
    DeskConfig desk;
    desk.name = kDesk;
    desk.zone = "Asia/Kolkata";
    desk.calendar = "nse-demo-2019";
    desk.rollover = TimeOfDay{15 * 60 + 45};
    desk.models = {"clerk"};
    desk.plugins = {"memory", "candles"};
    desk.reads = {places.share / "demo" / "prices"};
    desk.instructions = "Watch NIFTY 50. Be brief, and say where each number stands.";
    return desk;
}

std::vector<std::string> days_of(const std::vector<DemoTrigger>& triggers) {
    std::vector<std::string> days;
    for (const DemoTrigger& trigger : triggers) {
        std::string day = trigger.at.substr(0, 10);
        if (days.empty() || days.back() != day) {
            days.push_back(std::move(day));
        }
    }
    return days;
}

/// One run: the places, the daemon when it is ours, the connection.
class Demo {
  public:
    Demo(const Options& options, Output& output, Places places, bool temporary)
        : options_(options), output_(output), places_(std::move(places)), temporary_(temporary) {}

    Result<> run() {
        auto triggers = read_triggers(places_.share / "demo" / "triggers.jsonl");
        if (!triggers) {
            return triggers.error();
        }
        if (auto started = start(); !started) {
            return started;
        }
        introduce(*triggers);
        days_ = days_of(*triggers);
        auto done_before = keys_done(*client_, kDesk, days_);
        if (!done_before) {
            return done_before.error();
        }
        done_before_ = std::move(*done_before);
        for (const DemoTrigger& trigger : *triggers) {
            if (auto done = feed(trigger); !done) {
                return done;
            }
        }
        // Behind the last day's rollover.
        const std::string& last = triggers->back().at;
        if (auto moved = advance(last.substr(0, 11) + "16:00:00" + last.substr(19)); !moved) {
            return moved;
        }
        return report();
    }

    /// Ends the daemon when it is ours and is not to be kept.
    Result<> stop() {
        client_.reset();
        if (!daemon_ || (options_.keep && finished_)) {
            return {};
        }
        return std::exchange(daemon_, std::nullopt)->stop(kStopGrace);
    }

    void say_goodbye() const {
        const std::string flags = " " + places_.flags();
        const std::string home = shell_word(places_.home.string());
        if (output_.json()) {
            output_.object(Json::object()
                               .set("event", "end")
                               .set("home", places_.home.string())
                               .set("ran", ran_)
                               .set("already_done", already_)
                               .set("temporary", temporary_));
            return;
        }
        output_.line("");
        output_.line("look further");
        if (!options_.keep && !attached_) {
            output_.line("  daybook host start" + flags);
        }
        output_.line("  daybook session show main 2019-01-02-1" + flags);
        output_.line("  daybook memory notes main --day 2019-01-07" + flags);
        output_.line("  daybook journal show main --day 2019-01-03" + flags);
        output_.line("  daybook say main 'What did you note?'" + flags);
        output_.line("  git --git-dir " + home + "/state/workspace/.checkpoints/main.git log -p");
        if (temporary_) {
            output_.line("remove all of it");
            output_.line(std::string("  ") +
                         (options_.keep ? "daybook host stop" + flags + " && " : "") + "rm -r " +
                         home);
        }
    }

  private:
    Result<> start() {
        std::error_code ignored;
        if (!fs::exists(places_.config, ignored)) {
            auto made = make_home_at(places_, demo_desk(places_), kReplayStart);
            if (!made) {
                return made.error();
            }
        }
        if (auto running = Client::connect(places_); running) {
            client_ = std::move(*running);
            attached_ = true;
        } else {
            auto daemon = DaemonProcess::start({places_, {}, /*tied_to_us=*/!options_.keep});
            if (!daemon) {
                return daemon.error();
            }
            daemon_ = *daemon;
            auto connected = Client::connect(places_);
            if (!connected) {
                return connected.error();
            }
            client_ = std::move(*connected);
        }
        auto clock = client_->call("clock.show", Json::object());
        if (!clock) {
            return clock.error();
        }
        if (!(*clock)["replayed"].as_bool()) {
            return Error(
                Errc::conflict,
                places_.home.string() +
                    " is a home on the real clock; the demonstration wants one of its own");
        }
        return note_time((*clock)["now"].as_string());
    }

    void introduce(const std::vector<DemoTrigger>& triggers) const {
        if (output_.json()) {
            output_.object(Json::object()
                               .set("event", "start")
                               .set("home", places_.home.string())
                               .set("triggers", triggers.size()));
            return;
        }
        output_.line("Real NIFTY 50 minute bars, " + triggers.front().at.substr(0, 10) + " to " +
                     triggers.back().at.substr(0, 10) +
                     ", on a replayed clock; the clerk answers by rules.");
        output_.line("home " + places_.home.string());
        output_.line("");
    }

    Result<> note_time(const std::string& now) {
        auto at = parse_rfc3339(now);
        if (!at) {
            return at.error();
        }
        now_ = *at;
        return {};
    }

    Result<> advance(const std::string& to) {
        auto at = parse_rfc3339(to);
        if (!at) {
            return at.error();
        }
        if (*at <= now_) {
            return {};
        }
        auto clock = client_->call("clock.advance", Json::object().set("to", to));
        return clock ? note_time((*clock)["now"].as_string()) : Result<>(clock.error());
    }

    Result<> feed(const DemoTrigger& trigger) {
        if (done_before_.contains(trigger.key)) {
            ++already_;
            tell(trigger, Json::object(), /*already=*/true);
            return {};
        }
        if (auto moved = advance(trigger.at); !moved) {
            return moved;
        }
        auto result = client_->call("trigger",
                                    Json::object()
                                        .set("desk", kDesk)
                                        .set("kind", trigger.kind)
                                        .set("text", trigger.text)
                                        .set("key", trigger.key)
                                        .set("name", trigger.name)
                                        .set("wait", true));
        if (!result) {
            return result.error().during(trigger.key);
        }
        const bool already = (*result)["duplicate"].as_bool() && !result->has("outcome");
        ++(already ? already_ : ran_);
        tell(trigger, *result, already);
        return {};
    }

    void tell(const DemoTrigger& trigger, const Json& result, bool already) const {
        const std::string& outcome = result["outcome"].as_string();
        if (output_.json()) {
            output_.object(Json::object()
                               .set("event", "trigger")
                               .set("at", trigger.at)
                               .set("kind", trigger.kind)
                               .set("key", trigger.key)
                               .set("text", trigger.text)
                               .set("already_done", already)
                               .set("turn", result["turn"])
                               .set("outcome", result["outcome"])
                               .set("answer", result["answer"]));
            return;
        }
        std::string answer =
            already ? "already done"
            : outcome == "completed"
                ? shortened(result["answer"].as_string(), kAnswerColumns)
                : outcome + ": " + shortened(result["error"].as_string(), kAnswerColumns);
        std::string kind = trigger.kind;
        kind.resize(std::max<std::size_t>(kind.size(), 7), ' ');
        std::string text = shortened(trigger.text, kTextColumns);
        text.append(kTextColumns - width_of(text), ' ');
        output_.line(trigger.at.substr(0, 10) + " " + trigger.at.substr(11, 5) + "  " + kind +
                     "  " + text + "  " +
                     (outcome == "completed" || already ? answer : output_.red(answer)));
    }

    Result<> report() {
        auto counts = count_days(*client_, kDesk, days_);
        if (!counts) {
            return counts.error();
        }
        finished_ = true;
        if (output_.json()) {
            for (const auto& [day, count] : *counts) {
                output_.object(day_json(day, count));
            }
            return {};
        }
        output_.line("");
        output_.raw(days_table(*counts));
        return {};
    }

    const Options& options_;
    Output& output_;
    Places places_;
    bool temporary_;
    bool attached_ = false;
    bool finished_ = false;
    std::optional<DaemonProcess> daemon_;
    std::optional<Client> client_;
    std::vector<std::string> days_;
    std::set<std::string> done_before_;  // keys
    Timestamp now_{};
    int ran_ = 0;
    int already_ = 0;
};

}  // namespace

int run_demo(const Options& options, Output& output) {
    Options with_home = options;
    const bool temporary = !options.places.home;
    if (temporary) {
        auto made = temporary_home();
        if (!made) {
            return output.fail(made.error());
        }
        with_home.places.home = *made;
    }
    with_home.places.config.reset();
    with_home.places.socket.reset();
    auto places = places_of(with_home, output);
    if (!places) {
        return exit_code_of(Errc::invalid);
    }
    Demo demo(options, output, *places, temporary);
    const auto outcome = demo.run();
    const auto stopped = demo.stop();
    if (!outcome) {
        return output.fail(outcome.error(),
                           "what was done is in " + places->home.string() +
                               "; the same command with --home goes on from there");
    }
    if (!stopped) {
        return output.fail(stopped.error());
    }
    demo.say_goodbye();
    return 0;
}

}  // namespace daybook::cli
