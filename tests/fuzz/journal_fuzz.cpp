// What may stand in a journal's file after crashes, bad disks and helpful hands.
#include <set>

#include "tests/catch.hpp"
#include "tests/journal/fixture.hpp"
#include "tests/support/mutate.hpp"

using namespace daybook;
using namespace daybook::test;

TEST_CASE("a journal with a damaged file opens, keeps every byte and gives no id twice", "[fuzz]") {
    JournalFixture f;
    f.os.skip_syncs(true);
    {
        const auto journal = f.open();
        for (int i = 0; i < 5; ++i) {
            must(journal->append(f.entry("message", "k" + std::to_string(i))));
        }
    }
    const std::string name = JournalFixture::path("2026-10-19.jsonl");
    const std::vector<std::string> samples = {f.folder.read(name)};
    Mutator mutator(31);
    for (int round = 0; round < 1'000; ++round) {
        std::filesystem::remove_all(f.folder / "journal/main");
        const std::string damaged = mutator.damaged(samples);
        f.folder.write(name, damaged);
        const auto journal = f.open();
        const auto first = must(journal->append(f.entry("new")));
        must(journal->append(f.entry("keyed", "k4")));
        const std::string kept = f.folder.read(name);
        const std::size_t whole =
            damaged.rfind('\n') == std::string::npos ? 0 : damaged.rfind('\n') + 1;
        REQUIRE(kept.starts_with(damaged.substr(0, whole)));
        if (std::filesystem::exists(f.folder / JournalFixture::path("2026-10-19.torn-1"))) {
            REQUIRE(f.folder.read(JournalFixture::path("2026-10-19.torn-1")) ==
                    damaged.substr(whole));
        } else {
            REQUIRE(kept.starts_with(damaged));
        }
        const auto lines = must(JournalReader::of(*journal).read_day(journal->today()));
        std::set<std::uint64_t> before;
        for (const JournalRecord& record : lines.records) {
            if (record.entry.type == "new") {
                REQUIRE(record.seq == first.seq);
                REQUIRE(!before.contains(record.seq));
            }
            before.insert(record.seq);
        }
    }
}
