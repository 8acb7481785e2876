// Context compression on a whole desk: flush, summary, view; once each, whatever happens in
// between.
#include "host/turn/conversation_view.hpp"
#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;

namespace {

// A flush writes one note and tells which marked words it was shown; a summary tells which the
// transcript had.
const char* const kScript = R"([
  {"kind":"flush","after":"add_note","collect":"m-"},
  {"kind":"flush","match":"","calls":[{"name":"add_note","arguments":{"text":"kept by $turn"}}]},
  {"kind":"summary","match":"","collect":"m-"},
  {"match":"messages","echo":"messages"},
  {"match":"parts","echo":"parts"},
  {"match":"","text":"fine"}])";

/// A bench whose model has a small window and counts exactly, four bytes a token.
struct CompressBench : DeskBench {
    explicit CompressBench(const std::string& script = kScript,
                           std::int64_t window = 4000,
                           const std::string& plugin_config = "{}")
        : DeskBench(script) {
        add_model("one", script, plugin_config);
        config.models.at("one").window = window;
        config.models.at("one").config.set("bytes_per_token", 4);
        desk_config.instructions = "Be brief.";
    }
    /// Words of about so many bytes with a mark that can be found again.
    static std::string words(int number, std::size_t bytes) {
        return "m-" + std::to_string(number) + " " + std::string(bytes, 'x');
    }
    std::vector<JournalRecord> turns(const std::string& kind, const char* type = "turn_start") {
        std::vector<JournalRecord> found;
        for (JournalRecord& record : records(type)) {
            if (record.entry.data["kind"].as_string() == kind) {
                found.push_back(std::move(record));
            }
        }
        return found;
    }
    /// Says marked things until so many compressions were told; returns how many were said.
    int say_until(std::size_t compressions, int from = 1, std::size_t bytes = 1500) {
        int number = from;
        while (events.all("compress").size() < compressions && number < from + 400) {
            REQUIRE(say(words(number, bytes))["outcome"].as_string() == "completed");
            ++number;
        }
        settle();
        return number;
    }
    std::string session_bytes(const std::string& id) const {
        return folder.read("sessions/main/" + id + ".jsonl");
    }
};

std::string answer_of(const std::vector<SessionRecord>& lines, const std::string& turn) {
    for (const SessionRecord& line : lines) {
        if (line.turn == turn && line.kind == "answer") {
            return line.text;
        }
    }
    return {};
}

bool has_word(const std::string& text, const std::string& word) {
    return (" " + text + " ").find(" " + word + " ") != std::string::npos;
}

}  // namespace

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
