// Context compression on a whole desk: flush, summary, view; once each, whatever happens in
// between.
#include "tests/turn/compress_bench.hpp"

using namespace daybook;
using daybook::test::answer_of;
using daybook::test::CompressBench;
using daybook::test::has_word;
using daybook::test::kScript;

TEST_CASE(
    "twenty compressions of a window of 32,768 tokens in one day: twenty flushes, each from the "
    "raw conversation and before its summary (M01 M02 M05 M22)",
    "[turn]") {
    CompressBench bench(kScript, 32768);
    bench.open();
    int said = 1;
    std::string before;
    for (std::size_t round = 1; round <= 20; ++round) {
        said = bench.say_until(round, said, 12000);
        const std::string now = bench.session_bytes("2026-10-19-1");
        REQUIRE(now.starts_with(before));  // append-only for ever
        before = now;
    }
    const auto compressions = bench.records("compress");
    REQUIRE(compressions.size() == 20);
    REQUIRE(bench.turns("flush").size() == 20);
    REQUIRE(bench.turns("summary").size() == 20);
    const auto lines = bench.session("2026-10-19-1");
    int first = 1;
    std::uint64_t last_seq = 0;
    for (std::size_t i = 0; i < 20; ++i) {
        INFO("compression " << i + 1);
        const JournalRecord& record = compressions[i];
        const Json& data = record.entry.data;
        const auto flush = bench.turns("flush")[i];
        const auto flushed = bench.turns("flush", "turn_end")[i];
        const auto summary = bench.turns("summary")[i];
        CHECK(last_seq < flush.seq);
        CHECK(flush.seq < flushed.seq);
        CHECK(flushed.seq < summary.seq);
        CHECK(summary.seq < record.seq);
        last_seq = record.seq;
        CHECK(data["outcome"].as_string() == "completed");
        CHECK(data["mark"].as_string() == "70");
        CHECK(data["flush"]["turn"].as_string() == flush.entry.turn);
        CHECK(data["flush"]["notes"].as_integer() == 1);
        CHECK(data["summary_turn"].as_string() == summary.entry.turn);
        CHECK(data["tokens"]["before"].as_integer() * 100 > 32768 * 70);
        CHECK(data["tokens"]["after"].as_integer() < data["tokens"]["before"].as_integer());
        // The flush saw every word said since the compression before it, whole and unshortened.
        const std::string seen = answer_of(lines, flush.entry.turn);
        int number = first;
        while (has_word(seen, "m-" + std::to_string(number))) {
            ++number;
        }
        CHECK(number > first);
        first = number;
    }
    CHECK(first >= said - 1);
    CHECK(bench.records("effect_intent").empty());
    // What the first words were still stands in the summary of summaries.
    const std::string parts = bench.say("parts")["text"].as_string();
    const std::string summary = parts.substr(parts.find(R"("summary")"));
    CHECK(has_word(summary, "m-2"));
    CHECK(has_word(summary, "m-" + std::to_string(first - 2)));
}
