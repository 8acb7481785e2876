#include "host/plugin/restart_policy.hpp"

#include <string>
#include <vector>

#include "host/plugin/line_limiter.hpp"
#include "tests/catch.hpp"

using namespace daybook;
using namespace std::chrono_literals;

TEST_CASE("the first restart is at once, the next ones wait twice as long each", "[plugin]") {
    RestartLimits limits;
    limits.breaker = false;
    RestartPolicy policy(limits, 1);
    const SteadyTime start{};
    CHECK(policy.record_crash(start).delay == 0ms);
    auto expected = 250ms;
    for (int i = 0; i < 12; ++i) {
        const auto verdict = policy.record_crash(start);
        CHECK_FALSE(verdict.breaker_opens);
        CHECK(verdict.delay >= expected * 4 / 5);
        CHECK(verdict.delay <= expected * 6 / 5);
        expected = std::min<std::chrono::milliseconds>(expected * 2, 60s);
    }
}

TEST_CASE("five crashes within ten minutes open the breaker, the same spread out do not",
          "[plugin]") {
    SECTION("close together") {
        RestartPolicy policy({}, 1);
        for (int i = 0; i < 4; ++i) {
            CHECK_FALSE(policy.record_crash(SteadyTime{} + i * 149s).breaker_opens);
        }
        CHECK(policy.record_crash(SteadyTime{} + 4 * 149s).breaker_opens);
    }
    SECTION("spread out") {
        RestartPolicy policy({}, 1);
        for (int i = 0; i < 20; ++i) {
            CHECK_FALSE(policy.record_crash(SteadyTime{} + i * 151s).breaker_opens);
        }
    }
    SECTION("forgotten in between") {
        RestartPolicy policy({}, 1);
        for (int i = 0; i < 4; ++i) {
            CHECK_FALSE(policy.record_crash({}).breaker_opens);
        }
        policy.forget();
        CHECK(policy.record_crash({}).delay == 0ms);
    }
}

TEST_CASE("an open breaker that is retried is half open: an answer closes it, a crash opens it",
          "[plugin]") {
    RestartPolicy policy({}, 1);
    for (int i = 0; i < 5; ++i) {
        policy.record_crash(SteadyTime{} + i * 1s);
    }
    policy.try_again();
    CHECK(policy.is_half_open());
    SECTION("a crash") {
        CHECK(policy.record_crash(SteadyTime{} + 1h).breaker_opens);
        policy.try_again();
        CHECK(policy.is_half_open());
    }
    SECTION("an answer") {
        policy.record_answer();
        CHECK_FALSE(policy.is_half_open());
        for (int i = 0; i < 4; ++i) {
            CHECK_FALSE(policy.record_crash(SteadyTime{} + 2h).breaker_opens);
        }
        CHECK(policy.record_crash(SteadyTime{} + 2h).breaker_opens);
    }
}

TEST_CASE("a retry in a back-off forgets it and leaves the breaker as it was", "[plugin]") {
    RestartPolicy policy({}, 1);
    policy.record_crash({});
    CHECK(policy.record_crash({}).delay > 0ms);
    policy.try_again();
    CHECK_FALSE(policy.is_half_open());
    CHECK(policy.record_crash({}).delay == 0ms);
}

TEST_CASE("the waiting times of two runners differ", "[plugin]") {
    RestartLimits limits;
    limits.first_delay = 10s;
    RestartPolicy one(limits, 1);
    RestartPolicy two(limits, 2);
    one.record_crash({});
    two.record_crash({});
    CHECK(one.record_crash({}).delay != two.record_crash({}).delay);
}

TEST_CASE("lines over the rate are dropped and counted, and said once the window is over",
          "[plugin]") {
    LineLimiter limiter;
    std::uint64_t skipped = 0;
    const SteadyTime start = SteadyTime{} + 1h;
    int passed = 0;
    for (int i = 0; i < 1000; ++i) {
        passed += limiter.admit(start + 1s, skipped) ? 1 : 0;
        CHECK(skipped == 0);
    }
    CHECK(passed == 200);
    CHECK(limiter.admit(start + 12s, skipped));
    CHECK(skipped == 800);
    CHECK(limiter.admit(start + 12s, skipped));
    CHECK(skipped == 0);
}

TEST_CASE("output is cut into printable lines, and a line without end is bounded", "[plugin]") {
    LineSplitter splitter;
    std::vector<std::string> lines;
    const auto keep = [&](const std::string& line) { lines.push_back(line); };
    splitter.take("one\n\ntw", keep);
    splitter.take("o\x1b[31m\n", keep);
    for (int i = 0; i < 100; ++i) {
        splitter.take(std::string(1000, 'x'), keep);
    }
    splitter.take("\nrest", keep);
    splitter.flush(keep);
    REQUIRE(lines.size() == 4);
    CHECK(lines[0] == "one");
    CHECK(lines[1] == "two\\x1B[31m");
    CHECK(lines[2].size() == LineSplitter::kMaxLine);
    CHECK(lines[3] == "rest");
}
