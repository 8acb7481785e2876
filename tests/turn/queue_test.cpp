// The trigger queue and the thread that empties it.
#include <atomic>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "host/turn/desk_events.hpp"
#include "host/turn/desk_thread.hpp"
#include "host/turn/trigger_queue.hpp"
#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::must;
using namespace std::chrono_literals;

namespace {

Trigger trigger(TurnKind kind, std::string id) {
    Trigger made;
    made.kind = kind;
    made.id = std::move(id);
    return made;
}

void push(TriggerQueue& queue, TurnKind kind, std::string id) {
    must(queue.reserve());
    queue.push_reserved(trigger(kind, std::move(id)));
}

SteadyTime soon(std::chrono::milliseconds time = 5000ms) {
    return std::chrono::steady_clock::now() + time;
}

}  // namespace

TEST_CASE(
    "fills go before alerts, alerts before jobs, jobs before messages, each in order of arrival",
    "[turn]") {
    TriggerQueue queue(100);
    push(queue, TurnKind::message, "m1");
    push(queue, TurnKind::job, "j1");
    push(queue, TurnKind::message, "m2");
    push(queue, TurnKind::fill, "f1");
    push(queue, TurnKind::alert, "a1");
    push(queue, TurnKind::fill, "f2");
    Trigger recovery = trigger(TurnKind::job, "r1");
    recovery.recovery_of = "t-1";
    queue.push_recovered(recovery);
    std::string order;
    while (auto taken = queue.take()) {
        order += taken->trigger.id + " ";
        queue.settle();
    }
    CHECK(order == "r1 f1 f2 a1 j1 m1 m2 ");
}

TEST_CASE("a trigger that has to wait goes back to its place", "[turn]") {
    TriggerQueue queue(100);
    push(queue, TurnKind::message, "m1");
    push(queue, TurnKind::message, "m2");
    auto taken = queue.take();
    push(queue, TurnKind::message, "m3");
    queue.put_back(*std::move(taken));
    CHECK(queue.ids() == std::vector<std::string>{"m1", "m2", "m3"});
}

TEST_CASE(
    "the bound counts what waits, what is reserved and what runs; recovered ones are beyond it",
    "[turn]") {
    TriggerQueue queue(2);
    push(queue, TurnKind::message, "m1");
    must(queue.reserve());
    CHECK(queue.reserve().error().code() == Errc::full);
    queue.release();
    must(queue.reserve());
    queue.push_reserved(trigger(TurnKind::message, "m2"));
    auto taken = queue.take();
    CHECK(queue.reserve().error().code() == Errc::full);
    CHECK_FALSE(queue.is_settled());
    queue.settle();
    must(queue.reserve());
    queue.release();
    for (int i = 0; i < 5; ++i) {
        queue.push_recovered(trigger(TurnKind::message, "old"));
    }
    CHECK(queue.waiting() == 6);
}

TEST_CASE("the thread starts with work, does all of it and is gone when idle", "[turn]") {
    DeskInbox inbox;
    std::atomic<int> left{0};
    std::atomic<int> done{0};
    DeskThread thread(inbox,
                      DeskWork{[&] { return left > 0; },
                               [&] {
                                   --left;
                                   ++done;
                               },
                               [] { return SteadyTime::max(); }},
                      20ms);
    CHECK_FALSE(thread.is_running());
    for (int round = 1; round <= 20; ++round) {
        left += 50;
        static_cast<void>(thread.wake());
        REQUIRE(thread.wait_idle(soon()));
        CHECK(done == round * 50);
        if (round % 5 == 0) {
            REQUIRE(thread.wait_ended(soon()));
        }
    }
}

TEST_CASE("without a thread the work waits for the next wake, and whoever woke it is told",
          "[turn]") {
    DeskInbox inbox;
    std::atomic<int> left{1};
    bool refuses = true;
    DeskThread thread(inbox,
                      DeskWork{[&] { return left > 0; },
                               [&] {
                                   --left;
                                   throw std::runtime_error("a fault");
                               },
                               [] { return SteadyTime::max(); }},
                      20ms,
                      [&](std::function<void()> run) {
                          if (refuses) {
                              throw std::system_error(
                                  std::make_error_code(std::errc::resource_unavailable_try_again));
                          }
                          return std::thread(std::move(run));
                      });
    CHECK(thread.wake().error().code() == Errc::unavailable);
    CHECK_FALSE(thread.is_running());
    CHECK(left == 1);
    refuses = false;
    CHECK(thread.wake().has_value());
    REQUIRE(thread.wait_idle(soon()));
    CHECK(left == 0);
}

TEST_CASE("work added while the thread is about to end is not forgotten", "[turn]") {
    DeskInbox inbox;
    std::atomic<int> left{0};
    DeskThread thread(
        inbox,
        DeskWork{[&] { return left > 0; }, [&] { --left; }, [] { return SteadyTime::max(); }},
        0ms);
    for (int round = 0; round < 2000; ++round) {
        ++left;
        static_cast<void>(thread.wake());
        REQUIRE(thread.wait_idle(soon()));
        REQUIRE(left == 0);
    }
}

TEST_CASE("work for later wakes the thread at its time and keeps it from being idle", "[turn]") {
    DeskInbox inbox;
    std::atomic<bool> done{false};
    const SteadyTime when = std::chrono::steady_clock::now() + 60ms;
    DeskThread thread(inbox,
                      DeskWork{[&] { return !done && std::chrono::steady_clock::now() >= when; },
                               [&] { done = true; },
                               [&] { return done ? SteadyTime::max() : when; }},
                      1ms);
    static_cast<void>(thread.wake());
    CHECK_FALSE(thread.wait_idle(std::chrono::steady_clock::now() + 5ms));
    REQUIRE(thread.wait_idle(soon()));
    CHECK(done);
    CHECK(std::chrono::steady_clock::now() >= when);
}

TEST_CASE("a closed thread finishes what it does and starts no more", "[turn]") {
    DeskInbox inbox;
    std::atomic<int> runs{0};
    DeskThread thread(
        inbox, DeskWork{[] { return true; }, [&] { ++runs; }, [] { return SteadyTime::max(); }});
    static_cast<void>(thread.wake());
    while (runs == 0) {
        std::this_thread::yield();
    }
    thread.close();
    REQUIRE(thread.wait_ended(soon()));
    const int after = runs;
    static_cast<void>(thread.wake());
    CHECK_FALSE(thread.is_running());
    CHECK(runs == after);
}

TEST_CASE("a listener hears events with their names first and may stop listening inside one",
          "[turn]") {
    DeskEvents events("main");
    std::vector<std::string> heard;
    std::uint64_t id = 0;
    id = events.listen([&](const Json& event) {
        heard.push_back(event.dump());
        events.unlisten(id);
    });
    events.listen([&](const Json&) { heard.emplace_back("other"); });
    events.emit("text", Json::object().set("text", "hi"));
    events.emit("text", Json::object().set("text", "again"));
    CHECK(heard == std::vector<std::string>{
                       R"({"event":"text","desk":"main","text":"hi"})", "other", "other"});
}
