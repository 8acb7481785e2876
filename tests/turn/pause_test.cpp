// A desk that its owner has paused.
#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;

namespace {

const char* const kScript =
    R"([{"match":"hang","text":"so","hang":true},{"match":"","text":"done"}])";

}  // namespace

TEST_CASE("a paused desk accepts triggers, runs none, and runs all of them when it goes on",
          "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    const Json paused = must(bench.desk->set_paused(true, "a holiday"));
    CHECK(paused["changed"].as_bool());
    CHECK_FALSE(must(bench.desk->set_paused(true, ""))["changed"].as_bool());
    const std::string first = bench.accept("one");
    const std::string second = bench.accept("two", TurnKind::alert);
    const Json told = bench.events.wait("waiting");
    CHECK(told["state"].as_string() == "paused");
    bench.settle();
    CHECK(bench.records("turn_start").empty());
    CHECK(bench.desk->status().state == "paused");
    CHECK(bench.desk->status().queued == 2);
    CHECK(bench.desk->status().to_json()["paused"].as_bool());
    must(bench.desk->set_paused(false, ""));
    CHECK(bench.end_of(first)["outcome"].as_string() == "completed");
    CHECK(bench.end_of(second)["outcome"].as_string() == "completed");
    bench.settle();
    CHECK(bench.desk->status().state == "idle");
    const auto records = bench.records("desk");
    REQUIRE(records.size() == 2);
    CHECK(records[0].entry.data["what"].as_string() == "paused");
    CHECK(records[0].entry.data["reason"].as_string() == "a holiday");
    CHECK(records[1].entry.data["what"].as_string() == "resumed");
}

TEST_CASE("the owner's pause outlives a restart, a crash and a lost state.json", "[turn]") {
    for (const char* how : {"restart", "before state.json", "lost"}) {
        CAPTURE(how);
        DeskBench bench(kScript);
        bench.open();
        bench.say("hello");
        bench.settle();
        must(bench.desk->set_paused(true, ""));
        bench.settle();
        const std::string waiting = bench.accept("later");
        bench.stop_hard();
        const std::filesystem::path state = bench.folder / "sessions/main/state.json";
        if (std::string(how) == "before state.json") {
            Json json = must(Json::parse(bench.folder.read("sessions/main/state.json")));
            CHECK(json["paused"].as_bool());
            bench.folder.write("sessions/main/state.json", json.set("paused", false).dump());
        } else if (std::string(how) == "lost") {
            std::filesystem::remove(state);
        }
        bench.open();
        bench.settle();
        CHECK(bench.desk->status().state == "paused");
        CHECK(bench.desk->status().queued == 1);
        must(bench.desk->set_paused(false, ""));
        CHECK(bench.end_of(waiting)["outcome"].as_string() == "completed");
    }
}

TEST_CASE("the turn that runs goes on to its end when the desk is paused", "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    const std::string running = bench.accept("hang");
    bench.events.wait("text");
    const std::string next = bench.accept("next");
    must(bench.desk->set_paused(true, ""));
    CHECK(bench.desk->status().state == "in turn");
    CHECK(bench.desk->interrupt("enough"));
    CHECK(bench.end_of(running)["outcome"].as_string() == "cancelled");
    bench.settle();
    CHECK_FALSE(bench.desk->interrupt("nothing runs"));
    CHECK(bench.desk->status().queued == 1);
    CHECK(bench.records("turn_start").size() == 1);
}

TEST_CASE("a day that ends while the desk is paused is closed when it goes on, once", "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    bench.say("hello");
    bench.settle();
    must(bench.desk->set_paused(true, ""));
    bench.clock.set("2026-10-19T15:46:00+05:30");
    bench.desk->check_clock();
    bench.settle();
    CHECK(bench.records("rollover").size() == 1);  // "opened"
    // What the owner does himself is done.
    CHECK(bench.call_tool("add_note", R"({"text":"by hand"})").result);
    must(bench.desk->set_paused(false, ""));
    bench.settle();
    bench.desk->check_clock();
    bench.settle();
    CHECK(bench.records("rollover").size() == 3);
    CHECK(bench.desk->status().session.empty());
}

TEST_CASE("a paused desk's queue is bounded and its refusal says what to do", "[turn]") {
    DeskBench bench(kScript);
    bench.config.host.queue_limit = 2;
    bench.open();
    must(bench.desk->set_paused(true, ""));
    bench.accept("one");
    bench.accept("two");
    const auto third = bench.desk->accept(TurnKind::fill, "three", "", "");
    REQUIRE_FALSE(third);
    CHECK(third.error().code() == Errc::full);
    CHECK_THAT(third.error().message(), Catch::Contains("host.queue_limit"));
    CHECK(bench.records("fill").empty());
}
