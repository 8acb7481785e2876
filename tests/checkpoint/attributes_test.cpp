// Mode bits and empty folders, which git does not hold, are part of a checkpoint's tree.
#include "host/checkpoint/attributes.hpp"

#include <filesystem>

#include "host/checkpoint/stored_tree.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

TreeFile plain() {
    return TreeFile{kModeFile, GitObjects::id_of(GitType::blob, "x")};
}

unsigned mode_in(const StoredTree& tree, const std::string& path) {
    return tree.files.at(path).permissions;
}

}  // namespace

TEST_CASE("the commonest mode needs no line, and what is written reads back the same",
          "[checkpoint]") {
    std::map<std::string, TreeFile> files;
    std::map<std::string, unsigned> odd;
    for (const std::string name : {"notes/a", "notes/b", "notes/c"}) {
        files[name] = plain();
        odd[name] = 0640;
    }
    files["notes/usual"] = plain();
    files["notes/odd\nname"] = plain();
    odd["notes/odd\nname"] = 0600;
    files["skills/run"] = TreeFile{kModeProgram, plain().id};
    odd["skills/run"] = 0700;
    const auto made = Attributes::of(files, odd, {{"memory/empty", 0750}}, {{"skills", 01755}});
    CHECK(made.encode() ==
          "files 0640\nfile 0600 \"notes/odd\\012name\"\nfile 0644 notes/usual\n"
          "file 0700 skills/run\nempty 0750 memory/empty\nfolder 1755 skills\n");
    const auto read = Attributes::parse(made.encode() + "hereafter 0000 unknown\nfile rubbish\n");
    CHECK(read.is_same(made, files));
    CHECK(read.permissions_of("notes/odd\nname", plain()) == 0600);
    CHECK(Attributes::of({{"notes/usual", plain()}}, {}, {}, {}).encode().empty());
}

TEST_CASE("a folder stops being empty with its first file", "[checkpoint]") {
    auto attributes = Attributes::of({}, {}, {{"memory/a/b", 0755}, {"notes", 0755}}, {});
    CHECK(attributes.note_file("memory/a/b/x.md", plain(), 0644));
    CHECK(attributes.empty_folders().size() == 1);
    CHECK_FALSE(attributes.note_file("memory/a/b/y.md", plain(), 0644));
}

TEST_CASE("a checkpoint's tree holds every mode bit and the empty folders", "[checkpoint]") {
    Desk desk;
    desk.put("notes/a.md", "a\n");
    desk.put("Memory.md", "m\n");
    fs::permissions(desk.folder / "notes/a.md", fs::perms(0604));
    fs::create_directories(desk.folder / "memory/empty");
    REQUIRE(desk.open());
    const Checkpoint first = must(desk.store->list(1)).front();
    const StoredTree held = must(desk.store->tree(first));
    CHECK(mode_in(held, "notes/a.md") == 0604);
    CHECK(mode_in(held, "Memory.md") == 0644);
    CHECK(held.empty_folders().contains("memory/empty"));
    CHECK(desk.fsck() == "");

    SECTION("a change of mode alone is an edit of the owner's") {
        fs::permissions(desk.folder / "Memory.md", fs::perms(0600));
        const auto edited = must(desk.store->record_owner_edits());
        REQUIRE(edited);
        CHECK(mode_in(must(desk.store->tree(*edited)), "Memory.md") == 0600);
        CHECK_FALSE(must(desk.store->record_owner_edits()));
    }
    SECTION("a write changes them in its own commits, and nothing is left for the owner") {
        REQUIRE(desk.write("memory/empty/x.md", "x\n"));
        REQUIRE(desk.write("notes/a.md", "changed\n"));
        CHECK_FALSE(must(desk.store->record_owner_edits()));
        const Checkpoint now = must(desk.store->take_manual("look"));
        CHECK(mode_in(must(desk.store->tree(now)), "notes/a.md") == 0604);
        CHECK(must(desk.store->tree(now)).empty_folders().empty());
    }
    SECTION("they are known again after a start") {
        REQUIRE(desk.open());
        CHECK_FALSE(desk.store->recovery().owner_edited);
    }
    SECTION("an emptied object of theirs is written anew from the files") {
        const std::string id =
            desk.git("rev-parse checkpoints:.daybook/attributes").output.substr(0, 40);
        desk.store.reset();
        const auto object = desk.repository / "objects" / id.substr(0, 2) / id.substr(2);
        if (desk.form == CheckpointForm::journalled) {
            return;  // it is in a pack
        }
        fs::permissions(object, fs::perms(0644));
        fs::resize_file(object, 0);
        REQUIRE(desk.open());
        CHECK(desk.fsck() == "");
        CHECK_FALSE(desk.store->recovery().owner_edited);
    }
}
