// Where the memory stands after restores, and that no acknowledged record is lost.
#include "host/gate/ledger.hpp"

#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"
#include "tests/support/fault_os.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

using Numbers = std::vector<std::uint64_t>;

LedgerRecord record(std::string type, Json data = Json::object()) {
    LedgerRecord made;
    made.type = std::move(type);
    made.data = std::move(data);
    return made;
}

LedgerRecord restore_to(int head) {
    return record("restore", Json::object().set("head", head));
}

EffectiveLedger effective(std::vector<LedgerRecord> records) {
    std::uint64_t seq = 0;
    for (LedgerRecord& each : records) {
        each.seq = ++seq;
    }
    return effective_ledger(records);
}

}  // namespace

TEST_CASE("a restore moves the effective head, an undo moves it forth, and bans stay", "[gate]") {
    CHECK(effective({}).live.empty());
    CHECK(effective({record("promotion"), record("promotion")}).live == Numbers{1, 2});
    const std::vector<LedgerRecord> restored = {
        record("promotion"), record("promotion"), record("ban"), restore_to(1)};
    CHECK(effective(restored).live == Numbers{1});
    CHECK(effective(restored).bans == Numbers{3});
    auto undone = restored;
    undone.push_back(record("promotion"));  // 5, on top of 1
    CHECK(effective(undone).live == Numbers{1, 5});
    undone.push_back(restore_to(3));  // as before the restore
    CHECK(effective(undone).live == Numbers{1, 2});
    undone.push_back(restore_to(5));  // and back again
    CHECK(effective(undone).live == Numbers{1, 5});
    CHECK(effective(undone).bans == Numbers{3});
    CHECK(effective({record("promotion"), restore_to(0)}).live.empty());
    CHECK(effective({record("promotion"), restore_to(99)}).live == Numbers{1});
}

TEST_CASE("Memory.md alone put back leaves the head, and says that the file decides", "[gate]") {
    const auto file = record("restore", Json::object().set("file", "Memory.md"));
    const auto once = effective({record("promotion"), file});
    CHECK(once.live == Numbers{1});
    CHECK(once.memory_is_from_file);
    CHECK_FALSE(effective({record("promotion"), file, record("promotion")}).memory_is_from_file);
    CHECK(effective({record("promotion"), file, record("ban")}).memory_is_from_file);
    CHECK_FALSE(effective({record("promotion"), file, restore_to(1)}).memory_is_from_file);
}

TEST_CASE("a restore stands in the ledger with the head of its checkpoint, and is mirrored",
          "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", "one\n");
    REQUIRE(desk.start());
    const Checkpoint first = must(desk.store->take_manual("first"));
    REQUIRE(desk.ledger->append(record("promotion")));
    desk.store->set_ledger(desk.ledger->text());
    desk.put("Memory.md", "two\n");
    const Checkpoint second = must(desk.store->take_manual("second"));
    CHECK(ledger_head_in(must(desk.store->ledger(second))) == 1);
    CHECK(must(desk.store->ledger(first)).empty());

    const RestoreReport report = must(desk.gate->restore(first, "", desk.context));
    CHECK(effective_ledger(desk.ledger->records()).live.empty());
    REQUIRE(desk.gate->restore(must(desk.store->find(report.checkpoint)), "", desk.context));
    CHECK(effective_ledger(desk.ledger->records()).live == Numbers{1});
    REQUIRE(desk.gate->restore(first, "Memory.md", desk.context));
    CHECK(effective_ledger(desk.ledger->records()).memory_is_from_file);
    CHECK(effective_ledger(desk.ledger->records()).live == Numbers{1});
    const Checkpoint now = must(desk.store->take_manual("now"));
    CHECK(must(desk.store->ledger(now)) == desk.home.read("ledger/main/ledger.jsonl"));
    CHECK(desk.fsck() == "");
    REQUIRE(desk.start());
    CHECK(desk.ledger->records().size() == 4);
    CHECK_FALSE(desk.store->recovery().owner_edited);
}

TEST_CASE("a key is written once, a torn line is cut, a foreign line is refused", "[gate]") {
    TempFolder home;
    LinuxOs os;
    const SystemClock clock;
    const auto dir = must(os.open_root(home.path()));
    auto open = [&] { return Ledger::open(os, clock, dir.get(), "ledger/main"); };
    {
        auto ledger = must(open());
        LedgerRecord keyed = record("ban");
        keyed.key = "k";
        CHECK(must(ledger.append(keyed)) == 1);
        CHECK(must(ledger.append(record("promotion"))) == 2);
        CHECK(must(ledger.append(keyed)) == 1);
    }
    const std::string whole = home.read("ledger/main/ledger.jsonl");
    home.write("ledger/main/ledger.jsonl", whole + R"({"v":1,"seq":3,"ty)");
    CHECK(must(open()).records().size() == 2);
    CHECK(home.read("ledger/main/ledger.jsonl") == whole);
    home.write("ledger/main/ledger.jsonl", whole + "{}\n");
    CHECK(open().error().code() == Errc::corrupt);
}

TEST_CASE("whichever call of an append fails, what was acknowledged is there", "[gate]") {
    for (std::uint64_t nth = 1; nth <= 4; ++nth) {
        TempFolder home;
        LinuxOs real;
        FaultOs os(real);
        const SystemClock clock;
        const auto dir = must(real.open_root(home.path()));
        std::size_t acknowledged = 0;
        {
            auto ledger = must(Ledger::open(os, clock, dir.get(), "ledger/main"));
            os.fail_call(nth);
            for (int i = 0; i < 3; ++i) {
                acknowledged += ledger.append(record("promotion")) ? 1U : 0U;
            }
        }
        const auto again = must(Ledger::open(real, clock, dir.get(), "ledger/main"));
        CHECK(again.records().size() >= acknowledged);
    }
}
