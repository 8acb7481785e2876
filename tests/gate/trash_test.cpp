// A replaced file is looked at again before it goes: a save that reached it is never lost.
#include <fcntl.h>
#include <optional>
#include <unistd.h>

#include "host/os/file_lease.hpp"
#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"
#include "tests/support/fault_os.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

/// An editor that has opened a file and writes to it later.
class OpenFile {
  public:
    OpenFile(const std::filesystem::path& file, int flags) : fd_(::open(file.c_str(), flags)) {}
    void write(std::string_view text) const {
        CHECK(::write(fd_.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    }
    void close() { fd_.reset(); }

  private:
    UniqueFd fd_;
};

std::string conflict_text(const GatedDesk& desk, const std::string& id) {
    return desk
        .git("cat-file -p $(git --git-dir '" + desk.repository.string() +
             "' log --format=%H --grep 'Checkpoint: " + id + "$' checkpoints):.daybook/conflicts/" +
             id)
        .output;
}

}  // namespace

TEST_CASE("a file that somebody has open for writing is not replaced", "[gate]") {
    GatedDesk desk;
    desk.put("memory/a.md", "start\n");
    REQUIRE(desk.start());
    OpenFile editor(desk.folder / "memory/a.md", O_WRONLY | O_APPEND);
    REQUIRE(desk.gate->read(desk.shown, path_of("memory/a.md")));
    const auto refused = desk.replace("memory/a.md", "the desk's\n");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::busy);
    CHECK(desk.get("memory/a.md") == "start\n");
    editor.write("the owner's\n");
    editor.close();
    CHECK(desk.replace("memory/a.md", "the desk's\n").error().code() == Errc::conflict);
    CHECK(desk.get("memory/a.md") == "start\nthe owner's\n");
    CHECK(desk.temporaries() == 0);
}

TEST_CASE("what an editor writes to the old file after the exchange is kept and told", "[gate]") {
    GatedDesk desk;
    desk.put("memory/a.md", "start\n");
    REQUIRE(desk.start());
    REQUIRE(desk.gate->read(desk.shown, path_of("memory/a.md")));
    REQUIRE(desk.replace("memory/a.md", "the desk's\n"));
    CHECK(desk.gate->take_notices().empty());
    // The editor opened it before, through the name that it had then.
    Trash trash(desk.os, desk.clock, desk.places());
    const auto kept = must(trash.list());
    REQUIRE(kept.size() == 1);
    CHECK(kept.front().kind == TrashEntry::Kind::replaced);
    OpenFile editor(desk.repository / "trash" / ("r1-" + kept.front().sha256), O_WRONLY | O_APPEND);
    editor.write("and the owner's\n");

    SECTION("while it is still open") {
        REQUIRE(desk.gate->tend_trash(std::chrono::seconds(0)));
        REQUIRE(must(trash.list()).size() == 1);
    }
    SECTION("at the next write") {
        REQUIRE(desk.append("memory/b.md", "another\n"));
    }
    SECTION("after a restart") {
        editor.close();
        REQUIRE(desk.start());
        REQUIRE(desk.gate->tend_trash());
    }
    const auto notices = desk.gate->take_notices();
    REQUIRE(notices.size() == 1);
    const auto newest = must(desk.store->list(5));
    const auto found = std::find_if(newest.begin(), newest.end(), [](const Checkpoint& each) {
        return each.kind == "conflict";
    });
    REQUIRE(found != newest.end());
    CHECK(conflict_text(desk, found->id) == "start\nand the owner's\n");
    CHECK(notices.front().find(found->id) != std::string::npos);
    CHECK(desk.get("memory/a.md") == "the desk's\n");
    editor.close();
    REQUIRE(desk.gate->tend_trash(std::chrono::seconds(0)));
    CHECK(desk.gate->take_notices().empty());
    CHECK(must(Trash(desk.os, desk.clock, desk.places()).list()).empty());
    CHECK(desk.fsck() == "");
}

TEST_CASE("what an editor opened while the desk's version stood in its place for a moment is kept",
          "[gate]") {
    LinuxOs real;
    FaultOs os(real);  // outlives the desk
    GatedDesk desk;
    desk.put("memory/a.md", "start\n");
    REQUIRE(desk.start_with(os));
    REQUIRE(desk.gate->read(desk.shown, path_of("memory/a.md")));
    std::optional<OpenFile> editor;
    os.around_exchange(
        [&] {  // a save by renaming: the exchange is taken back
            desk.put("memory/o.tmp", "the owner's\n");
            std::filesystem::rename(desk.folder / "memory/o.tmp", desk.folder / "memory/a.md");
        },
        [&] { editor.emplace(desk.folder / "memory/a.md", O_WRONLY | O_APPEND); });
    CHECK(desk.replace("memory/a.md", "the desk's\n").error().code() == Errc::conflict);
    CHECK(desk.get("memory/a.md") == "the owner's\n");
    REQUIRE(editor);
    editor->write("late words\n");
    editor->close();
    REQUIRE(desk.gate->tend_trash(std::chrono::seconds(0)));
    REQUIRE(desk.store->publish());
    const std::string history = desk.git("log -p --text --format= checkpoints").output;
    CHECK(history.find("late words") != std::string::npos);
    CHECK(desk.get("memory/a.md") == "the owner's\n");
    CHECK(desk.temporaries() == 0);
    CHECK(must(Trash(desk.os, desk.clock, desk.places()).list()).empty());
}

TEST_CASE("a replaced file goes when it is old and nobody has it open", "[gate]") {
    GatedDesk desk;
    desk.put("memory/a.md", "start\n");
    REQUIRE(desk.start());
    REQUIRE(desk.gate->read(desk.shown, path_of("memory/a.md")));
    REQUIRE(desk.replace("memory/a.md", "the desk's\n"));
    Trash trash(desk.os, desk.clock, desk.places());
    REQUIRE(desk.gate->tend_trash());
    CHECK(must(trash.list()).size() == 1);
    CHECK(desk.gate->trash_waits());
    REQUIRE(desk.gate->tend_trash(std::chrono::seconds(0)));
    CHECK(must(trash.list()).empty());
    CHECK(must(desk.store->list(10)).front().kind == "write");
}

TEST_CASE("the trash knows its files by their names when its index is lost", "[gate]") {
    GatedDesk desk;
    desk.put("memory/a.md", "start\n");
    REQUIRE(desk.start());
    REQUIRE(desk.gate->read(desk.shown, path_of("memory/a.md")));
    REQUIRE(desk.replace("memory/a.md", "the desk's\n"));
    std::filesystem::remove(desk.repository / "trash/index.jsonl");
    REQUIRE(desk.start());
    Trash trash(desk.os, desk.clock, desk.places());
    REQUIRE(must(trash.list()).size() == 1);
    CHECK(must(trash.list()).front().sha256 == sha256_hex("start\n"));
    REQUIRE(desk.gate->tend_trash(std::chrono::seconds(0)));
    CHECK(must(trash.list()).empty());
}
