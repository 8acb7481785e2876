// Cases of memory and sessions on a whole desk that was stopped hard and opened again.
#include <unistd.h>

#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;

namespace {

const char* const kScript = R"([
  {"kind":"summary","match":"","text":"SUMMARY of the day"},
  {"match":"note","kind":"message","calls":[{"name":"add_note","arguments":{"text":"kept by $turn"}}]},
  {"after":"add_note","text":"noted"},
  {"match":"look","calls":[{"name":"read_file","arguments":{"path":"Memory.md"}}]},
  {"after":"read_file","in_messages":"interrupted","text":"I see that a call was cut"},
  {"after":"read_file","text":"seen"},
  {"match":"","text":"fine"}])";

std::size_t quiet_turns(const DeskBench& bench) {
    const auto starts = bench.records("turn_start");
    return static_cast<std::size_t>(
        std::count_if(starts.begin(), starts.end(), [](const JournalRecord& record) {
            return record.entry.data["kind"].as_string() != "message";
        }));
}

}  // namespace

TEST_CASE("M11: days that were rolled over are not rolled over again by restarts", "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    for (const char* day : {"2026-10-19", "2026-10-20", "2026-10-21"}) {
        bench.clock.set(std::string(day) + "T09:30:00+05:30");
        bench.say("hello");
        bench.settle();
        bench.clock.set(std::string(day) + "T15:46:00+05:30");
        bench.desk->check_clock();
        bench.settle();
    }
    const std::size_t asked = quiet_turns(bench);
    const std::size_t steps = bench.records("rollover").size();
    REQUIRE(asked == 3);
    const std::string first =
        must(bench.desk->sessions().read_summary(must(DeskDate::parse("2026-10-19")))).value_or("");
    for (const bool without_state : {false, false, true}) {
        bench.stop_hard();
        if (without_state) {
            std::filesystem::remove(bench.folder / "sessions/main/state.json");
        }
        bench.clock.set("2026-10-21T18:00:00+05:30");
        bench.open();
        bench.desk->check_clock();
        bench.settle();
        CHECK(quiet_turns(bench) == asked);
        CHECK(bench.records("rollover").size() == steps);
    }
    CHECK(must(bench.desk->sessions().read_summary(must(DeskDate::parse("2026-10-19")))) == first);
    CHECK(must(bench.desk->sessions().list()).size() == 3);
}

TEST_CASE("M28: a restart without its index lists the same sessions", "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    for (const char* day : {"2026-10-19", "2026-10-20", "2026-10-21"}) {
        bench.clock.set(std::string(day) + "T09:30:00+05:30");
        bench.say("hello");
        bench.settle();
    }
    const auto before = must(bench.desk->sessions().list());
    REQUIRE(before.size() == 3);
    bench.stop_hard();
    bench.folder.write("sessions/main/state.json", "");
    bench.open();
    const auto after = must(bench.desk->sessions().list());
    REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
        CHECK(after[i].id == before[i].id);
    }
    CHECK(bench.desk->status().session == "2026-10-21-1");
}

TEST_CASE("M31: a call that a crash cut is closed, and later turns go on", "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    bench.say("hello");
    bench.settle();
    const std::string session = bench.desk->status().session;
    const std::size_t seq = bench.session(session).size() + 1;
    bench.stop_hard();
    // What a killed host leaves: a call in the middle of a turn, without its result.
    const std::string file = "sessions/main/" + session + ".jsonl";
    std::string text = bench.folder.read(file);
    text += R"({"v":1,"seq":)" + std::to_string(seq) +
            R"(,"ts":"2026-10-19T04:01:00.000000000Z","turn":"t-99","kind":"tool_call",)"
            R"("source":"desk","text":"{}","extra":{"call":"orphan","tool":"read_file","round":1}})"
            "\n";
    bench.folder.write(file, text);
    bench.open();
    CHECK(bench.say("look")["text"].as_string() == "I see that a call was cut");
    CHECK(bench.say("hello")["text"].as_string() == "fine");
    std::size_t closed = 0;
    for (const SessionRecord& line : bench.session(session)) {
        closed += line.kind == "tool_result" && line.extra["call"].as_string() == "orphan" &&
                          line.extra["status"].as_string() == "interrupted"
                      ? 1U
                      : 0U;
    }
    CHECK(closed == 1);
}

TEST_CASE("M34: lock files that are left by name stop neither a desk nor its checkpoints",
          "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    bench.say("note one");
    bench.settle();
    bench.stop_hard();
    const std::string repository = "workspace/.checkpoints/main.git/";
    const std::string own = std::to_string(::getpid()) + "\n";
    for (const char* name :
         {"daybook.lock", "index.lock", "HEAD.lock", "packed-refs.lock", "config.lock"}) {
        bench.folder.write(repository + name, own);
    }
    bench.folder.write("sessions/main/session.lock", own);
    bench.folder.write("journal/main/journal.lock", own);
    bench.open();
    bench.say("note two");
    bench.settle();
    CHECK(bench.records("note_written").size() == 2);
    CHECK(must(bench.desk->checkpoints().list(10)).size() >= 3);
}

TEST_CASE("M23: what of Memory.md is not shown is named to the model and to the owner", "[turn]") {
    DeskBench bench(R"([{"match":"left","echo":"left_out"},{"match":"","text":"fine"}])");
    std::string memory;
    while (memory.size() < 30'000) {
        memory += "- lesson " + std::to_string(memory.size()) + " of the desk\n";
    }
    std::filesystem::create_directories(bench.folder / "workspace/main");
    bench.folder.write("workspace/main/Memory.md", memory);
    bench.open();
    const Json end = bench.say("left");
    INFO(end.dump());
    CHECK(end["left_out"].dump().find("memory: ") != std::string::npos);
    CHECK(end["text"].as_string().find("memory: ") != std::string::npos);
    CHECK(bench.folder.read("workspace/main/Memory.md") == memory);
}
