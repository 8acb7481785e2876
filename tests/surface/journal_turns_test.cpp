// What `journal verify` sees in a journal by itself: each rule broken once.
#include "host/surface/journal_turns.hpp"

#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::must;

namespace {

/// A journal told line by line.
class Told {
  public:
    Told& add(const std::string& type,
              const std::string& turn,
              const std::string& data,
              const std::string& by = "host") {
        JournalRecord record;
        record.seq = ++number_;
        record.id = "main-" + std::to_string(number_);
        record.entry.type = type;
        record.entry.by = by;
        record.entry.session = "2026-10-19-1";
        record.entry.turn = turn;
        record.entry.data = must(Json::parse(data));
        turns_.take(record, {"journal/main/2026-10-19.jsonl", number_});
        return *this;
    }
    Told& quiet(const std::string& turn, const std::string& kind) {
        const std::string data = R"({"kind":")" + kind + R"(","trigger":null})";
        return add("turn_start", turn, data)
            .add("turn_end", turn, R"({"outcome":"completed","trigger":null})");
    }
    Told& rollover(const std::string& session,
                   const std::string& step,
                   const std::string& more = "") {
        return add("rollover",
                   "",
                   R"({"day":"2026-10-19","session":")" + session + R"(","step":")" + step + "\"" +
                       more + "}");
    }
    /// Every finding, "line: what" each.
    std::string findings() {
        turns_.finish();
        std::string text;
        for (const JournalFinding& finding : proof_.findings) {
            text += std::to_string(finding.place.line) + ": " + finding.what + "\n";
        }
        return text;
    }
    JournalProof& proof() { return proof_; }

  private:
    JournalProof proof_;
    JournalTurns turns_{proof_};
    std::uint64_t number_ = 0;
};

constexpr const char* kCompressed =
    R"({"line":9,"outcome":"completed","mark":70,"flush":{"turn":"t-2","outcome":"completed","notes":0},"summary_turn":"t-3"})";

}  // namespace

TEST_CASE("turns begin once, end once, and answer a trigger that was accepted", "[surface]") {
    Told good;
    good.add("message", "", R"({"kind":"message"})")
        .add("turn_start", "t-1", R"({"kind":"message","trigger":"main-1"})")
        .add("turn_end", "t-1", R"({"outcome":"completed","trigger":"main-1"})");
    CHECK(good.findings() == "");
    CHECK(good.proof().turns == 1);

    Told bad;
    bad.add("message", "", R"({"kind":"message"})")
        .add("turn_start", "t-1", R"({"kind":"message","trigger":"main-1"})")
        .add("turn_start", "t-1", R"({"kind":"message","trigger":"main-1"})")
        .add("turn_end", "t-1", R"({"outcome":"completed","trigger":"main-1"})")
        .add("turn_end", "t-1", R"({"outcome":"completed","trigger":"main-1"})")
        .add("turn_end", "t-9", R"({"outcome":"completed","trigger":"main-1"})")
        .add("turn_start", "t-2", R"({"kind":"message","trigger":"main-77"})")
        .add("turn_end", "t-2", R"({"outcome":"completed","trigger":"main-1"})")
        .add("turn_start", "t-3", R"({"kind":"message","trigger":"main-1"})")
        .quiet("t-4", "summary");
    const std::string findings = bad.findings();
    CHECK_THAT(findings, Catch::Contains("3: turn t-1 begins again"));
    CHECK_THAT(findings, Catch::Contains("5: turn t-1 ends again"));
    CHECK_THAT(findings, Catch::Contains("6: turn t-9 ends and never began"));
    CHECK_THAT(findings, Catch::Contains("7: turn t-2 answers main-77, which was never accepted"));
    CHECK_THAT(findings, Catch::Contains("8: trigger main-1 is settled again"));
    CHECK_THAT(findings, Catch::Contains("9: turn t-3 has no end, and later ones began"));
}

TEST_CASE("an effect in a quiet turn, twice, or without its intent is found", "[surface]") {
    Told good;
    good.add("message", "", R"({"kind":"message"})")
        .add("turn_start", "t-1", R"({"kind":"message","trigger":"main-1"})")
        .add("effect_intent", "t-1", R"({"key":"k:1"})")
        .add("order", "t-1", "{}", "paper_broker")
        .add("effect_outcome", "t-1", R"({"key":"k:1","outcome":"known"})")
        .add("turn_end", "t-1", R"({"outcome":"completed","trigger":"main-1"})");
    CHECK(good.findings() == "");
    CHECK(good.proof().effects == 1);

    for (const char* kind : {"flush", "summary", "note_worker", "fold", "curator"}) {
        Told quiet;
        quiet.add("turn_start", "t-1", R"({"kind":")" + std::string(kind) + R"(","trigger":null})")
            .add("order", "t-1", "{}", "paper_broker")
            .add("turn_end", "t-1", R"({"outcome":"completed","trigger":null})");
        CHECK_THAT(quiet.findings(),
                   Catch::Contains("2: order in turn t-1, which is a quiet " + std::string(kind)));
    }
    Told bad;
    bad.quiet("t-1", "owner_call")
        .add("effect_intent", "t-1", R"({"key":"k:1"})")
        .add("effect_intent", "t-7", R"({"key":"k:1"})")
        .add("effect_outcome", "t-1", R"({"key":"k:2"})");
    const std::string findings = bad.findings();
    CHECK_THAT(findings, Catch::Contains("3: effect_intent after the end of its turn t-1"));
    CHECK_THAT(findings, Catch::Contains("4: effect_intent outside of any turn"));
    CHECK_THAT(findings, Catch::Contains("4: effect k:1 is tried again"));
    CHECK_THAT(findings, Catch::Contains("5: effect k:2 has an outcome and no intent before it"));
    CHECK(bad.proof().notes.size() == 1);  // what became of k:1 is not known
}

TEST_CASE("a rollover is done once, step by step, and once by time for a day", "[surface]") {
    Told good;
    good.rollover("2026-10-19-1", "opened", R"(,"from":null)")
        .rollover("2026-10-19-1", "summarised", R"(,"why":"time")")
        .rollover("2026-10-19-1", "folded")
        .rollover("2026-10-19-2", "opened", R"(,"from":"2026-10-19-1")")
        .rollover("2026-10-19-2", "summarised", R"(,"why":"first turn")")
        .rollover("2026-10-19-2", "folded");
    CHECK(good.findings() == "");
    CHECK(good.proof().rollovers == 2);

    Told bad;
    bad.rollover("2026-10-19-2", "opened", R"(,"from":"2026-10-19-1")")
        .rollover("2026-10-19-1", "folded")
        .rollover("2026-10-19-1", "summarised", R"(,"why":"time")")
        .rollover("2026-10-19-1", "summarised", R"(,"why":"time")");
    const std::string findings = bad.findings();
    CHECK_THAT(findings, Catch::Contains("1: session 2026-10-19-2 opens before 2026-10-19-1"));
    CHECK_THAT(findings, Catch::Contains("2: session 2026-10-19-1 is folded before it is summ"));
    CHECK_THAT(findings, Catch::Contains("4: step summarised of session 2026-10-19-1 is done ag"));
    CHECK_THAT(findings, Catch::Contains("4: a second timed rollover of 2026-10-19"));
}

TEST_CASE("each compression has its own flush, before its summary", "[surface]") {
    Told good;
    good.quiet("t-2", "flush").quiet("t-3", "summary").add("compress", "t-4", kCompressed);
    CHECK(good.findings() == "");
    CHECK(good.proof().flushes == 1);
    CHECK(good.proof().compressions == 1);

    Told late;  // the flush came after the summary
    late.quiet("t-3", "summary").quiet("t-2", "flush").add("compress", "t-4", kCompressed);
    CHECK_THAT(late.findings(), Catch::Contains("before its flush turn t-2 ended"));

    Told twice;  // one flush for two compressions
    twice.quiet("t-2", "flush")
        .quiet("t-3", "summary")
        .add("compress", "t-4", kCompressed)
        .add("compress", "t-5", kCompressed);
    CHECK_THAT(twice.findings(),
               Catch::Contains("6: flush turn t-2 served an earlier compression"));

    Told none;
    none.quiet("t-3", "summary")
        .add("compress", "t-4", R"({"line":9,"outcome":"completed","mark":70,"flush":null})")
        .add("compress",
             "t-5",
             R"({"line":9,"outcome":"completed","mark":85,"flush":null,"no_flush":"mid-turn"})");
    CHECK(none.findings() == "3: a compression at 70 without a flush and without a reason\n");

    Told other;  // what it names is no flush
    other.quiet("t-2", "summary").add("compress", "t-4", kCompressed);
    CHECK_THAT(other.findings(), Catch::Contains("turn t-2 is no flush turn of session"));
    Told missing;
    missing.add("compress", "t-4", kCompressed);
    CHECK_THAT(missing.findings(), Catch::Contains("its flush turn t-2 is not in the journal"));
}
