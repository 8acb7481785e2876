#include "host/journal/journal_reader.hpp"

#include "tests/catch.hpp"
#include "tests/journal/fixture.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

DeskDate date(const char* text) {
    return must(DeskDate::parse(text));
}

/// Three days of two, one and two records.
void fill(JournalFixture& f, Journal& journal) {
    must(journal.append_all({f.entry("a1"), f.entry("a2")}));
    f.clock.set("2026-10-20T06:00:00Z");
    must(journal.append(f.entry("b1")));
    f.clock.set("2026-10-22T06:00:00Z");
    must(journal.append_all({f.entry("c1"), f.entry("c2")}));
}

std::string types(const JournalLines& lines) {
    std::string out;
    for (const JournalRecord& record : lines.records) {
        out += record.entry.type + " ";
    }
    return out;
}

}  // namespace

TEST_CASE("days are listed in order, other files are not days", "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    fill(f, *journal);
    for (const char* name :
         {"2026-10-19.torn-1", "notes.jsonl", "2026-13-01.jsonl", "2026-10-21.jsonl.gz"}) {
        f.folder.write(JournalFixture::path(name), "x");
    }
    const auto days = must(JournalReader::of(*journal).days());
    REQUIRE(days.size() == 3);
    CHECK(days.front() == date("2026-10-19"));
    CHECK(days.back() == date("2026-10-22"));
    CHECK(JournalReader::open(f.real, f.state.get(), "journal/none").error().code() ==
          Errc::not_found);
}

TEST_CASE("a cursor of day and seq reads on across days, as many as asked", "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    fill(f, *journal);
    const auto reader = JournalReader::of(*journal);
    CHECK(types(must(reader.read_day(date("2026-10-19")))) == "a1 a2 ");
    CHECK(types(must(reader.read_day(date("2026-10-21")))).empty());
    CHECK(types(must(reader.read_since(date("2026-10-19"), 1, 100))) == "a2 b1 c1 c2 ");
    CHECK(types(must(reader.read_since(date("2026-10-19"), 2, 2))) == "b1 c1 ");
    CHECK(types(must(reader.read_since(date("2026-10-21"), 9, 100))) == "c1 c2 ");
    CHECK(types(must(reader.read_since(date("2026-10-22"), 2, 100))).empty());
}

TEST_CASE("following gives each record once, waits for the end of a line and goes to the next day",
          "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    must(journal->append(f.entry("old")));
    const auto reader = must(JournalReader::open(f.real, f.state.get(), "journal/main"));
    JournalPosition position = must(reader.end());
    CHECK(types(must(reader.follow(position, 100))).empty());
    must(journal->append(f.entry("one")));
    CHECK(types(must(reader.follow(position, 100))) == "one ");
    CHECK(types(must(reader.follow(position, 100))).empty());

    const std::string line = f.text().substr(f.text().rfind("{\"v\""));
    const std::string name = JournalFixture::path("2026-10-19.jsonl");
    std::ofstream(f.folder / name, std::ios::app) << line.substr(0, 40);
    CHECK(types(must(reader.follow(position, 100))).empty());
    std::ofstream(f.folder / name, std::ios::app) << line.substr(40);
    CHECK(types(must(reader.follow(position, 100))) == "one ");

    f.clock.set("2026-10-20T06:00:00Z");
    must(journal->append_all({f.entry("two"), f.entry("three"), f.entry("four")}));
    CHECK(types(must(reader.follow(position, 2))) == "two three ");
    CHECK(types(must(reader.follow(position, 2))) == "four ");
    CHECK(position.day == date("2026-10-20"));
}

TEST_CASE("following a journal from before its first line misses none", "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    const auto reader = JournalReader::of(*journal);
    JournalPosition position = must(reader.end());
    CHECK(types(must(reader.follow(position, 10))).empty());
    fill(f, *journal);
    CHECK(types(must(reader.follow(position, 10))) == "a1 a2 b1 c1 c2 ");
}

TEST_CASE("a line longer than any of ours is one bad line, however long", "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    must(journal->append(f.entry("one")));
    std::ofstream(f.folder / JournalFixture::path("2026-10-19.jsonl"), std::ios::app)
        << "{\"v\":1,\"text\":\"" << std::string(3'000'000, 'x') << "\"}\n";
    const auto reader = must(JournalReader::open(f.real, f.state.get(), "journal/main"));
    const JournalLines lines = must(reader.read_day(date("2026-10-19")));
    CHECK(lines.records.size() == 1);
    CHECK(lines.bad == 1);
}
