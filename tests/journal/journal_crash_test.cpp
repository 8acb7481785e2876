#include <algorithm>
#include <set>

#include "tests/catch.hpp"
#include "tests/journal/fixture.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

std::vector<std::string> types_of(const std::vector<JournalRecord>& records) {
    std::vector<std::string> types;
    for (const JournalRecord& record : records) {
        types.push_back(record.entry.type);
    }
    return types;
}

void append_raw(const JournalFixture& f,
                const std::string& bytes,
                const std::string& day = "2026-10-19") {
    std::ofstream(f.folder / JournalFixture::path(day + ".jsonl"), std::ios::app | std::ios::binary)
        << bytes;
}

}  // namespace

TEST_CASE("a torn last line is moved aside, cut and journalled", "[journal]") {
    JournalFixture f;
    must(f.open()->append(f.entry("message")));
    const std::string whole = f.text();
    append_raw(f, R"({"v":1,"seq":2,"id":"main-2026)");
    const auto journal = f.open();
    CHECK(f.folder.read(JournalFixture::path("2026-10-19.torn-1")) ==
          R"({"v":1,"seq":2,"id":"main-2026)");
    CHECK(f.text().starts_with(whole));
    REQUIRE(f.all().size() == 2);
    CHECK(f.all()[1].entry.type == "journal_repaired");
    CHECK(f.all()[1].seq == 2);
    CHECK(f.all()[1].entry.data["file"].as_string() == "2026-10-19.torn-1");
    CHECK(f.all()[1].entry.data["bytes"].as_integer() == 30);
    CHECK(must(journal->append(f.entry("message"))).seq == 3);
    append_raw(f, std::string(200'000, '\0'));
    const auto again = f.open();
    CHECK(f.folder.read(JournalFixture::path("2026-10-19.torn-2")).size() == 200'000);
    CHECK(must(again->append(f.entry("message"))).seq == 5);
}

TEST_CASE("a whole last line without its newline gets one and keeps its seq", "[journal]") {
    JournalFixture f;
    must(f.open()->append(f.entry("message")));
    const std::string line = f.text();
    std::filesystem::resize_file(f.folder / JournalFixture::path("2026-10-19.jsonl"),
                                 line.size() - 1);
    const auto journal = f.open();
    CHECK(f.text() == line);
    CHECK(must(journal->append(f.entry("message"))).seq == 2);
    CHECK(!std::filesystem::exists(f.folder / JournalFixture::path("2026-10-19.torn-1")));
}

TEST_CASE("a torn end of an older day is repaired, and the record of it is today's", "[journal]") {
    JournalFixture f;
    must(f.open()->append(f.entry("message")));
    append_raw(f, "{\"half");
    f.clock.set("2026-10-21T06:00:00Z");
    const auto journal = f.open();
    CHECK(f.all().back().id == "main-20261021-000001");
    CHECK(f.all().back().entry.data["file"].as_string() == "2026-10-19.torn-1");
}

TEST_CASE("a damaged line in the middle is kept, counted, and never fatal", "[journal]") {
    JournalFixture f;
    must(f.open()->append(f.entry("one")));
    append_raw(f, "not json\n{\"v\":9,\"seq\":3,\"new\":true}\n{}\n");
    const auto journal = f.open();
    CHECK(must(journal->append(f.entry("two", "k"))).seq ==
          5);  // two damaged lines behind seq 3 count as 4 at least
    const auto reader = must(JournalReader::open(f.real, f.state.get(), "journal/main"));
    const JournalLines lines = must(reader.read_day(must(DeskDate::parse("2026-10-19"))));
    CHECK(types_of(lines.records) == std::vector<std::string>{"one", "two"});
    CHECK(lines.bad == 2);
    CHECK(lines.newer == 1);
    CHECK(f.text().find("not json\n") != std::string::npos);
    CHECK(must(journal->append(f.entry("two", "k"))).seq == 5);
}

TEST_CASE("no id is given twice when the newest lines are damaged", "[journal]") {
    JournalFixture f;
    {
        const auto journal = f.open();
        for (int i = 0; i < 3; ++i) {
            must(journal->append(f.entry("message")));
        }
    }
    std::string text = f.text();
    text[text.rfind("{\"v\"") + 1] = '#';  // the last line, seq 3
    f.folder.write(JournalFixture::path("2026-10-19.jsonl"), text);
    CHECK(must(f.open()->append(f.entry("message"))).seq == 4);
}

TEST_CASE("a full disk refuses an entry, loses nothing, and works again when there is space",
          "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    must(journal->append(f.entry("one")));
    f.os.fill_disk(true);
    for (int i = 0; i < 3; ++i) {
        const auto refused = journal->append(f.entry("two", "k"));
        REQUIRE(!refused);
        CHECK(refused.error().code() == Errc::full);
        CHECK(!journal->failed());
        CHECK(types_of(f.all()) == std::vector<std::string>{"one"});  // also: no half line is left
    }
    f.os.fill_disk(false);
    CHECK(must(journal->append(f.entry("two", "k"))).seq == 2);
    CHECK(types_of(f.all()) == std::vector<std::string>{"one", "two"});
}

TEST_CASE("a torn end on a full disk does not keep the journal from opening", "[journal]") {
    JournalFixture f;
    must(f.open()->append(f.entry("one")));
    append_raw(f, "{\"half");
    f.os.fill_disk(true);
    const auto journal = f.open();
    CHECK(!journal->append(f.entry("two")));
    CHECK(must(JournalReader::of(*journal).read_day(journal->today())).records.size() == 1);
    f.os.fill_disk(false);
    CHECK(must(journal->append(f.entry("two"))).seq == 3);
    CHECK(types_of(f.all()) == std::vector<std::string>{"one", "journal_repaired", "two"});
}

TEST_CASE("a failed sync is final: the journal takes nothing more until it is opened again",
          "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    must(journal->append(f.entry("one")));
    f.os.fail_syncs(true);
    CHECK(journal->append(f.entry("two")).error().code() == Errc::io);
    CHECK(journal->failed());
    f.os.fail_syncs(false);
    const std::uint64_t calls = f.os.calls();
    const auto refused = journal->append(f.entry("three"));
    REQUIRE(!refused);
    CHECK(refused.error().code() == Errc::io);
    CHECK(refused.error().message().starts_with("journal unavailable: "));
    CHECK(f.os.calls() == calls);  // it does not even try
    CHECK(must(JournalReader::of(*journal).read_day(journal->today())).records.size() ==
          1);  // not synced, not shown
    CHECK(f.open()->append(f.entry("four")));
}

TEST_CASE("whichever call of an append fails, what was acknowledged is there once after reopening",
          "[journal]") {
    for (const Errc code : {Errc::io, Errc::full}) {
        for (std::uint64_t nth = 1; nth < 200; ++nth) {
            JournalFixture f;
            f.os.skip_syncs(true);
            std::set<std::string> acknowledged;
            bool struck = false;
            {
                const auto journal = f.open();
                must(journal->append(f.entry("zero", "zero")));
                f.os.fail_call(nth, code);
                for (const char* name : {"one", "two", "three"}) {
                    if (std::string(name) == "three") {
                        f.clock.advance(std::chrono::hours(24));  // a new file
                    }
                    // A caller that was refused tries again with its key, as the protocol has it.
                    for (int attempt = 0; attempt < 2; ++attempt) {
                        if (journal->append(f.entry(name, name))) {
                            acknowledged.insert(name);
                            break;
                        }
                    }
                }
                struck = f.os.struck();
                f.os.heal();
            }
            INFO("call " << nth);
            {
                const auto journal = f.open();
                for (const std::string& name : acknowledged) {
                    must(journal->append(f.entry(name, name)));  // a retry that comes late
                }
                must(journal->append(f.entry("last")));
            }
            const auto records = f.all();
            std::multiset<std::string> found;
            std::set<std::string> ids;
            for (const JournalRecord& record : records) {
                found.insert(record.entry.type);
                CHECK(ids.insert(record.id).second);
            }
            for (const char* name : {"zero", "one", "two", "three"}) {
                CHECK(found.count(name) <= 1);
            }
            for (const std::string& name : acknowledged) {
                CHECK(found.count(name) == 1);
            }
            if (!struck) {
                CHECK(acknowledged.size() == 3);
                CHECK(nth > 8);
                break;
            }
        }
    }
}

TEST_CASE("whichever call of opening fails, the journal says so or works, and loses nothing",
          "[journal]") {
    for (std::uint64_t nth = 1; nth < 100; ++nth) {
        JournalFixture f;
        f.os.skip_syncs(true);
        must(f.open()->append(f.entry("one", "one")));
        append_raw(f, "{\"half");
        f.os.fail_call(nth);
        auto journal = f.try_open();
        const bool struck = f.os.struck();
        f.os.heal();
        INFO("call " << nth);
        if (journal) {
            // Either it is ready, or a sync has failed for good; never a wrong seq.
            const auto appended = (*journal)->append(f.entry("two", "two"));
            CHECK(appended.operator bool() == !(*journal)->failed());
        }
        journal = f.try_open();
        REQUIRE(journal);
        must((*journal)->append(f.entry("two", "two")));
        const auto records = f.all();
        CHECK(records.front().entry.type == "one");
        CHECK(std::count_if(records.begin(), records.end(), [](const auto& r) {
                  return r.entry.type == "two";
              }) == 1);
        std::set<std::string> ids;
        for (const JournalRecord& record : records) {
            CHECK(ids.insert(record.id).second);
        }
        if (!struck) {
            CHECK(nth > 8);
            return;
        }
    }
    FAIL("the loop never ran clean");
}
