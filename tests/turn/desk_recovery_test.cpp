// What survives a stop, a crash and a failing disk: triggers once, effects at most once, answers
// whole.
#include <set>
#include <thread>

#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;
using daybook::test::patience;

namespace {

const char* const kEffects = R"([
  {"match":"stopped in the middle","echo":"messages"},
  {"match":"buy then hang","calls":[{"name":"place","arguments":{"symbol":"NIFTY"}}]},
  {"match":"buy and crash","calls":[{"name":"place_and_crash","arguments":{"symbol":"NIFTY"}}]},
  {"match":"buy","calls":[{"name":"place","arguments":{"symbol":"NIFTY"}}]},
  {"match":"hang","text":"so","hang":true},
  {"after":"place","match":"","text":"placed"},
  {"after":"place_and_crash","match":"not known","text":"I do not know"}])";

const char* const kHangAfter = R"([
  {"match":"stopped in the middle","echo":"messages"},
  {"match":"buy","calls":[{"name":"place","arguments":{"symbol":"NIFTY"}}]},
  {"after":"place","text":"so","hang":true}])";

std::size_t answers_of(const DeskBench& bench, const std::string& trigger) {
    std::size_t count = 0;
    for (const SessionInfo& session : must(bench.desk->sessions().list())) {
        for (const SessionRecord& line : must(bench.desk->sessions().read(session.id))) {
            count +=
                line.kind == "answer" && line.extra["trigger"].as_string() == trigger ? 1U : 0U;
        }
    }
    return count;
}

}  // namespace

TEST_CASE("an accepted trigger outlives a stop and runs once", "[turn]") {
    DeskBench bench(R"([{"match":"hang","text":"so","hang":true},{"match":"","text":"done"}])");
    bench.open();
    const std::string first = bench.accept("hang");
    bench.events.wait("text");
    const std::string second = bench.accept("second");
    bench.stop_hard();
    bench.set_script("one", R"([{"match":"","text":"done"}])");
    bench.open();
    bench.settle();
    CHECK(answers_of(bench, first) == 1);
    CHECK(answers_of(bench, second) == 1);
    // Nothing is left for a third start.
    bench.stop_hard();
    bench.open();
    bench.settle();
    CHECK(answers_of(bench, first) == 1);
    CHECK(answers_of(bench, second) == 1);
    CHECK(bench.desk->status().queued == 0);
}

TEST_CASE("a second wish to stop cuts the turn, and its trigger runs at the next start", "[turn]") {
    DeskBench bench(R"([{"match":"hang","text":"so","hang":true},{"match":"","text":"done"}])");
    bench.open();
    const std::string trigger = bench.accept("hang");
    bench.events.wait("text");
    std::thread stopping([&] { bench.desk->stop(std::chrono::minutes(10)); });
    bench.desk->cut();
    stopping.join();
    bench.stop_hard();
    bench.set_script("one", R"([{"match":"","text":"done"}])");
    bench.open();
    bench.settle();
    CHECK(answers_of(bench, trigger) == 1);
}

TEST_CASE("a key is accepted once, also over a restart, and says whether its turn is over",
          "[turn]") {
    DeskBench bench(R"([{"match":"","text":"done"}])");
    bench.open();
    const auto first = must(bench.desk->accept(TurnKind::alert, "gap", "k-1", "gap"));
    CHECK_FALSE(first.duplicate);
    bench.end_of(first.trigger);
    bench.settle();
    const auto again = must(bench.desk->accept(TurnKind::alert, "gap", "k-1", "gap"));
    CHECK(again.duplicate);
    CHECK(again.settled);
    CHECK(again.trigger == first.trigger);
    bench.stop_hard();
    bench.open();
    const auto later = must(bench.desk->accept(TurnKind::alert, "gap", "k-1", "gap"));
    CHECK(later.duplicate);
    CHECK(later.settled);
    bench.settle();
    CHECK(answers_of(bench, first.trigger) == 1);
}

TEST_CASE("one key from many threads at once is one trigger", "[turn]") {
    DeskBench bench(R"([{"match":"","text":"done"}])");
    bench.open();
    std::atomic<int> fresh{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            const auto accepted = bench.desk->accept(TurnKind::alert, "gap", "k-1", "");
            fresh += accepted && !accepted->duplicate ? 1 : 0;
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    bench.settle();
    CHECK(fresh == 1);
    CHECK(bench.records("alert").size() == 1);
    CHECK(bench.records("turn_end").size() == 1);
}

TEST_CASE(
    "an effect has its intent before and its outcome after, under a key that reaches the plugin",
    "[turn]") {
    DeskBench bench(kEffects);
    bench.open();
    const std::string trigger = bench.accept("buy one");
    CHECK(bench.end_of(trigger)["text"].as_string() == "placed");
    bench.settle();
    const auto intents = bench.records("effect_intent");
    const auto outcomes = bench.records("effect_outcome");
    const auto orders = bench.records("order");
    REQUIRE(intents.size() == 1);
    REQUIRE(outcomes.size() == 1);
    REQUIRE(orders.size() == 1);
    CHECK(intents[0].seq < orders[0].seq);
    CHECK(orders[0].seq < outcomes[0].seq);
    const std::string key = intents[0].entry.data["key"].as_string();
    CHECK(key.starts_with(trigger + ":1:"));
    CHECK(orders[0].entry.key.find(key) != std::string::npos);
    CHECK(outcomes[0].entry.data["outcome"].as_string() == "known");
}

TEST_CASE("an effect whose plugin crashes is unknown, told to the model and never tried again",
          "[turn]") {
    DeskBench bench(kEffects);
    bench.open();
    CHECK(bench.say("buy and crash")["text"].as_string() == "I do not know");
    bench.settle();
    CHECK(bench.records("order").size() == 1);
    CHECK(bench.records("effect_outcome").at(0).entry.data["outcome"].as_string() == "unknown");
}

TEST_CASE("a turn that is cut after an effect is not run again: a recovery tells what was done",
          "[turn]") {
    DeskBench bench(kHangAfter);
    bench.open();
    const std::string trigger = bench.accept("buy one");
    bench.events.wait("text");
    bench.stop_hard();
    bench.open();
    const Json end = bench.events.wait([](const Json& event) {
        return event["event"].as_string() == "turn_end" && event["kind"].as_string() == "job";
    });
    bench.settle();
    const auto ends = bench.records("turn_end");
    REQUIRE(ends.size() == 2);
    CHECK(ends[0].entry.data["trigger"].as_string() == trigger);
    CHECK(ends[0].entry.data["outcome"].as_string() == "interrupted");
    CHECK(ends[1].entry.data["outcome"].as_string() == "completed");
    CHECK(bench.records("order").size() == 1);
    CHECK(bench.records("effect_intent").size() == 1);
    const auto recovery = bench.records("job").at(0);
    CHECK(recovery.entry.data["text"].as_string().find("Done before: place") != std::string::npos);
    const auto lines = bench.session("2026-10-19-1");
    CHECK(lines.back().kind == "answer");
    CHECK(lines.back().text.find("Done before: place") != std::string::npos);
    CHECK(answers_of(bench, trigger) == 0);
}

TEST_CASE(
    "wherever the disk dies, each accepted trigger is answered once and each effect tried at most "
    "once",
    "[turn]") {
    // The disk fails for good at call n of a turn, then a new start finds it healed.
    for (std::uint64_t nth = 1; nth < 60; nth += nth < 20 ? 3 : 7) {
        INFO("call " << nth);
        DeskBench bench(kEffects);
        bench.open();
        bench.say("buy first");  // session and runners are there
        bench.settle();
        bench.os.fail_from(nth, nth % 2 == 0 ? Errc::full : Errc::io);
        std::string trigger;
        if (auto accepted = bench.desk->accept(TurnKind::message, "buy one", "", "")) {
            trigger = accepted->trigger;
            bench.events.wait([&](const Json& event) {
                const std::string& name = event["event"].as_string();
                return event["trigger"].as_string() == trigger &&
                       (name == "turn_end" || name == "waiting");
            });
        }
        bench.stop_hard();
        bench.os.heal();
        bench.open();
        bench.settle();
        CHECK(bench.desk->status().queued == 0);
        std::set<std::string> settled;
        for (const JournalRecord& end : bench.records("turn_end")) {
            if (const std::string& id = end.entry.data["trigger"].as_string(); !id.empty()) {
                CHECK(settled.insert(id).second);
            }
        }
        for (const std::string type : {"message", "job"}) {
            for (const JournalRecord& accepted : bench.records(type)) {
                CHECK(settled.contains(accepted.id));
            }
        }
        if (!trigger.empty()) {
            CHECK(answers_of(bench, trigger) <= 1);
        }
        std::set<std::string> keys;
        for (const JournalRecord& intent : bench.records("effect_intent")) {
            CHECK(keys.insert(intent.entry.data["key"].as_string()).second);
        }
        CHECK(bench.records("order").size() <= keys.size());
        bench.say("buy last");
        for (const SessionInfo& session : must(bench.desk->sessions().list())) {
            std::size_t bad = 0;
            must(bench.desk->sessions().read(session.id, &bad));
            CHECK(bad == 0);
        }
    }
}
