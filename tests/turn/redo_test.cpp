// A summary that the host extracted is written again by a model: in idle time, after every trigger,
// and never over something else.
#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;

namespace {

const DeskDate kDay = must(DeskDate::parse("2026-10-19"));
const char* const kScript = R"([
  {"kind":"summary","match":"","text":"SUMMARY: wait 20 minutes after a gap"},
  {"match":"parts","echo":"parts"},
  {"match":"","text":"fine"}])";

std::string summary(const DeskBench& bench) {
    return must(bench.desk->sessions().read_summary(kDay)).value_or("");
}

bool holds(const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
}

std::vector<JournalRecord> redone(const DeskBench& bench) {
    auto records = bench.records("rollover");
    std::erase_if(records, [](const JournalRecord& record) {
        return record.entry.data["step"].as_string() != "summary_redone";
    });
    return records;
}

/// A desk whose day ended without a model, on the next morning.
struct Morning : DeskBench {
    explicit Morning(const std::string& script = kScript) {
        add_model("one", script, R"({"ready_file":"ready.txt"})");
        std::filesystem::create_directories(folder / "workspace/main");
        folder.write("workspace/main/ready.txt", "yes");
        open();
        say("Remember: wait 20 minutes");
        stop_hard();
        std::filesystem::remove(folder / "workspace/main/ready.txt");
        clock.set("2026-10-19T15:46:00+05:30");
        open();
        settle();
        REQUIRE(holds(summary(*this), "extracted by the host"));
        stop_hard();
        folder.write("workspace/main/ready.txt", "yes");
        clock.set("2026-10-20T09:15:00+05:30");
        open();
    }
};

}  // namespace

TEST_CASE("an extracted summary is written by a model in idle time, and the session sees it",
          "[turn]") {
    Morning bench;
    const std::string extract = summary(bench);
    CHECK(holds(bench.say("parts first")["text"].as_string(), "extracted by the host"));
    bench.settle();
    CHECK(holds(summary(bench), "<!-- session 2026-10-19-1 -->\nSUMMARY: wait 20 minutes"));
    CHECK_FALSE(holds(summary(bench), "extracted by the host"));
    const auto told = redone(bench);
    REQUIRE(told.size() == 1);
    CHECK(told[0].entry.data["model"].as_string() == "one");
    // The former text stays findable, whole.
    CHECK(holds(extract, told[0].entry.data["former"].as_string()));
    CHECK(holds(told[0].entry.data["former"].as_string(), "owner: Remember: wait 20 minutes"));
    const std::string parts = bench.say("parts")["text"].as_string();
    CHECK(holds(parts, "SUMMARY: wait 20 minutes after a gap"));
    CHECK_FALSE(holds(parts, "extracted by the host"));
    bench.say("and on");
    bench.settle();
    CHECK(redone(bench).size() == 1);
}

TEST_CASE("a trigger goes first: it breaks the writing of a summary off", "[turn]") {
    Morning bench(R"([
      {"kind":"summary","match":"","text":"so","hang":true},{"match":"","text":"fine"}])");
    bench.say("first");
    // The second is answered although the summary's model never ends by itself.
    for (int i = 0; i < 3; ++i) {
        CHECK(bench.say("next")["outcome"].as_string() == "completed");
    }
    CHECK(holds(summary(bench), "extracted by the host"));
    CHECK(redone(bench).empty());
    bench.stop_hard();
    bench.set_script("one", kScript);
    bench.open();
    bench.say("again");
    bench.settle();
    CHECK(holds(summary(bench), "SUMMARY"));
}

TEST_CASE("a model that writes none is asked again after more and more turns", "[turn]") {
    Morning bench(R"([
      {"kind":"summary","match":"","error":{"class":"model_fault","message":"broken"}},
      {"match":"","text":"fine"}])");
    for (int i = 0; i < 8; ++i) {
        bench.say("on");
        bench.settle();
    }
    bench.settle();
    std::size_t asked = 0;
    for (const JournalRecord& record : bench.records("turn_start")) {
        asked += record.entry.data["kind"].as_string() == "summary" ? 1U : 0U;
    }
    CHECK(asked == 3);  // after the 1st, the 3rd and the 6th turn
    CHECK(holds(summary(bench), "extracted by the host"));
}

TEST_CASE("a host that dies while it writes a summary again loses neither text", "[turn]") {
    bool struck = true;
    for (std::uint64_t nth = 1; struck && nth < 200; nth += 13) {
        INFO("call " << nth);
        Morning bench;
        bench.os.fail_from(nth);
        if (const auto accepted = bench.desk->accept(TurnKind::message, "on", "", "")) {
            bench.events.wait([&](const Json& event) {
                const std::string& name = event["event"].as_string();
                return (name == "turn_end" || name == "waiting") &&
                       event["trigger"].as_string() == accepted->trigger;
            });
        }
        struck = bench.os.struck();
        bench.stop_hard();
        bench.os.heal();
        bench.open();
        bench.say("once more");
        bench.settle();
        CHECK(holds(summary(bench), "SUMMARY"));
        CHECK_FALSE(holds(summary(bench), "extracted by the host"));
        REQUIRE_FALSE(redone(bench).empty());
        CHECK(holds(redone(bench)[0].entry.data["former"].as_string(), "Remember: wait"));
    }
}
