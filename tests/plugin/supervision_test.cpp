// What a plugin that crashes, again and again, costs the host and the others; and a new file's
// proof.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "host/plugin/runner_proof.hpp"
#include "tests/catch.hpp"
#include "tests/plugin/fixture_plugins.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

std::size_t open_descriptors() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        static_cast<void>(entry);
        ++count;
    }
    return count;
}

std::size_t resident_kilobytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t pages = 0;
    statm >> pages >> pages;
    return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

int count_from(const char* variable, int fallback) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::atoi(text) : fallback;
}

}  // namespace

TEST_CASE("X10: a plugin that crashes at every seventh call costs those calls and no more",
          "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"swap_seventh", "echo"});
    Caller& crasher = plugins["swap_seventh"];
    Caller& echo = plugins["echo"];
    const int calls = count_from("DAYBOOK_TEST_CRASH_CALLS", 140);
    const int warm = 14;
    int failed = 0;
    std::size_t descriptors = 0;
    std::size_t memory = 0;
    for (int i = 1; i <= warm + calls; ++i) {
        const CallOutcome outcome = crasher.call("which");
        if (!outcome.result) {
            ++failed;
            REQUIRE(outcome.result.error().code() == Errc::plugin_crashed);
            CHECK(i % 7 == 0);
        }
        REQUIRE(echo.call("echo", R"({"a":1})").result);
        if (i == warm + 1) {  // its process runs, as it may at the end
            descriptors = open_descriptors();
            memory = resident_kilobytes();
        }
    }
    CHECK(failed == (warm + calls) / 7);
    const RunnerStatus status = crasher.runner.status();
    CHECK(status.crashes == static_cast<std::uint64_t>(failed));
    CHECK(status.answered == static_cast<std::uint64_t>(warm + calls - failed));
    CHECK(echo.runner.status().crashes == 0);
    CHECK(open_descriptors() <= descriptors + 2);
    CHECK(resident_kilobytes() <= memory + 4096);
}

TEST_CASE("an open breaker that is retried opens again at the next crash", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"swap_crash", "swap_1"});
    RunnerSettings settings = plugins.settings();
    settings.restart.breaker = true;
    settings.restart.breaker_crashes = 3;
    Caller crasher(bench, *plugins.registry->find("swap_crash"), settings);
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(crasher.call("which").result);
        bench.wait([&] { return crasher.runner.status().state != RunnerState::ready; });
    }
    CHECK(crasher.runner.status().state == RunnerState::open_breaker);
    const auto kept_out = crasher.call("which");
    CHECK(kept_out.result.error().code() == Errc::unavailable);
    CHECK_THAT(kept_out.result.error().message(), Contains("3 crashes"));
    crasher.runner.retry();
    CHECK(crasher.runner.status().half_open);
    CHECK(crasher.call("which").result.error().code() == Errc::plugin_crashed);
    bench.wait([&] { return crasher.runner.status().state == RunnerState::open_breaker; });
    CHECK(crasher.runner.status().state == RunnerState::open_breaker);
}

TEST_CASE("an end by SIGKILL that the host did not send is told as such", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"echo"});
    Caller& echo = plugins["echo"];
    REQUIRE(echo.call("echo").result);
    const int pid = echo.runner.status().pid;
    REQUIRE(::kill(pid, SIGKILL) == 0);
    REQUIRE(bench.wait([&] { return echo.runner.status().pid != pid; }));
    CHECK_THAT(echo.runner.status().last_exit,
               Contains("SIGKILL") && Contains("not sent by the host"));
    CHECK_THAT(echo.runner.status().last_exit, Contains("out of memory"));
}

TEST_CASE("a new file proves itself by starting, opening and being well", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"swap_1", "swap_dies", "swap_unwell"});
    const auto prove = [&](const char* name) {
        return prove_runner(
            bench.io.loop, *plugins.registry->find(name), plugins.settings(), bench.log.events());
    };
    CHECK(prove("swap_1"));
    const auto dead = prove("swap_dies");
    REQUIRE_FALSE(dead);
    CHECK_THAT(dead.error().message(), Contains("SIGSEGV"));
    const auto unwell = prove("swap_unwell");
    REQUIRE_FALSE(unwell);
    CHECK_THAT(unwell.error().message(), Contains("degraded: the index is a week old"));
}
