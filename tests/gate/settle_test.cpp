// Writes whose end a crash took: the owner has saved the file since, and the journal tells whether
// the write had happened; or the rename is lost, and is done again.
#include <algorithm>
#include <csignal>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"
#include "tests/support/fault_os.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

const std::string kFile = "memory/a.md";

/// As an editor that saves by rename does it.
void save(const GatedDesk& desk, const std::string& text) {
    desk.put("memory/.saved", text);
    std::filesystem::rename(desk.folder / "memory/.saved", desk.folder / kFile);
}

/// As a power cut does that takes the rename of the last write: the very file that it had replaced
/// stands in its place again.
void take_rename_back(const GatedDesk& desk) {
    for (const auto& entry : std::filesystem::directory_iterator(desk.repository / "trash")) {
        if (entry.path().filename().string().starts_with("r")) {
            std::filesystem::rename(entry.path(), desk.folder / kFile);
        }
    }
}

std::size_t conflicts(GatedDesk& desk) {
    const auto all = must(desk.store->list(50));
    return static_cast<std::size_t>(std::count_if(
        all.begin(), all.end(), [](const Checkpoint& each) { return each.kind == "conflict"; }));
}

void check_kept(GatedDesk& desk, const std::string& text) {
    const Checkpoint found = must(desk.store->find("c-2"));
    REQUIRE(found.written_commit.size() == 40);
    CHECK(desk.git("show " + found.written_commit + ":" + kFile).output == "intended\n");
    CHECK(desk.get(kFile) == text);
    CHECK(must(desk.store->list(1)).front().kind == "edited");
    CHECK(conflicts(desk) == 0);
    CHECK(desk.records("file_written").size() == 1);
    CHECK(desk.fsck() == "");
}

}  // namespace

TEST_CASE("a write that the journal has is written, though the owner saved the file at once",
          "[gate]") {
    GatedDesk desk(CheckpointForm::journalled);
    desk.put(kFile, "base\n");
    const std::string owners = GENERATE("the owner's\n", "base\n");  // an undo, too
    desk.die_in([&] {
        must(desk.gate->read(desk.shown, path_of(kFile)));
        desk.journal->on_append([&](const JournalRecord&) {
            save(desk, owners);
            ::kill(::getpid(), SIGKILL);  // before the record log hears of it
        });
        (void)desk.replace(kFile, "intended\n");
    });
    const CheckpointForm next = GENERATE(CheckpointForm::journalled, CheckpointForm::plain);
    desk.form = next;
    REQUIRE(desk.start());
    check_kept(desk, owners);
    REQUIRE(desk.start());
    check_kept(desk, owners);
}

TEST_CASE("a write that the journal does not have is not written, and its text is a conflict",
          "[gate]") {
    GatedDesk desk(CheckpointForm::journalled);
    desk.put(kFile, "base\n");
    desk.die_in([&] {
        (void)desk.store->take(
            path_of(kFile), sha256_hex("base\n"), sha256_hex("intended\n"), {}, "intended\n");
        save(desk, "the owner's\n");
    });
    REQUIRE(desk.start());
    CHECK(must(desk.store->find("c-2")).written_commit.empty());
    CHECK(conflicts(desk) == 1);
    CHECK(desk.git("log -p").output.find("+intended") != std::string::npos);
    CHECK(desk.get(kFile) == "the owner's\n");
    CHECK(desk.records("file_written").empty());
    CHECK(desk.store->committed_sha256(path_of(kFile)) == sha256_hex("the owner's\n"));
    REQUIRE(desk.start());
    CHECK(conflicts(desk) == 1);
    CHECK(desk.fsck() == "");
}

TEST_CASE("a rename that a power cut took is done again, whichever call of the start is the last",
          "[gate]") {
    bool is_reached = true;
    std::uint64_t last = 1;
    for (; is_reached; last += 3) {
        GatedDesk desk(CheckpointForm::journalled);
        desk.put(kFile, "base\n");
        const bool is_known = last % 2 == 0;  // to the journal
        desk.die_in([&] {
            must(desk.gate->read(desk.shown, path_of(kFile)));
            desk.journal->on_append([&](const JournalRecord&) {
                if (is_known) {
                    ::kill(::getpid(), SIGKILL);  // else after the log has heard of it
                }
            });
            (void)desk.replace(kFile, "intended\n");
        });
        take_rename_back(desk);
        REQUIRE(desk.get(kFile) == "base\n");
        FaultOs dying(desk.os);
        dying.fail_from(last);
        (void)desk.start_with(dying);
        is_reached = dying.struck();
        desk.stop();
        dying.heal();
        INFO("call " << last);
        REQUIRE(desk.start());
        CHECK(desk.get(kFile) == "intended\n");
        CHECK(must(desk.store->find("c-2")).written_commit.size() == 40);
        CHECK(desk.records("file_written").size() == 1);
        CHECK(must(desk.store->list(1)).front().id == "c-2");
        CHECK(desk.temporaries() == 0);
        CHECK(desk.store->committed_sha256(path_of(kFile)) == sha256_hex("intended\n"));
    }
    CHECK(last > 60);
}
