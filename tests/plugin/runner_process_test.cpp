// Start, end and restart of a runner, with a runner that can misbehave at will.
#include "host/plugin/runner_process.hpp"

#include <csignal>
#include <filesystem>
#include <unistd.h>

#include "tests/plugin/runner_bench.hpp"

using namespace daybook;
using namespace daybook::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

/// Without waiting times, so that a test can crash a runner often.
RunnerSettings impatient(const Bench& bench) {
    RunnerSettings settings = bench.settings(fake_runner());
    settings.restart.first_delay = 0ms;
    settings.restart.breaker = false;
    return settings;
}

}  // namespace

TEST_CASE("a runner starts with its first call and answers", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("plain"), bench.settings(fake_runner()));
    CHECK(caller.runner.status().state == RunnerState::stopped);
    const auto outcome = caller.call("any", R"({"a":[1,2]})");
    REQUIRE(outcome.result);
    CHECK(*outcome.result == R"({"a":[1,2]})");
    const RunnerStatus status = caller.runner.status();
    CHECK(status.state == RunnerState::ready);
    CHECK(status.pid > 0);
    CHECK(status.calls == 1);
    CHECK(status.start_milliseconds > 0);
    CHECK(status.walls == R"({"landlock":0,"seccomp":0})");
    CHECK(bench.log.lifecycle() == std::vector<std::string>{"started"});
    REQUIRE(caller.call("any").result);
    CHECK(caller.runner.status().pid == status.pid);
}

TEST_CASE("a runner's environment is exactly the four names", "[plugin]") {
    ::setenv("DAYBOOK_TEST_SECRET", "sk-leak-1", 1);
    Bench bench;
    Caller caller(bench, fake_plugin("environment"), bench.settings(fake_runner()));
    REQUIRE(caller.call("any").result);
    REQUIRE(bench.wait([&] { return bench.log.has_line("opened with"); }));
    std::vector<std::string> names;
    for (const auto& [level, line] : bench.log.lines()) {
        if (line.starts_with("env ")) {
            names.push_back(line.substr(4, line.find('=') - 4));
        }
    }
    CHECK(names == std::vector<std::string>{"PATH", "LANG", "TZ", "MALLOC_ARENA_MAX"});
    CHECK(bench.log.has_line("env TZ=Asia/Kolkata"));
}

TEST_CASE("a runner gets the plugin's configuration when it is opened", "[plugin]") {
    Bench bench;
    RunnerSettings settings = bench.settings(fake_runner());
    settings.config_json = R"({"limit":5})";
    Caller caller(bench, fake_plugin("plain"), settings);
    REQUIRE(caller.call("any").result);
    CHECK(bench.wait([&] { return bench.log.has_line(R"(opened with {"limit":5})"); }));
}

TEST_CASE("a failed start step refuses the plugin, with step and reason, until it is retried",
          "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("start_failed"), bench.settings(fake_runner()));
    for (int i = 0; i < 2; ++i) {
        const auto outcome = caller.call("any");
        REQUIRE_FALSE(outcome.result);
        CHECK(outcome.result.error().code() == Errc::refused);
        CHECK_THAT(outcome.result.error().message(),
                   Contains("start step landlock: this kernel has no Landlock"));
    }
    CHECK(caller.runner.status().state == RunnerState::refused);
    CHECK(bench.log.lifecycle() == std::vector<std::string>{"refused"});
    caller.runner.retry();
    CHECK(caller.runner.status().state == RunnerState::stopped);
    CHECK_FALSE(caller.call("any").result);
    CHECK(bench.log.lifecycle().size() == 2);
}

// X09
TEST_CASE("an end before ready is told with exit state and last words", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("dies"), impatient(bench));
    const auto outcome = caller.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::unavailable);
    CHECK_THAT(
        outcome.result.error().message(),
        Contains("ended with exit code 3 before it was ready") && Contains("cannot find my feet"));
    const RunnerStatus status = caller.runner.status();
    CHECK(status.last_exit == "exit code 3");
    CHECK(status.crashes == 1);
    CHECK(status.stderr_lines == std::vector<std::string>{"cannot find my feet"});
}

TEST_CASE("a secret in a plugin's last words stays out of the reason, which is journalled",
          "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("dies_telling"), impatient(bench));
    REQUIRE_FALSE(caller.call("any").result);
    const std::string reason = caller.runner.status().reason;
    CHECK_THAT(reason, Contains("no answer for key [masked: api key]"));
    CHECK(reason.find("Zx81") == std::string::npos);
}

TEST_CASE("a descriptor that differs from the manifest refuses the plugin", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("lies"), bench.settings(fake_runner()));
    const auto outcome = caller.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::refused);
    CHECK_THAT(outcome.result.error().message(),
               Contains("plugin \"lies\" 1.0.0 (/nowhere/lies.so)") && Contains("differ in tools"));
}

// X13: a deadline for the start
TEST_CASE("a runner that is never ready is ended at the start's own deadline", "[plugin]") {
    Bench bench;
    RunnerSettings settings = impatient(bench);
    settings.start_timeout = 100ms;
    Caller caller(bench, fake_plugin("mute"), settings);
    const auto outcome = caller.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::deadline);
    CHECK_THAT(outcome.result.error().message(), Contains("not ready after 100 ms"));
    CHECK(caller.runner.status().pid == -1);
    CHECK(caller.runner.status().last_exit == "signal 9 (SIGKILL)");
}

TEST_CASE("a call's deadline and its cancel hold while a runner starts", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("mute"), bench.settings(fake_runner()));
    const auto late = caller.call("any", "{}", 80ms);
    REQUIRE_FALSE(late.result);
    CHECK(late.result.error().code() == Errc::deadline);
    CHECK(late.took < 2s);
    CallWatch watch;
    watch.is_cancelled = [] { return true; };
    const auto cancelled = caller.call("any", "{}", 10s, watch);
    REQUIRE_FALSE(cancelled.result);
    CHECK(cancelled.result.error().code() == Errc::cancelled);
    CHECK(cancelled.took < 2s);
}

TEST_CASE("a missing runner program refuses with a sentence", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("plain"), bench.settings("/nowhere/daybook-runner"));
    const auto outcome = caller.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::refused);
    CHECK_THAT(outcome.result.error().message(), Contains("/nowhere/daybook-runner"));
}

TEST_CASE("a plugin that the registry refused is never started", "[plugin]") {
    Bench bench;
    PluginEntry plugin = fake_plugin("plain");
    plugin.refused = "plugin \"plain\": everybody may write it";
    Caller caller(bench, plugin, bench.settings(fake_runner()));
    const auto outcome = caller.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::refused);
    CHECK_THAT(outcome.result.error().message(), Contains("everybody may write it"));
    CHECK(bench.log.lifecycle().empty());
}

// X10
TEST_CASE("after a crash the next call starts a new process at once, after a second one it waits",
          "[plugin]") {
    Bench bench;
    RunnerSettings settings = bench.settings(fake_runner());
    settings.restart.first_delay = 60s;
    Caller caller(bench, fake_plugin("exits"), settings);
    const auto first = caller.call("any");
    REQUIRE_FALSE(first.result);
    CHECK(first.result.error().code() == Errc::plugin_crashed);
    CHECK(first.result.error().message() ==
          "plugin exits: tool any: ended with exit code 0 in the middle of a call");
    const auto second = caller.call("any");
    REQUIRE_FALSE(second.result);
    CHECK(second.result.error().code() == Errc::plugin_crashed);
    const auto third = caller.call("any");
    REQUIRE_FALSE(third.result);
    CHECK(third.result.error().code() == Errc::unavailable);
    CHECK_THAT(third.result.error().message(),
               Contains("ended with exit code 0") && Contains("next start in"));
    CHECK(caller.runner.status().state == RunnerState::backoff);
    CHECK(caller.runner.status().restarts == 1);
    caller.runner.retry();
    const auto fourth = caller.call("any");
    REQUIRE_FALSE(fourth.result);
    CHECK(fourth.result.error().code() == Errc::plugin_crashed);
}

// X10
TEST_CASE("the breaker opens after repeated crashes and stays open until it is retried",
          "[plugin]") {
    Bench bench;
    RunnerSettings settings = bench.settings(fake_runner());
    settings.restart.first_delay = 0ms;
    settings.restart.breaker_crashes = 3;
    Caller caller(bench, fake_plugin("exits"), settings);
    for (int i = 0; i < 3; ++i) {
        const auto outcome = caller.call("any");
        REQUIRE_FALSE(outcome.result);
        CHECK(outcome.result.error().code() == Errc::plugin_crashed);
    }
    CHECK(caller.runner.status().state == RunnerState::open_breaker);
    const auto refused = caller.call("any");
    REQUIRE_FALSE(refused.result);
    CHECK(refused.result.error().code() == Errc::unavailable);
    CHECK_THAT(refused.result.error().message(),
               Contains("3 crashes") && Contains("until it is retried"));
    CHECK(bench.log.lifecycle().back() == "breaker_opened");
    caller.runner.retry();
    const auto again = caller.call("any");
    REQUIRE_FALSE(again.result);
    CHECK(again.result.error().code() == Errc::plugin_crashed);
}

TEST_CASE("an idle runner is stopped, and the next call starts it again", "[plugin]") {
    Bench bench;
    RunnerSettings settings = bench.settings(fake_runner());
    settings.idle = 0s;
    Caller caller(bench, fake_plugin("plain"), settings);
    for (int i = 0; i < 3; ++i) {
        REQUIRE(caller.call("any").result);
        REQUIRE(bench.wait([&] { return caller.runner.status().state == RunnerState::stopped; }));
    }
    const RunnerStatus status = caller.runner.status();
    CHECK(status.crashes == 0);
    CHECK(status.restarts == 0);
    CHECK(status.last_exit == "exit code 0");
    CHECK(status.pid == -1);
}

TEST_CASE("a runner that does not drain is ended after the grace, which is no crash", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("never_drains"), bench.settings(fake_runner()));
    REQUIRE(caller.call("any").result);
    caller.runner.stop();
    REQUIRE(bench.wait([&] { return caller.runner.status().state == RunnerState::stopped; }));
    CHECK(caller.runner.status().last_exit == "signal 9 (SIGKILL)");
    CHECK(caller.runner.status().crashes == 0);
    CHECK(caller.call("any").result);
}

TEST_CASE("a call that comes while the runner drains gets a new one", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("never_drains"), bench.settings(fake_runner()));
    REQUIRE(caller.call("any").result);
    const int first = caller.runner.status().pid;
    caller.runner.stop();
    REQUIRE(bench.wait([&] { return caller.runner.status().state != RunnerState::ready; }));
    REQUIRE(caller.call("any").result);
    CHECK(caller.runner.status().pid != first);
}

// X12, and X07: a plugin has no other log, and its process is its unloading
TEST_CASE("what a plugin prints becomes bounded, printable log lines", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("talkative"), bench.settings(fake_runner()));
    REQUIRE(caller.call("any").result);
    caller.runner.stop();
    REQUIRE(bench.wait([&] { return caller.runner.status().state == RunnerState::stopped; }));
    CHECK(bench.log.lines().size() <= 201);
    CHECK(bench.log.has_line("line 7"));
    const RunnerStatus status = caller.runner.status();
    CHECK(status.dropped_lines >= 800);
    CHECK(status.stderr_lines.size() == 20);
    for (const std::string& line : status.stderr_lines) {
        CHECK(line.size() <= 1000);
        CHECK(line.find('\x1b') == std::string::npos);
    }
}

TEST_CASE("links among the desk's own files are named before a start", "[plugin]") {
    Bench bench;
    bench.folder.write("secret", "KEY-123");
    bench.folder.write("desk/notes/2026-10-19.md", "- a lesson\n");
    std::filesystem::create_hard_link(bench.folder / "secret", bench.folder / "desk/Memory.md");
    std::filesystem::create_symlink(bench.folder / "secret", bench.folder / "desk/notes/link.md");
    Caller caller(bench, fake_plugin("plain"), bench.settings(fake_runner()));
    REQUIRE(caller.call("any").result);
    REQUIRE(bench.wait([&] { return bench.log.has_line("Memory.md (hard link)"); }));
    CHECK(bench.log.has_line("notes/link.md (symbolic link)"));
    CHECK_FALSE(bench.log.has_line("2026-10-19.md"));
}

TEST_CASE("a runner object that goes takes its process with it", "[plugin]") {
    Bench bench;
    int pid = -1;
    {
        Caller caller(bench, fake_plugin("silent"), bench.settings(fake_runner()));
        REQUIRE_FALSE(caller.call("any", "{}", 50ms).result);
        Caller other(bench, fake_plugin("plain"), bench.settings(fake_runner()));
        REQUIRE(other.call("any").result);
        pid = other.runner.status().pid;
        REQUIRE(::kill(pid, 0) == 0);
    }
    CAPTURE(pid);
    CHECK(::kill(pid, 0) != 0);
    // Whatever is still in the inbox finds nobody.
    bench.inbox.serve_until([] { return false; }, within(20ms));
}

TEST_CASE("objects may come and go at any moment of a start", "[plugin]") {
    Bench bench;
    for (int i = 0; i < 30; ++i) {
        Caller caller(bench, fake_plugin("plain"), bench.settings(fake_runner()));
        static_cast<void>(caller.runner.ensure_ready(within(std::chrono::milliseconds(i % 6))));
    }
    Caller caller(bench, fake_plugin("plain"), bench.settings(fake_runner()));
    CHECK(caller.call("any").result);
}
