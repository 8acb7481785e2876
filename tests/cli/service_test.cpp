// What a service manager meets: READY, STATUS, STOPPING, the watchdog, signals in the middle of a
// turn; and an owner who is tired of waiting.
#include <csignal>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "host/os/clock.hpp"
#include "tests/catch.hpp"
#include "tests/cli/notify_socket.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr const char* kHangs =
    R"([{ match = "hang", text = "so", hang = true }, { match = "", text = "done" }])";
constexpr const char* kAnswers = R"([{ match = "", text = "done" }])";

std::string scripted() {
    return std::string(DAYBOOK_BUILD_DIR) + "/lib/daybook/fixtures/scripted.so";
}

/// Desk `slow` has a model that hangs when it is asked to, until it is cancelled.
std::string with_slow_desk(std::string config, const std::string& script, const char* grace) {
    const auto at = config.find("[host]");
    const std::string host = std::string("[host]\nstop_grace = \"") + grace + "\"\n";
    if (at == std::string::npos) {
        config = host + config;
    } else {
        config.replace(at, 6, host);
    }
    return config + "\n[plugin.scripted]\nfile = \"" + scripted() +
           "\"\n\n[model.slow]\nplugin = \"scripted\"\n"
           "[model.slow.config]\nscript = " +
           script + "\n\n[desk.slow]\ncalendar = \"always\"\nmodels = [\"slow\"]\n";
}

std::string state_of(const Home& home, const std::string& desk) {
    const Ran status = home.daybook({"status", "--json"});
    if (status.code != 0) {
        return "";
    }
    const Json shown = status.json();
    for (const Json& each : shown["desks"].items()) {
        if (each["name"].as_string() == desk) {
            return each["state"].as_string();
        }
    }
    return "";
}

/// The turns that ended, each as "trigger outcome ".
std::string ends_of(const Home& home, const std::string& desk) {
    std::string text;
    const Json shown = home.ask({"journal", "show", desk, "--types", "turn_end"});
    for (const Json& record : shown["records"].items()) {
        text += record["data"]["trigger"].as_string() + " " +
                record["data"]["outcome"].as_string() + " ";
    }
    return text;
}

std::size_t starts_of(const Home& home, const std::string& desk) {
    return home.ask({"journal", "show", desk, "--types", "turn_start"})["records"].items().size();
}

std::vector<pid_t> threads_of(pid_t pid) {
    std::vector<pid_t> all;
    for (const auto& entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task")) {
        all.push_back(std::stoi(entry.path().filename().string()));
    }
    return all;
}

pid_t pid_in(const std::string& ready) {
    const auto at = ready.find("MAINPID=");
    REQUIRE(at != std::string::npos);
    return std::stoi(ready.substr(at + 8));
}

}  // namespace

TEST_CASE("ready is told after the desks are taken up again, with how it stands", "[cli]") {
    Home home;
    home.start();
    CHECK(home.daybook({"say", "main", "Remember: the first"}).code == 0);
    home.kill();  // no mark: the next start opens the desk
    const NotifySocket socket(home.path() / "notify");
    const auto daemon = socket.start(home);
    std::string before;
    const std::string ready = socket.wait_for("READY=1", &before);
    CHECK_THAT(before, Catch::Contains("EXTEND_TIMEOUT_USEC="));
    CHECK_THAT(before, Catch::Contains("STATUS=opening desks, 1 of 1"));
    CHECK_THAT(ready, Catch::Contains("STATUS=1 desk, "));
    CHECK_THAT(ready, Catch::Contains("next rollover main "));
    const Json status = home.ask({"status"});  // listening already, with the session taken up
    CHECK_THAT(status["desks"].items().at(0)["session"].as_string(), Catch::EndsWith("-1"));
    daemon->signal(SIGTERM);
    CHECK_THAT(socket.wait_for("STOPPING=1"), Catch::Contains("STATUS=stopping"));
    CHECK(daemon->wait() == 0);
}

TEST_CASE("a home of very many new desks is ready before they are made", "[cli]") {
    Home home;
    std::string config = home.read("daybook.toml");
    for (int i = 10; i < 60; ++i) {
        config += "\n[desk.d" + std::to_string(i) +
                  "]\ncalendar = \"always\"\nmodels = [\"clerk\"]\nplugins = [\"memory\"]\n";
    }
    config += "\n[desk.wrong]\ncalendar = \"no-such\"\nmodels = [\"clerk\"]\n";
    home.write("daybook.toml", config);
    home.start();
    const auto made = [&](const std::string& desk) {
        return std::filesystem::exists(home.path() / "state/workspace" / desk);
    };
    CHECK(made("d10"));
    CHECK_FALSE(made("d59"));
    const Json status = home.ask({"status"});
    REQUIRE(status["desks"].items().size() == 52);
    for (const Json& desk : status["desks"].items()) {
        const std::string name = desk["name"].as_string();
        INFO(desk.dump());
        CHECK(desk["state"].as_string() == (name == "wrong" ? "failed" : "idle"));
        CHECK((name == "wrong" || !desk["next_rollover"].as_string().empty()));
    }
    // The first word makes it, and its first write is checkpointed as any other.
    CHECK_THAT(home.daybook({"say", "d59", "Remember: the gap was filled"}).out,
               Catch::Contains("checkpoint"));
    CHECK(made("d59"));
    CHECK(home.ask({"checkpoint", "list", "d59"})["checkpoints"].items().size() >= 2);
    home.stop();
}

TEST_CASE("the watchdog is fed while requests are served, and not when their thread hangs",
          "[cli]") {
    const Home home;
    const NotifySocket socket(home.path() / "notify");
    const auto daemon = socket.start(home, {"WATCHDOG_USEC=400000"});
    const pid_t pid = pid_in(socket.wait_for("READY=1"));
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(socket.wait_for("WATCHDOG=1").empty());
    }
    // Every thread but the one of the loop: the worker of requests among them.
    std::vector<pid_t> stopped;
    for (const pid_t thread : threads_of(pid)) {
        if (thread == pid) {
            continue;
        }
        if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
            WARN("this user may not stop a thread of the daemon: the second half is left out");
            return;
        }
        REQUIRE(::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0);
        REQUIRE(::waitpid(thread, nullptr, __WALL) == thread);
        stopped.push_back(thread);
    }
    REQUIRE_FALSE(stopped.empty());
    // What it had done before still counts once, and a datagram may be on its way.
    int fed = 0;
    while (!socket.next(seconds(2)).empty()) {
        REQUIRE(++fed <= 4);
    }
    for (const pid_t thread : stopped) {
        REQUIRE(::ptrace(PTRACE_DETACH, thread, nullptr, nullptr) == 0);
    }
    CHECK_FALSE(socket.wait_for("WATCHDOG=1").empty());
    daemon->signal(SIGTERM);
    CHECK(daemon->wait() == 0);
}

TEST_CASE("a turn that a stop cuts runs again at the next start, once", "[cli]") {
    const bool twice = GENERATE(true, false);
    Home home;
    const std::string plain = home.read("daybook.toml");
    home.write("daybook.toml", with_slow_desk(plain, kHangs, twice ? "10m" : "1s"));
    static_cast<void>(home.ask({"plugin", "trust", scripted(), "--yes"}));
    const NotifySocket socket(home.path() / "notify");
    auto daemon = socket.start(home);
    REQUIRE_FALSE(socket.wait_for("READY=1").empty());
    const std::string trigger =
        home.ask({"trigger", "slow", "message", "please hang"})["trigger"].as_string();
    REQUIRE(eventually([&] { return starts_of(home, "slow") == 1; }));
    daemon->signal(SIGTERM);
    REQUIRE_FALSE(socket.wait_for("STOPPING=1").empty());
    if (twice) {
        daemon->signal(SIGTERM);  // does not wait for the ten minutes
    }
    CHECK(daemon->wait() == 0);
    home.write("daybook.toml", with_slow_desk(plain, kAnswers, "1s"));
    daemon = socket.start(home);
    REQUIRE_FALSE(socket.wait_for("READY=1").empty());
    CHECK(eventually(
        [&] { return ends_of(home, "slow").find(trigger + " completed") != std::string::npos; }));
    const std::string ends = ends_of(home, "slow");
    CHECK(ends.find(trigger + " completed") == ends.rfind(trigger + " completed"));
    CHECK(starts_of(home, "slow") == 2);  // the cut one is on record too
    CHECK(home.daybook({"journal", "verify", "slow"}).code == 0);
    daemon->signal(SIGTERM);
    CHECK(daemon->wait() == 0);
}

TEST_CASE("Ctrl-C ends the waiting, says so, and leaves the turn running", "[cli]") {
    Home home;
    home.write("daybook.toml", with_slow_desk(home.read("daybook.toml"), kHangs, "1s"));
    static_cast<void>(home.ask({"plugin", "trust", scripted(), "--yes"}));
    home.start();
    Running say("/bin/sh",
                {"-c",
                 "exec \"$0\" \"$@\" 2>&1",
                 std::string(DAYBOOK_BUILD_DIR) + "/bin/daybook",
                 "--home",
                 home.path().string(),
                 "say",
                 "slow",
                 "please hang"},
                home.path());
    REQUIRE(eventually([&] { return state_of(home, "slow") == "in turn"; }));
    say.signal(SIGINT);
    std::string told;
    for (std::string line = say.line(); !line.empty(); line = say.line()) {
        told += line + "\n";
    }
    CHECK_THAT(told, Catch::Contains("interrupted"));
    CHECK_THAT(told, Catch::Contains("the turn goes on without you"));
    CHECK(say.wait() == 130);
    CHECK(state_of(home, "slow") == "in turn");
    CHECK(home.daybook({"desk", "interrupt", "slow"}).code == 0);
    CHECK(eventually([&] { return ends_of(home, "slow").find("cancelled") != std::string::npos; }));
    home.stop();
}

TEST_CASE("status and doctor say when a calendar's list ends", "[cli]") {
    Home home;
    const DeskDate today{std::chrono::floor<std::chrono::days>(SystemClock().now())};
    const std::string end = today.plus_days(10).str();
    home.write(
        "calendars/soon.json",
        R"({"$schema_version":1,"id":"soon","name":"A list that ends","mic":null,)"
        R"("tz":"Etc/UTC","valid_from":"2020-01-01","valid_through":")" +
            end +
            R"(","weekend":["Sat","Sun"],"rollover":"15:45","regular":[{"from":"2020-01-01",)"
            R"("to":null,"segments":{"cash":[{"open":"09:15","close":"15:30"}]},"phases":{},)"
            R"("day_end":"15:30","source":[]}],"holidays":[],"special":[],"sources":{}})");
    home.write(
        "daybook.toml",
        home.read("daybook.toml") + "\n[desk.soon]\ncalendar = \"soon\"\nmodels = [\"clerk\"]\n");
    home.start();
    const std::string told = "calendar soon ends in 10 days, on " + end;
    CHECK_THAT(home.daybook({"status"}).out, Catch::Contains(told));
    home.stop();
    home.start();  // at rest now: the same
    CHECK_THAT(home.daybook({"status"}).out, Catch::Contains(told));
    const Ran doctor = home.daybook({"doctor"});
    CHECK_THAT(doctor.out, Catch::Contains("soon knows the holidays through " + end + " (10 days"));
    home.stop();
}
