// The ladder: which walls stand on which kernel, that none is taken away without the owner's word,
// and that a runner which is not held does not load its plugin.
#include <sys/syscall.h>
#include <unistd.h>

#include "host/plugin/wall_level.hpp"
#include "tests/catch.hpp"
#include "tests/plugin/fixture_plugins.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

std::string kernel(const std::string& name) {
    return std::string(DAYBOOK_BUILD_DIR) + "/tests/daybook_" + name;
}

/// The Landlock ABI of this kernel, 0 = none.
int landlock_here() {
    constexpr long kCreateRuleset = 444;
    constexpr unsigned kVersion = 1;
    const long abi = ::syscall(kCreateRuleset, nullptr, 0UL, kVersion);
    return abi > 0 ? static_cast<int>(abi) : 0;
}

/// A runner for echo that was asked to start.
struct Started {
    Bench bench;
    Fixtures plugins{bench, {"echo"}};
    RunnerStatus status;
    Errc code = Errc::ok;
    std::string reason;

    Started(const std::string& program, Isolation isolation, int cap) {
        RunnerSettings settings = plugins.settings();
        settings.program = program;
        settings.isolation = isolation;
        settings.landlock_cap = cap;
        Caller caller(bench, *plugins.registry->find("echo"), settings);
        const auto outcome = caller.call("echo");
        status = caller.runner.status();
        if (!outcome.result) {
            code = outcome.result.error().code();
            reason = outcome.result.error().message();
        }
    }
};

}  // namespace

TEST_CASE("a runner's level follows the Landlock of its kernel, and is said", "[plugin]") {
    const int here = landlock_here();
    if (here == 0) {
        WARN("this kernel has no Landlock: levels A and B are not seen");
        return;
    }
    const int cap = GENERATE(1, 2, 7);
    const int stands = std::min(cap, here);
    const Started started(real_runner(), Isolation::required, cap);
    INFO(started.reason);
    REQUIRE(started.code == Errc::ok);
    CHECK(wall_level_of(started.status.walls) == (stands >= 6 ? WallLevel::a : WallLevel::b));
    CHECK(wall_text(started.status.walls) == std::string("level ") + (stands >= 6 ? "A" : "B") +
                                                 ": Landlock ABI " + std::to_string(stands) +
                                                 ", seccomp");
}

TEST_CASE("without Landlock, or without seccomp, nothing starts but by the owner's word",
          "[plugin]") {
    const auto [program, step] = GENERATE(table<std::string, std::string>(
        {{"no_landlock", "start step landlock"}, {"no_seccomp", "start step seccomp"}}));
    CAPTURE(program);
    const Started required(kernel(program), Isolation::required, 0);
    CHECK(required.code == Errc::refused);
    CHECK_THAT(required.reason, Contains(step));
    CHECK(required.status.state == RunnerState::refused);
    CHECK_THAT(required.status.reason, Contains(step));
    CHECK(wall_text(required.status.walls).empty());

    const Started lowered(kernel(program), Isolation::seccomp_only, 0);
    if (program == "no_seccomp") {
        CHECK(lowered.code == Errc::refused);  // the word gives up Landlock, never seccomp
    } else {
        REQUIRE(lowered.code == Errc::ok);
        CHECK(wall_level_of(lowered.status.walls) == WallLevel::c);
        CHECK_THAT(wall_text(lowered.status.walls),
                   Contains("level C") && Contains("reads are not confined"));
    }
    const Started off(kernel(program), Isolation::off, 0);
    REQUIRE(off.code == Errc::ok);
    CHECK(wall_level_of(off.status.walls) == WallLevel::d);
    CHECK_THAT(wall_text(off.status.walls), Contains("NO WALLS"));
}

TEST_CASE("walls that a kernel reports and does not hold are found out before the plugin loads",
          "[plugin]") {
    const auto [program, act] = GENERATE(table<std::string, std::string>(
        {{"lying_landlock", "reading the root folder succeeded: the walls do not stand"},
         {"lying_seccomp", "the walls do not stand"}}));
    CAPTURE(program);
    const Started started(kernel(program), Isolation::required, 0);
    CHECK(started.code == Errc::refused);
    CHECK_THAT(started.reason, Contains("start step probe") && Contains(act));
    CHECK(started.status.state == RunnerState::refused);
    CHECK_THAT(started.status.reason, Contains(act));
}

TEST_CASE("what is no report of walls is of no level", "[plugin]") {
    for (const char* text : {"", "null", "[]", "7", "{\"landlock\":"}) {
        CHECK(wall_level_of(text) == WallLevel::unknown);
        CHECK(wall_text(text).empty());
    }
    CHECK(wall_level_of("{}") == WallLevel::d);
    CHECK(is_lowered(WallLevel::c));
    CHECK_FALSE(is_lowered(WallLevel::b));
}
