// Everything is put back as a checkpoint holds it: exactly, undoably, and all or nothing.
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

#include "host/checkpoint/stored_tree.hpp"
#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"
#include "tests/support/fault_os.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

/// One hash over all that a checkpoint holds of the desk's own: content, names, modes, folders.
std::string hash_of(const StoredTree& tree) {
    std::string all = tree.attributes.encode();
    for (const auto& [path, file] : tree.files) {
        all += path + '\0' + file.file.id.hex() + std::to_string(file.permissions) + '\0';
    }
    return sha256_hex(all);
}

std::string hash_of(const GatedDesk& desk, const Checkpoint& checkpoint) {
    return hash_of(must(desk.store->tree(checkpoint)));
}

std::string tree_now(GatedDesk& desk) {
    return hash_of(desk, must(desk.store->take_manual("look")));
}

std::vector<std::string> paths_of(const RestoreReport& report) {
    std::vector<std::string> paths;
    for (const auto& file : report.files) {
        paths.push_back(file.kind + (" " + file.path));
    }
    return paths;
}

/// A desk with a bit of everything.
void furnish(const GatedDesk& desk) {
    desk.put("Memory.md", "stops at 0.8 %\n");
    desk.put("notes/2025-10-18.md", "- first\n");
    desk.put("notes/line\nbreak.md", "odd\n");
    desk.put("notes/bytes-\xff.md", "odder\n");
    desk.put("memory/deep/er/file.md", std::string("NUL \0 inside\n", 13));
    desk.put("skills/run/run.sh", "#!/bin/sh\n");
    fs::permissions(desk.folder / "skills/run/run.sh", fs::perms(0750));
    fs::permissions(desk.folder / "notes/2025-10-18.md", fs::perms(0600));
    fs::create_directories(desk.folder / "memory/empty/inner");
    fs::create_symlink("../outside", desk.folder / "memory/link");
}

std::size_t staged(GatedDesk& desk) {
    const auto found = desk.os.list(desk.root.get(), desk.places().repository + "/stage");
    return found ? found->size() : 0;
}

void disturb(const GatedDesk& desk) {
    desk.put("Memory.md", "changed\n");
    desk.put("notes/new.md", "made since\n");
    desk.put("memory/new folder/x.md", "made since\n");
    fs::remove(desk.folder / "notes/line\nbreak.md");
    fs::remove(desk.folder / "notes/bytes-\xff.md");
    fs::remove_all(desk.folder / "memory/deep");
    fs::remove_all(desk.folder / "memory/empty");
    fs::remove(desk.folder / "memory/link");
    fs::permissions(desk.folder / "skills/run/run.sh", fs::perms(0644));
}

}  // namespace

TEST_CASE("everything comes back as the checkpoint holds it, and an undo of that likewise",
          "[gate]") {
    GatedDesk desk;
    furnish(desk);
    REQUIRE(desk.start());
    const Checkpoint before = must(desk.store->take_manual("good"));
    const std::string good = hash_of(desk, before);
    disturb(desk);
    const std::string disturbed = tree_now(desk);
    REQUIRE(good != disturbed);

    const RestoreReport report = must(desk.gate->restore(before, "", desk.context));
    CHECK(report.skipped.empty());
    CHECK(report.folders.empty());
    CHECK(paths_of(report).size() == 8);
    CHECK(tree_now(desk) == good);
    CHECK(desk.get("Memory.md") == "stops at 0.8 %\n");
    CHECK(desk.get("notes/bytes-\xff.md") == "odder\n");
    CHECK(fs::read_symlink(desk.folder / "memory/link") == "../outside");
    CHECK_FALSE(fs::exists(desk.folder / "notes/new.md"));
    CHECK_FALSE(fs::exists(desk.folder / "memory/new folder"));
    CHECK(fs::is_directory(desk.folder / "memory/empty/inner"));
    CHECK(fs::status(desk.folder / "notes/2025-10-18.md").permissions() == fs::perms(0600));
    CHECK(fs::status(desk.folder / "skills/run/run.sh").permissions() == fs::perms(0750));

    const Checkpoint taken = must(desk.store->find(report.checkpoint));
    CHECK(taken.kind == "restore");
    CHECK(taken.why.restores == before.id);
    CHECK(hash_of(desk, taken) == disturbed);
    const RestoreReport undone = must(desk.gate->restore(taken, "", desk.context));
    CHECK(tree_now(desk) == disturbed);
    const auto again = must(desk.store->find(undone.checkpoint));
    REQUIRE(desk.gate->restore(again, "", desk.context));
    CHECK(tree_now(desk) == good);

    CHECK(desk.records("restore").size() == 3);
    CHECK(desk.fsck() == "");
    CHECK(desk.temporaries() == 0);
    CHECK(staged(desk) == 0);
    REQUIRE(desk.start());
    CHECK_FALSE(desk.store->recovery().owner_edited);
}

TEST_CASE("a restore that would change nothing takes no checkpoint", "[gate]") {
    GatedDesk desk;
    furnish(desk);
    REQUIRE(desk.start());
    const Checkpoint newest = must(desk.store->take_manual("now"));
    const RestoreReport report = must(desk.gate->restore(newest, "", desk.context));
    CHECK(report.checkpoint.empty());
    CHECK(must(desk.store->list(1)).front().id == newest.id);
}

TEST_CASE("what a restore would do is told without doing it", "[gate]") {
    GatedDesk desk;
    furnish(desk);
    REQUIRE(desk.start());
    const Checkpoint before = must(desk.store->take_manual("good"));
    disturb(desk);
    const std::size_t checkpoints = must(desk.store->list(100)).size();
    const RestoreReport preview = must(preview_restore(*desk.store, before));
    CHECK(must(desk.store->list(100)).size() == checkpoints);
    CHECK(desk.get("Memory.md") == "changed\n");
    std::string memory;
    std::string mode;
    for (const auto& file : preview.files) {
        memory = file.path == "Memory.md" ? file.diff : memory;
        mode = file.path == "skills/run/run.sh" ? file.diff : mode;
    }
    CHECK(memory.find("-changed\n+stops at 0.8 %\n") != std::string::npos);
    CHECK(mode == "mode 0644 to 0750\n");
    CHECK(paths_of(preview) == paths_of(must(desk.gate->restore(before, "", desk.context))));
}

TEST_CASE("what no checkpoint holds is never touched, and is listed", "[gate]") {
    GatedDesk desk;
    desk.put("notes/a.md", "a\n");
    REQUIRE(desk.start());
    const Checkpoint before = must(desk.store->take_manual("good"));
    desk.put("notes/b.md", "b\n");
    desk.put("memory/large.bin", std::string(9 * 1024 * 1024, 'x'));
    REQUIRE(::mkfifo((desk.folder / "memory/pipe").c_str(), 0600) == 0);
    fs::remove(desk.folder / "notes/a.md");
    fs::create_directories(desk.folder / "notes/a.md");  // in the file's place, with a pipe in it
    REQUIRE(::mkfifo((desk.folder / "notes/a.md/pipe").c_str(), 0600) == 0);

    const RestoreReport report = must(desk.gate->restore(before, "", desk.context));
    CHECK(fs::file_size(desk.folder / "memory/large.bin") == 9 * 1024 * 1024);
    CHECK(fs::exists(desk.folder / "notes/a.md/pipe"));
    CHECK_FALSE(fs::exists(desk.folder / "notes/b.md"));
    REQUIRE(report.skipped.size() == 1);
    CHECK(report.skipped.front().path == "notes/a.md");
    CHECK(report.untouched.size() == 3);
    CHECK(desk.fsck() == "");
    REQUIRE(desk.start());
    CHECK_FALSE(desk.store->recovery().owner_edited);
}

TEST_CASE("what a restore takes away is in the trash until the owner empties it", "[gate]") {
    GatedDesk desk;
    desk.put("notes/a.md", "a\n");
    REQUIRE(desk.start());
    const Checkpoint before = must(desk.store->take_manual("good"));
    desk.put("notes/made since.md", "since\n");
    const RestoreReport report = must(desk.gate->restore(before, "", desk.context));
    Trash trash(desk.os, desk.clock, desk.places());
    const auto kept = must(trash.list());
    REQUIRE(kept.size() == 1);
    CHECK(kept.front().path == "notes/made since.md");
    CHECK(kept.front().checkpoint == report.checkpoint);
    CHECK(kept.front().bytes == 6);
    CHECK(must(desk.gate->empty_trash()).files == 1);
    CHECK(must(trash.list()).empty());
    CHECK(must(desk.gate->empty_trash()).files == 0);
}

TEST_CASE("a thousand files come back exactly, and the undo byte for byte", "[gate]") {
    LinuxOs real;
    FaultOs quick(real);  // outlives the desk
    quick.skip_syncs(true);
    GatedDesk desk;
    const auto text = [](int i) { return "file " + std::to_string(i) + "\n"; };
    for (int i = 0; i < 1000; ++i) {
        desk.put("memory/" + std::to_string(i % 20) + "/" + std::to_string(i) + ".md", text(i));
        if (i % 50 == 0) {
            fs::permissions(
                desk.folder / "memory" / std::to_string(i % 20) / (std::to_string(i) + ".md"),
                fs::perms(0600));
        }
    }
    fs::create_directories(desk.folder / "memory/none");
    REQUIRE(desk.start_with(quick));
    const Checkpoint before = must(desk.store->take_manual("good"));
    const std::string good = hash_of(desk, before);
    fs::remove_all(desk.folder / "memory/none");
    fs::remove_all(desk.folder / "memory/3");
    for (int i = 0; i < 1000; ++i) {
        if (i % 20 != 3) {
            desk.put("memory/" + std::to_string(i % 20) + "/" + std::to_string(i) + ".md",
                     text(i * 7 + 1));
        }
    }
    desk.put("notes/extra.md", "extra\n");
    const std::string disturbed = tree_now(desk);
    const RestoreReport report = must(desk.gate->restore(before, "", desk.context));
    CHECK(report.files.size() == 1001);
    CHECK(report.skipped.empty());
    CHECK(tree_now(desk) == good);
    const Checkpoint taken = must(desk.store->find(report.checkpoint));
    REQUIRE(desk.gate->restore(taken, "", desk.context));
    CHECK(tree_now(desk) == disturbed);
    CHECK(desk.fsck() == "");
}

TEST_CASE("whichever call of a restore is the last one, the next start has all of it or nothing",
          "[gate]") {
    std::set<std::string> seen;
    bool reached = true;
    for (std::uint64_t last = 1; reached; ++last) {
        GatedDesk desk;
        furnish(desk);
        REQUIRE(desk.start());
        const Checkpoint before = must(desk.store->take_manual("good"));
        const std::string good = hash_of(desk, before);
        disturb(desk);
        const std::string disturbed = tree_now(desk);
        FaultOs dying(desk.os);
        dying.skip_syncs(true);
        REQUIRE(desk.start_with(dying));
        dying.fail_from(last);
        const auto report = desk.gate->restore(before, "", desk.context);
        reached = dying.struck();
        INFO("call " << last << ": " << (report ? "done" : std::string(report.error().message())));
        REQUIRE(desk.start());
        const std::string now = tree_now(desk);
        CHECK((now == good || now == disturbed));
        if (report) {
            CHECK(now == good);
        }
        CHECK_FALSE(desk.store->recovery().owner_edited);
        CHECK(desk.records("restore").size() == (now == good ? 1U : 0U));
        CHECK(desk.temporaries() == 0);
        CHECK(staged(desk) == 0);
        seen.insert(now == good ? "good" : "disturbed");
        if (last % 40 == 0) {
            CHECK(desk.fsck() == "");
        }
    }
    CHECK(seen.size() == 2);
}

TEST_CASE("a restore of a thousand files that is cut at any moment is carried on or never was",
          "[gate]") {
    constexpr int kFiles = 1000;
    const char* wish = std::getenv("DAYBOOK_RESTORE_CUTS");
    const int cuts = wish != nullptr ? std::atoi(wish) : 4;
    LinuxOs real;
    FaultOs dying(real);
    dying.skip_syncs(true);
    GatedDesk desk;
    const auto fill = [&desk](const std::string& text) {
        for (int i = 0; i < kFiles; ++i) {
            const std::string name =
                "memory/" + std::to_string(i % 20) + "/" + std::to_string(i) + ".md";
            desk.put(name, text + std::to_string(i) + "\n");
        }
    };
    fill("good ");
    fs::create_directories(desk.folder / "memory/none");
    REQUIRE(desk.start_with(dying));
    const Checkpoint before = must(desk.store->take_manual("good"));
    const std::string good = hash_of(desk, before);
    std::mt19937_64 random(20261201);
    std::uint64_t calls = 0;  // of a whole restore
    for (int cut = 0; cut <= cuts; ++cut) {
        fill("changed " + std::to_string(cut) + " ");
        fs::remove_all(desk.folder / "memory/none");
        fs::remove_all(desk.folder / "memory/3");
        desk.put("notes/made since.md", "new\n");
        const std::string disturbed = tree_now(desk);
        const std::uint64_t last = cut == 0 ? UINT64_MAX : 1 + random() % calls;
        dying.fail_from(last);
        const auto report = desk.gate->restore(before, "", desk.context);
        calls = cut == 0 ? dying.calls() : calls;
        INFO("cut " << cut << " at call " << last << " of " << calls);
        CHECK((report.has_value() || cut > 0));
        dying.heal();
        REQUIRE(desk.start_with(dying));
        const std::string now = tree_now(desk);
        CHECK((now == good || (cut > 0 && now == disturbed)));
        CHECK(desk.temporaries() == 0);
        CHECK(staged(desk) == 0);
    }
    CHECK(desk.fsck() == "");
}
