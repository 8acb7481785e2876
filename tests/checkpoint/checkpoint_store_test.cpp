#include <sys/stat.h>

#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"

using namespace daybook;
using namespace daybook::test;

TEST_CASE("a new repository holds the files that were there, as its first checkpoint",
          "[checkpoint]") {
    Desk desk;
    desk.put("Memory.md", "stop: 0.8%\n");
    desk.put("notes/2026-10-19.md", "- wait\n");
    desk.put("owner.txt", "not the desk's own\n");
    REQUIRE(desk.open());

    const auto listed = desk.store->list(10);
    REQUIRE(listed);
    REQUIRE(listed->size() == 1);
    CHECK(listed->front().id == "c-1");
    CHECK(listed->front().kind == "manual");
    CHECK_FALSE(desk.store->recovery().owner_edited);
    const auto files = desk.store->files(listed->front());
    REQUIRE(files);
    CHECK(*files ==
          std::map<std::string, std::uint64_t>{{"Memory.md", 11}, {"notes/2026-10-19.md", 7}});
    CHECK(desk.fsck() == "");
    CHECK(desk.git("symbolic-ref HEAD").output == "refs/heads/checkpoints\n");
    CHECK(desk.git("show HEAD:.daybook/format").output == "1\n");
}

TEST_CASE("a write leaves a checkpoint of the former content and a commit of what it wrote",
          "[checkpoint]") {
    Desk desk;
    desk.put("Memory.md", "old\n");
    REQUIRE(desk.open());
    const auto taken = desk.write("Memory.md", "new\n");
    REQUIRE(taken);
    CHECK(taken->id == "c-2");
    CHECK(taken->kind == "write");

    const auto found = desk.store->find("c-2");
    REQUIRE(found);
    CHECK(found->file == "Memory.md");
    CHECK(found->base_sha256 == sha256_hex("old\n"));
    CHECK(found->intended_sha256 == sha256_hex("new\n"));
    CHECK(found->why.tool == "write_file");
    CHECK(found->commit == taken->commit);
    CHECK_FALSE(found->written_commit.empty());
    CHECK(**desk.store->read(*found, path_of("Memory.md")) == "old\n");
    const auto diff = desk.store->diff(*found, false);
    REQUIRE(diff);
    REQUIRE(diff->size() == 1);
    CHECK(diff->front().kind == 'M');
    CHECK(diff->front().diff.find("-old\n+new\n") != std::string::npos);
    CHECK(desk.store->committed_sha256(path_of("Memory.md")) == sha256_hex("new\n"));

    const Ran log = desk.git("log -p --format=%B");
    CHECK(log.output.find("-old\n+new") != std::string::npos);
    CHECK(log.output.find("Written: c-2\n") != std::string::npos);
    CHECK(desk.git("log -1 --format='%(trailers:key=Written,valueonly)'").output.substr(0, 3) ==
          "c-2");
    CHECK(desk.fsck() == "");
}

TEST_CASE("the owner's edit before a write becomes a checkpoint of its own", "[checkpoint]") {
    Desk desk;
    desk.put("Memory.md", "one\n");
    REQUIRE(desk.open());
    desk.put("Memory.md", "two\n");
    CheckpointReason why;
    why.reason = "replace";

    const auto refused =
        desk.store->take(path_of("Memory.md"), sha256_hex("one\n"), sha256_hex("x"), why);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::conflict);
    const auto edited = desk.store->find("c-2");
    REQUIRE(edited);
    CHECK(edited->kind == "edited");
    CHECK(edited->file == "Memory.md");
    CHECK(**desk.store->read(*edited, path_of("Memory.md")) == "two\n");
    CHECK(desk.store->diff(*edited, false)->front().diff.find("-one\n+two\n") != std::string::npos);

    CHECK(desk.store->take(path_of("Memory.md"), sha256_hex("two\n"), sha256_hex("x"), why));
}

TEST_CASE("owner's edits of any own file are found, nothing is made of none", "[checkpoint]") {
    Desk desk;
    desk.put("Memory.md", "a\n");
    desk.put("memory/x.md", "x\n");
    REQUIRE(desk.open());
    REQUIRE(desk.store->record_owner_edits());
    CHECK_FALSE(desk.store->record_owner_edits()->has_value());

    desk.put("memory/x.md", "y\n");  // same size, same second
    desk.put("skills/gap/SKILL.md", "wait\n");
    std::filesystem::remove(desk.folder / "Memory.md");
    const auto made = desk.store->record_owner_edits();
    REQUIRE(made);
    REQUIRE(made->has_value());
    CHECK((*made)->kind == "edited");
    const auto diff = desk.store->diff(**made, false);
    REQUIRE(diff);
    std::string kinds;
    for (const FileChange& change : *diff) {
        kinds += change.kind;
        kinds += change.path + " ";
    }
    CHECK(kinds == "DMemory.md Mmemory/x.md Askills/gap/SKILL.md ");
    CHECK_FALSE(desk.store->record_owner_edits()->has_value());
    CHECK(desk.fsck() == "");
}

TEST_CASE("many same-size edits right after a scan are all seen", "[checkpoint]") {
    Desk desk;
    desk.put("memory/x.md", "0000");
    REQUIRE(desk.open());
    for (int i = 1; i <= 60; ++i) {
        std::string text = std::to_string(i);
        text.insert(0, 4 - text.size(), '0');
        desk.put("memory/x.md", text);
        const auto made = desk.store->record_owner_edits();
        REQUIRE(made);
        REQUIRE(made->has_value());
        CHECK(**desk.store->read(**made, path_of("memory/x.md")) == text);
    }
}

TEST_CASE("a conflict keeps the refused text for one commit beside the owner's version",
          "[checkpoint]") {
    Desk desk;
    desk.put("Memory.md", "owner\n");
    REQUIRE(desk.open());
    CheckpointReason why;
    why.reason = "edit_file: refused";
    const auto kept = desk.store->keep_conflict(path_of("Memory.md"), "the desk's text\n", why);
    REQUIRE(kept);
    CHECK(kept->kind == "conflict");
    CHECK(desk.git("show " + kept->commit + ":.daybook/conflicts/" + kept->id).output ==
          "the desk's text\n");
    REQUIRE(desk.write("Memory.md", "next\n"));
    CHECK(desk.git("show HEAD:.daybook/conflicts/" + kept->id).code != 0);
    CHECK(desk.git("show HEAD:Memory.md").output == "next\n");
    CHECK(desk.fsck() == "");
    REQUIRE(desk.store->keep_conflict(path_of("Memory.md"), "again\n", why));
    REQUIRE(desk.open());
    CHECK_FALSE(desk.store->recovery().owner_edited);
    REQUIRE(desk.write("Memory.md", "after reopening\n"));
    CHECK(desk.git("ls-tree -r --name-only HEAD").output == ".daybook/format\nMemory.md\n");
}

TEST_CASE("listing is newest first, pages, and finds by both ids", "[checkpoint]") {
    Desk desk;
    REQUIRE(desk.open());
    for (int i = 0; i < 5; ++i) {
        REQUIRE(desk.write("memory/a.md", "v" + std::to_string(i)));
    }
    const auto first = desk.store->list(2);
    REQUIRE(first);
    REQUIRE(first->size() == 2);
    CHECK((*first)[0].id == "c-6");
    const auto next = desk.store->list(10, (*first)[1].number);
    REQUIRE(next);
    CHECK(next->size() == 4);
    CHECK(next->front().id == "c-4");
    CHECK(desk.store->find(next->front().commit.substr(0, 10))->id == "c-4");
    CHECK(desk.store->find(next->front().written_commit)->id == "c-4");
    CHECK(desk.store->find("c-99").error().code() == Errc::not_found);
    CHECK(desk.store->find("c-0").error().code() == Errc::invalid);
    CHECK(desk.store->find("--help").error().code() == Errc::invalid);
    CHECK(desk.store->find("abc").error().code() == Errc::invalid);
}

TEST_CASE("a reason cannot forge a trailer", "[checkpoint]") {
    Desk desk;
    REQUIRE(desk.open());
    CheckpointReason why;
    why.reason = "note\n\nCheckpoint: c-900\nKind: manual\r\nFile: Memory.md";
    why.tool = "add_note\nIntended-Sha256: absent";
    why.turn = std::string("t-1\0\nTurn: t-2", 14);
    const auto taken = desk.store->take(path_of("memory/a.md"), "", sha256_hex("x"), why);
    REQUIRE(taken);
    const auto found = desk.store->find("c-2");
    REQUIRE(found);
    CHECK(found->kind == "write");
    CHECK(found->file == "memory/a.md");
    CHECK(found->intended_sha256 == sha256_hex("x"));
    CHECK(desk.store->find("c-900").error().code() == Errc::not_found);
    CHECK(desk.fsck() == "");
    REQUIRE(desk.open());
    CHECK(desk.write("memory/a.md", "y")->id == "c-3");
}

TEST_CASE("differences against the files on disk show what changed since", "[checkpoint]") {
    Desk desk;
    desk.put("Memory.md", "a\nb\n");
    REQUIRE(desk.open());
    desk.put("Memory.md", "a\nc\n");
    desk.put("memory/new.bin", std::string("\0\1", 2));
    const auto diff = desk.store->diff(*desk.store->find("c-1"), true);
    REQUIRE(diff);
    REQUIRE(diff->size() == 2);
    CHECK((*diff)[0].diff.find("-b\n+c\n") != std::string::npos);
    CHECK((*diff)[1].kind == 'A');
    CHECK((*diff)[1].diff == "binary");
}

TEST_CASE("a second host on the same repository is told that it is busy", "[checkpoint]") {
    Desk desk;
    REQUIRE(desk.open());
    LinuxOs os;
    const auto second =
        CheckpointStore::open(os, desk.clock, desk.dir.get(), desk.repository, "main", desk.form);
    REQUIRE_FALSE(second);
    CHECK(second.error().code() == Errc::busy);
}

TEST_CASE("the owner's git may collect and pack at any time", "[checkpoint]") {
    Desk desk;
    REQUIRE(desk.open());
    for (int i = 0; i < 8; ++i) {
        REQUIRE(
            desk.write("notes/2026-10-19.md", std::string(static_cast<std::size_t>(i + 1), 'n')));
    }
    REQUIRE(desk.git("gc -q --prune=now").code == 0);
    REQUIRE(desk.git("pack-refs --all").code == 0);
    CHECK_FALSE(std::filesystem::exists(desk.repository / "refs/heads/checkpoints"));
    CHECK(desk.store->find("c-3")->file == "notes/2026-10-19.md");
    REQUIRE(desk.write("notes/2026-10-19.md", "after gc"));
    CHECK(desk.git("show checkpoints:notes/2026-10-19.md").output == "after gc");
    REQUIRE(desk.git("gc -q --prune=now").code == 0);
    REQUIRE(desk.open());
    CHECK_FALSE(desk.store->recovery().owner_edited);
    REQUIRE(desk.write("notes/2026-10-19.md", "after reopening"));
    CHECK(desk.fsck() == "");
}

TEST_CASE("a checkpoint by hand is taken even when nothing changed", "[checkpoint]") {
    Desk desk;
    REQUIRE(desk.open());
    desk.put("Memory.md", "edit\n");
    const auto made = desk.store->take_manual("before the weekend");
    REQUIRE(made);
    CHECK(made->kind == "manual");
    CHECK(made->id == "c-3");
    CHECK(desk.store->find("c-2")->kind == "edited");
    CHECK(made->why.reason == "before the weekend");
}

TEST_CASE("hundreds of files cost a write nothing more than its own path", "[checkpoint][plain]") {
    Desk desk(CheckpointForm::plain);
    for (int i = 0; i < 300; ++i) {
        desk.put("memory/" + std::to_string(i % 10) + "/" + std::to_string(i) + ".md",
                 std::to_string(i));
    }
    REQUIRE(desk.open());
    const auto count = [&] {
        std::size_t objects = 0;
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(desk.repository / "objects")) {
            objects += entry.is_regular_file() ? 1U : 0U;
        }
        return objects;
    };
    const std::size_t before = count();
    REQUIRE(desk.write("memory/3/3.md", "changed"));
    // One commit before; then a blob, the trees of memory/3, memory and the root, and a commit.
    CHECK(count() - before == 6);
    CHECK(desk.git("ls-tree -r --name-only HEAD").output.size() > 300 * 10);
    CHECK(desk.fsck() == "");
}
