#include "host/surface/worker.hpp"

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

using namespace daybook;

TEST_CASE("a worker runs tasks in order, and what was queued before it stopped", "[surface]") {
    std::vector<int> seen;
    Worker worker;
    for (int i = 0; i < 100; ++i) {
        REQUIRE(worker.post([&seen, i] { seen.push_back(i); }));
    }
    worker.stop();
    REQUIRE(seen.size() == 100);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK(worker.done() == 100);
    CHECK_FALSE(worker.post([] {}));
}

TEST_CASE("a full queue refuses and keeps what it has", "[surface]") {
    Worker worker(2);
    std::promise<void> started;
    std::promise<void> release;
    auto released = release.get_future().share();
    REQUIRE(worker.post([&] {
        started.set_value();
        released.wait();
    }));
    started.get_future().wait();
    int ran = 0;
    CHECK(worker.post([&] { ++ran; }));
    CHECK(worker.post([&] { ++ran; }));
    CHECK_FALSE(worker.post([&] { ++ran; }));
    release.set_value();
    worker.stop();
    CHECK(ran == 2);
}

TEST_CASE("a long job of a name runs once at a time and ends when told", "[surface]") {
    Jobs jobs;
    std::promise<void> started;
    REQUIRE(jobs.start("replay", [&](const std::stop_token& stop) {
        started.set_value();
        while (!stop.stop_requested()) {
            std::this_thread::yield();
        }
    }));
    started.get_future().wait();
    auto second = jobs.start("replay", [](const std::stop_token&) {});
    REQUIRE_FALSE(second);
    CHECK(second.error().code() == Errc::busy);
    std::promise<void> other;
    CHECK(jobs.start("doctor", [&](const std::stop_token&) { other.set_value(); }));
    other.get_future().wait();
    // Whoever is told of the end may ask anew at once.
    for (int i = 0; i < 50; ++i) {
        std::promise<void> told;
        REQUIRE(jobs.start(
            "verify", [](const std::stop_token&) {}, [&] { told.set_value(); }));
        told.get_future().wait();
    }
    jobs.stop();
    auto late = jobs.start("doctor", [](const std::stop_token&) {});
    REQUIRE_FALSE(late);
    CHECK(late.error().code() == Errc::unavailable);
}
