// The day's end on a whole desk: summary, fold step, fresh session; each once, whatever happens in
// between.
#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;

namespace {

const char* const kScript = R"([
  {"kind":"summary","match":"","text":"SUMMARY: the owner said hello"},
  {"match":"parts","echo":"parts"},
  {"match":"","text":"fine"}])";

const DeskDate kDay = must(DeskDate::parse("2026-10-19"));

std::vector<std::string> steps(const DeskBench& bench) {
    std::vector<std::string> all;
    for (const JournalRecord& record : bench.records("rollover")) {
        all.push_back(record.entry.data["session"].as_string() + " " +
                      record.entry.data["step"].as_string());
    }
    return all;
}

std::string summary(const DeskBench& bench) {
    return must(bench.desk->sessions().read_summary(kDay)).value_or("");
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

}  // namespace

TEST_CASE(
    "at its time the day is summarised and closed; the evening opens the next session with the "
    "summary",
    "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    bench.say("hello");
    bench.settle();
    bench.clock.set("2026-10-19T15:44:00+05:30");
    bench.desk->check_clock();
    bench.settle();
    CHECK(must(bench.desk->sessions().read_summary(kDay)) == std::nullopt);
    bench.clock.set("2026-10-19T15:45:00+05:30");
    bench.desk->check_clock();
    bench.desk->check_clock();
    bench.settle();
    CHECK(summary(bench).find("SUMMARY: the owner said hello") != std::string::npos);
    CHECK(bench.desk->status().session.empty());
    CHECK(must(bench.desk->sessions().list()).size() ==
          1);  // the next one is made with its first turn
    CHECK(steps(bench) == std::vector<std::string>{"2026-10-19-1 opened",
                                                   "2026-10-19-1 summarised",
                                                   "2026-10-19-1 folded"});

    bench.clock.set("2026-10-19T17:00:00+05:30");
    const std::string parts = bench.say("parts")["text"].as_string();
    CHECK(parts.find("SUMMARY: the owner said hello") != std::string::npos);
    bench.settle();
    CHECK(bench.desk->status().session == "2026-10-19-2");
    bench.desk->check_clock();
    bench.settle();
    CHECK(bench.desk->status().session == "2026-10-19-2");  // not by time twice on one date

    bench.clock.set("2026-10-20T09:00:00+05:30");
    bench.say("good morning");
    bench.settle();
    CHECK(bench.desk->status().session == "2026-10-20-1");
    CHECK(count(summary(bench), "SUMMARY") ==
          2);  // the evening is an addition to the same day's summary
    const auto quiet = bench.records("turn_start");
    CHECK(std::count_if(quiet.begin(), quiet.end(), [](const JournalRecord& record) {
              return record.entry.data["kind"].as_string() == "summary";
          }) == 2);
}

TEST_CASE("after an outage of days the last session is rolled over once, at the first turn",
          "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    bench.say("hello");
    bench.stop_hard();
    bench.clock.set("2026-10-26T10:00:00+05:30");
    bench.open();
    bench.say("back again");
    bench.settle();
    CHECK(bench.desk->status().session == "2026-10-26-1");
    CHECK(steps(bench) == std::vector<std::string>{"2026-10-19-1 opened",
                                                   "2026-10-19-1 summarised",
                                                   "2026-10-19-1 folded",
                                                   "2026-10-26-1 opened"});
    CHECK(bench.session("2026-10-26-1")[0].text.find("SUMMARY") != std::string::npos);
}

TEST_CASE("a trigger that comes at the day's end is answered in the fresh session", "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    bench.say("hello");
    bench.settle();
    bench.clock.set("2026-10-19T15:45:30+05:30");
    const std::string trigger = bench.accept("and now?");
    CHECK(bench.end_of(trigger)["session"].as_string() == "2026-10-19-2");
    bench.settle();
    for (const SessionRecord& line : bench.session("2026-10-19-1")) {
        CHECK(line.extra["trigger"].as_string() != trigger);
    }
}

TEST_CASE("without a model the summary is the host's own and says so", "[turn]") {
    DeskBench bench;
    bench.add_model("one", kScript, R"({"ready_file":"ready.txt"})");
    std::filesystem::create_directories(bench.folder / "workspace/main");
    bench.folder.write("workspace/main/ready.txt", "yes");
    bench.open();
    bench.say("Remember: wait 20 minutes");
    bench.stop_hard();
    std::filesystem::remove(bench.folder / "workspace/main/ready.txt");
    bench.clock.set("2026-10-19T15:46:00+05:30");
    bench.open();
    bench.settle();
    CHECK(summary(bench).find("(extracted by the host, not written by a model: no model is ready: "
                              "one: the file ready.txt") != std::string::npos);
    CHECK(summary(bench).find("owner: Remember: wait 20 minutes") != std::string::npos);
}

TEST_CASE("a summary that fails is replaced by the host's own; its text is never half a summary",
          "[turn]") {
    DeskBench bench(
        R"([{"kind":"summary","match":"","text":"HALF","error":{"class":"truncated","message":"cut"}},{"match":"","text":"fine"}])");
    bench.open();
    bench.say("hello");
    bench.settle();
    bench.clock.set("2026-10-19T15:46:00+05:30");
    bench.desk->check_clock();
    bench.settle();
    CHECK(summary(bench).find("extracted by the host") != std::string::npos);
    CHECK(summary(bench).find("HALF") == std::string::npos);
}

TEST_CASE("the clock going back does not reopen the closed day", "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    bench.say("hello");
    bench.settle();
    bench.clock.set("2026-10-19T15:46:00+05:30");
    bench.desk->check_clock();
    bench.settle();
    bench.clock.set("2026-10-19T15:30:00+05:30");
    CHECK(bench.say("again")["session"].as_string() == "2026-10-19-2");
    bench.clock.set("2026-10-19T15:50:00+05:30");
    bench.desk->check_clock();
    bench.settle();
    CHECK(bench.desk->status().session == "2026-10-19-2");
    CHECK(count(summary(bench), "SUMMARY") == 1);
}

TEST_CASE("a rollover that dies at any step goes on there, and no step is done twice", "[turn]") {
    bool struck = true;
    for (std::uint64_t nth = 1; struck && nth < 200; nth += 4) {
        INFO("call " << nth);
        DeskBench bench(kScript);
        bench.open();
        bench.say("hello");
        bench.settle();
        bench.clock.set("2026-10-19T15:46:00+05:30");
        bench.os.fail_from(nth);
        bench.desk->check_clock();
        bench.settle();
        struck = bench.os.struck();
        bench.stop_hard();
        bench.os.heal();
        bench.open();
        bench.settle();
        bench.say("good evening");
        bench.settle();
        CHECK(bench.desk->status().session == "2026-10-19-2");
        CHECK(count(summary(bench), "SUMMARY") == 1);
        CHECK(steps(bench) == std::vector<std::string>{"2026-10-19-1 opened",
                                                       "2026-10-19-1 summarised",
                                                       "2026-10-19-1 folded",
                                                       "2026-10-19-2 opened"});
        CHECK(must(bench.desk->sessions().list()).size() == 2);
    }
    CHECK_FALSE(struck);
}

TEST_CASE("a lost state.json in the middle of a rollover costs nothing", "[turn]") {
    DeskBench bench(kScript);
    bench.open();
    bench.say("hello");
    bench.settle();
    bench.clock.set("2026-10-19T15:46:00+05:30");
    bench.desk->check_clock();
    bench.settle();
    bench.stop_hard();
    bench.folder.write("sessions/main/state.json", "");
    bench.open();
    bench.settle();
    bench.say("good evening");
    bench.settle();
    CHECK(bench.desk->status().session == "2026-10-19-2");
    CHECK(count(summary(bench), "SUMMARY") == 1);
    std::vector<std::string> turns;
    for (const JournalRecord& record : bench.records("turn_start")) {
        CHECK(std::find(turns.begin(), turns.end(), record.entry.turn) ==
              turns.end());  // no number is given twice
        turns.push_back(record.entry.turn);
    }
}
