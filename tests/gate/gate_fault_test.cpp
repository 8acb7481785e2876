// A whole write in which the nth call of the system fails, for every n.
#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"
#include "tests/support/fault_os.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

using Write = std::function<Result<WriteReceipt>(GatedDesk&, const std::string& text)>;

struct Scenario {
    const char* file;
    const char* record;  ///< type of the journal's line
    Write write;
};

std::optional<std::string> content_of(const GatedDesk& desk, const std::string& name) {
    return std::filesystem::exists(desk.folder / name) ? std::optional<std::string>(desk.get(name))
                                                       : std::nullopt;
}

std::size_t lines_with(const GatedDesk& desk, const std::string& sha256) {
    std::size_t count = 0;
    for (const auto& record : desk.records()) {
        const bool written =
            record.entry.type == "note_written" || record.entry.type == "file_written";
        count += written && record.entry.data["sha256"].as_string() == sha256 ? 1U : 0U;
    }
    return count;
}

/// One write with a failure armed. False: the failure was beyond the end of the write.
bool write_with_failure(GatedDesk& desk,
                        FaultOs& fault,
                        const Scenario& scenario,
                        std::uint64_t nth,
                        const std::function<void()>& arm) {
    const std::string text = "- text of write " + std::to_string(nth) + "\n";
    const auto before = content_of(desk, scenario.file);
    desk.shown = {};
    (void)desk.gate->read(desk.shown, path_of(scenario.file));
    arm();
    const auto receipt = scenario.write(desk, text);
    const bool struck = fault.struck();
    fault.heal();

    const auto after = content_of(desk, scenario.file);
    const bool is_new = after != before;
    if (is_new) {
        REQUIRE(after);
        CHECK(after->ends_with(text));
    }
    if (receipt) {
        CHECK(is_new);
        CHECK(receipt->sha256 == sha256_hex(*after));
        CHECK(lines_with(desk, receipt->sha256) == 1);
    }
    const Result<> started = desk.start_with(fault);
    INFO("call " << nth << ": " << (receipt ? "written" : receipt.error().message()));
    INFO("before: " << before.value_or("(absent)") << " after: " << after.value_or("(absent)"));
    INFO("at the next start: " << content_of(desk, scenario.file).value_or("(absent)"));
    INFO((started ? "" : started.error().message()));
    REQUIRE(started);
    CHECK(content_of(desk, scenario.file) == after);
    CHECK(desk.temporaries() == 0);
    CHECK_FALSE(desk.store->recovery().owner_edited);
    if (is_new) {
        CHECK(lines_with(desk, sha256_hex(*after)) == 1);
        CHECK(desk.store->committed_sha256(path_of(scenario.file)) == sha256_hex(*after));
    }
    return struck;
}

void check_every_failure(const Scenario& scenario, Errc code, bool from_then_on) {
    GatedDesk desk;
    FaultOs& fault = desk.fault;
    REQUIRE(desk.start_with(fault));
    std::uint64_t nth = 1;
    while (write_with_failure(desk, fault, scenario, nth, [&] {
        from_then_on ? fault.fail_from(nth, code) : fault.fail_call(nth, code);
    })) {
        ++nth;
        REQUIRE(nth < 500);
    }
    CHECK(nth > 20);  // the write was really walked through
    REQUIRE(scenario.write(desk, "- after all\n"));
    CHECK(desk.fsck() == "");
}

const Scenario kNote{
    "notes/2025-10-19.md", "note_written", [](GatedDesk& desk, const std::string& text) {
        return desk.append(kNotes, text);
    }};
const Scenario kReplacement{
    "memory/a.md", "file_written", [](GatedDesk& desk, const std::string& text) {
        return desk.replace("memory/a.md", text);
    }};

}  // namespace

TEST_CASE("whatever call fails, a note is wholly there or not at all, and its journal line with it",
          "[gate]") {
    check_every_failure(kNote, Errc::io, false);
}

TEST_CASE("whatever call fails for lack of space, a replacement is whole or did not happen",
          "[gate]") {
    check_every_failure(kReplacement, Errc::full, false);
}

TEST_CASE("a disk that fails from some call on leaves old or new, never a mixture", "[gate]") {
    check_every_failure(kReplacement, Errc::io, true);
}

TEST_CASE("a new file in a new folder is whole or absent whatever call fails", "[gate]") {
    GatedDesk desk;
    FaultOs& fault = desk.fault;
    REQUIRE(desk.start_with(fault));
    for (std::uint64_t nth = 1; nth < 500; ++nth) {
        const std::string name = "skills/s" + std::to_string(nth) + "/SKILL.md";
        const Scenario scenario{
            name.c_str(), "file_written", [&](GatedDesk& d, const std::string& text) {
                return d.replace(name, text);
            }};
        if (!write_with_failure(desk, fault, scenario, nth, [&] { fault.fail_call(nth); })) {
            CHECK(nth > 15);
            break;
        }
    }
    CHECK(desk.fsck() == "");
}

TEST_CASE(
    "a full disk refuses the write with a sentence, and the next one works when there is space",
    "[gate]") {
    GatedDesk desk;
    desk.put("Memory.md", "old\n");
    FaultOs& fault = desk.fault;
    REQUIRE(desk.start_with(fault));
    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    fault.fill_disk(true);
    const auto refused = desk.replace("Memory.md", "new\n");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::no_checkpoint);
    CHECK(refused.error().message().find("no space") != std::string::npos);
    CHECK(desk.get("Memory.md") == "old\n");
    fault.heal();
    REQUIRE(desk.replace("Memory.md", "new\n"));
    CHECK(desk.fsck() == "");
}

TEST_CASE("after a failed sync nothing is written before the next start", "[gate][plain]") {
    GatedDesk desk(CheckpointForm::plain);
    desk.put("Memory.md", "old\n");
    FaultOs& fault = desk.fault;
    REQUIRE(desk.start_with(fault));
    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    fault.fail_syncs(true);
    CHECK_FALSE(desk.replace("Memory.md", "new\n"));
    fault.heal();
    const auto refused = desk.replace("Memory.md", "new\n");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message().find("next start") != std::string::npos);
    CHECK(desk.get("Memory.md") == "old\n");
    CHECK(must(desk.gate->read(desk.shown, path_of("Memory.md"))) == "old\n");  // reading goes on
    REQUIRE(desk.start_with(fault));
    must(desk.gate->read(desk.shown, path_of("Memory.md")));
    REQUIRE(desk.replace("Memory.md", "new\n"));
}

TEST_CASE("a write without its journal line closes the desk, and the next start completes the line",
          "[gate]") {
    GatedDesk desk;
    FaultOs& fault = desk.fault;
    REQUIRE(desk.start());
    // The journal alone is on the failing system.
    auto state = desk.os.open_root(desk.home.path());
    desk.gate.reset();
    desk.journal.reset();
    desk.journal =
        must(Journal::open(fault, desk.clock, state->get(), "journal/main", "main", std::nullopt));
    desk.gate = std::make_unique<WriteGate>(
        desk.os, desk.clock, desk.dir.get(), "main", *desk.store, *desk.journal);
    fault.fill_disk(true);
    const auto refused = desk.append(kNotes, "- written");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::io);
    CHECK(refused.error().message().find("but not journalled") != std::string::npos);
    fault.heal();
    CHECK(desk.append(kNotes, "- next").error().code() == Errc::io);
    REQUIRE(desk.gate->read_only_reason());

    REQUIRE(desk.start());
    const auto lines = desk.records("note_written");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].entry.data["recovered"].as_bool());
    CHECK(lines[0].entry.data["checkpoint"].as_string() == "c-2");
    CHECK(must(desk.store->find("c-2")).written_commit.size() == 40);
    REQUIRE(desk.start());
    CHECK(desk.records("note_written").size() == 1);
}

TEST_CASE("an acknowledged version whose commit failed is in one after the owner's next save",
          "[gate][plain]") {
    GatedDesk desk(CheckpointForm::plain);
    FaultOs& fault = desk.fault;
    REQUIRE(desk.start_with(fault));
    std::size_t acknowledged = 0;
    bool struck = true;
    for (std::uint64_t nth = 1; struck && nth < 500; ++nth) {
        const std::string text = "- acknowledged " + std::to_string(nth) + ".";
        (void)desk.gate->read(desk.shown, path_of("memory/a.md"));
        fault.fail_call(nth);
        const auto receipt = desk.replace("memory/a.md", text + "\n");
        struck = fault.struck();
        fault.heal();
        desk.put("memory/a.md", "the owner's " + std::to_string(nth) + "\n");
        // The next checkpoint, in the same life of the host when its syncs may still be trusted.
        const auto next = desk.replace("memory/b.md", "- after " + std::to_string(nth) + "\n");
        INFO("call " << nth << (next ? "" : ": " + next.error().message()));
        if (receipt) {
            ++acknowledged;
            if (next || next.error().code() != Errc::no_checkpoint) {
                CHECK(desk.git("log --format= -p -- memory/a.md").output.find(text) !=
                      std::string::npos);
            }
        }
        if (!next) {
            REQUIRE(desk.start_with(fault));
        }
        (void)desk.gate->read(desk.shown, path_of("memory/b.md"));
    }
    CHECK(acknowledged > 5);  // there are failures that a write survives
    CHECK(desk.fsck() == "");
}

TEST_CASE("while what was written cannot be committed there is no checkpoint for the next write",
          "[gate][plain]") {
    GatedDesk desk(CheckpointForm::plain);
    FaultOs& fault = desk.fault;
    REQUIRE(desk.start_with(fault));
    REQUIRE(desk.replace("memory/a.md", "first\n"));
    std::uint64_t calls = 0;
    {
        fault.fail_call(1'000'000);
        REQUIRE(desk.replace("memory/a.md", "counted\n"));
        calls = fault.calls();
    }
    // From the end backwards: the calls of the commit after the journal's line.
    fault.fail_from(calls - 6, Errc::full);
    REQUIRE(desk.replace("memory/a.md", "acknowledged.\n"));
    REQUIRE(fault.struck());
    desk.put("memory/a.md", "the owner's\n");
    fault.heal();
    fault.fill_disk(true);
    CHECK(desk.replace("memory/b.md", "other\n").error().code() == Errc::no_checkpoint);
    fault.heal();
    REQUIRE(desk.replace("memory/b.md", "other\n"));
    REQUIRE(desk.store->record_owner_edits());
    const std::string log = desk.git("log --format=%s -p -- memory/a.md").output;
    CHECK(log.find("+acknowledged.") != std::string::npos);
    CHECK(log.find("-acknowledged.\n+the owner's") != std::string::npos);
    CHECK(desk.fsck() == "");
}
