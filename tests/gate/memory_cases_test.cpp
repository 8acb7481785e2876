// Cases of other memories that lost something, each with what is right here.
#include <algorithm>

#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"
#include "tests/support/fake_clock.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

/// A host's start under a clock that may go back.
void start_under(GatedDesk& desk, const FakeClock& clock) {
    desk.stop();
    desk.store = must(
        CheckpointStore::open(desk.os, clock, desk.dir.get(), desk.repository, "main", desk.form));
    desk.root = must(desk.os.open_root(desk.home.path()));
    desk.journal =
        must(Journal::open(desk.os, clock, desk.root.get(), "journal/main", "main", std::nullopt));
    desk.gate = std::make_unique<WriteGate>(
        desk.os, clock, desk.dir.get(), "main", *desk.store, *desk.journal, desk.places());
    REQUIRE(desk.gate->recover());
}

}  // namespace

TEST_CASE("a file that grew since it was shown is not replaced by what was made of the old (M13)",
          "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", std::string(1361, 'a') + "\n");
    REQUIRE(desk.start());
    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    ShownFiles others;
    std::swap(desk.shown, others);  // another turn, which adds much to it
    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    const std::string grown = std::string(1361, 'a') + "\n" + std::string(6800, 'b') + "\n";
    REQUIRE(desk.replace("Memory.md", grown));
    std::swap(desk.shown, others);
    const auto stale = desk.replace("Memory.md", std::string(332, 'c') + "\n");
    REQUIRE_FALSE(stale);
    CHECK(stale.error().code() == Errc::conflict);
    CHECK(desk.get("Memory.md") == grown);
    // What was refused is kept beside it.
    const auto newest = must(desk.store->list(1)).front();
    CHECK(newest.kind == "conflict");
    CHECK(desk.git("show " + newest.commit + ":.daybook/conflicts/" + newest.id).output ==
          std::string(332, 'c') + "\n");
}

TEST_CASE("a write for which memory has no room is refused, journalled and told (M24)", "[gate]") {
    GatedDesk desk;
    const std::string full = std::string(63UL * 1024, 'm') + "\n";
    desk.put("Memory.md", full);
    REQUIRE(desk.start());
    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    const auto refused = desk.append("Memory.md", std::string(4096, 'x') + "\n");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::refused);
    CHECK(refused.error().message().find("Memory.md") != std::string::npos);
    CHECK(desk.get("Memory.md") == full);
    const auto records = desk.records("write_refused");
    REQUIRE(records.size() == 1);
    CHECK(records[0].entry.data["path"].as_string() == "Memory.md");
    CHECK_FALSE(records[0].entry.data["rule"].as_string().empty());
}

TEST_CASE("no turn that consolidates may write the day's notes, but for a flush at their end (M21)",
          "[gate]") {
    const auto notes = path_of(std::string(kNotes));
    for (const TurnKind kind : {TurnKind::fold, TurnKind::summary, TurnKind::curator}) {
        const TurnAllowance allowance = TurnAllowance::of(kind, day_of_desk());
        CHECK(allowance.operations_on(notes) == 0);
        CHECK(allowance.operations_on(path_of("notes/2025-10-18.md")) == 0);
    }
    for (const TurnKind kind : {TurnKind::flush, TurnKind::note_worker}) {
        const TurnAllowance allowance = TurnAllowance::of(kind, day_of_desk());
        CHECK(allowance.operations_on(notes) == kAppend);
        CHECK(allowance.operations_on(path_of("notes/2025-10-18.md")) == 0);
    }
}

TEST_CASE("checkpoints keep their order and numbers whatever the clock does", "[gate]") {
    FakeClock clock("2025-10-19T10:00:00Z");
    GatedDesk desk;
    start_under(desk, clock);
    std::vector<std::string> ids;
    // A clock of any kind may jump: an hour back, a year on, a day back, across a restart too.
    const std::vector<std::chrono::hours> jumps = {std::chrono::hours(-1),
                                                   std::chrono::hours(24 * 366),
                                                   std::chrono::hours(-24),
                                                   std::chrono::hours(-24 * 400)};
    for (std::size_t i = 0; i < jumps.size(); ++i) {
        ids.push_back(
            must(desk.append("memory/log.md", "before " + std::to_string(i) + "\n")).checkpoint);
        clock.advance(jumps[i]);
        if (i % 2 == 1) {
            start_under(desk, clock);
        }
        ids.push_back(
            must(desk.append("memory/log.md", "after " + std::to_string(i) + "\n")).checkpoint);
    }
    const auto all = must(desk.store->list(100));
    REQUIRE(all.size() >= ids.size());
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        CHECK(all[i].number == all[i + 1].number + 1);
    }
    // Newest first: the order of writing, not of the clock's times.
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto found = must(desk.store->find(ids[i]));
        const std::string was =
            must(desk.store->read(found, path_of("memory/log.md"))).value_or("");
        CHECK(std::count(was.begin(), was.end(), '\n') == static_cast<std::ptrdiff_t>(i));
    }
    must(desk.gate->read(desk.shown, path_of("memory/log.md")));
    const auto back = desk.gate->restore(must(desk.store->find(ids[3])), "", desk.context);
    REQUIRE(back);
    CHECK(desk.get("memory/log.md") == "before 0\nafter 0\nbefore 1\n");
    CHECK(desk.fsck() == "");
}
