// Opening after a crash: leftovers, lost tips, broken objects, failures of the system.
#include <algorithm>
#include <sys/stat.h>

#include "host/checkpoint/git_objects.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/support/fault_os.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

std::filesystem::path object_file(const Desk& desk, const std::string& revision) {
    const std::string hex = desk.git("rev-parse " + revision).output.substr(0, 40);
    return desk.repository / "objects" / hex.substr(0, 2) / hex.substr(2);
}

void overwrite(const std::filesystem::path& file, const std::string& bytes) {
    ::chmod(file.c_str(), 0644);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

struct Prepared : Desk {
    explicit Prepared(CheckpointForm form_in = form_of_tests()) : Desk(form_in) {
        put("memory/a.md", "a\n");
        must(open());
        must(write("memory/a.md", "b\n"));
        must(write("notes/2025-10-19.md", "- note\n"));
    }
};

}  // namespace

TEST_CASE("leftovers of killed programs are removed and reported", "[checkpoint]") {
    Prepared desk;
    desk.store.reset();
    const std::string leftovers[] = {"refs/heads/checkpoints.lock",
                                     "HEAD.lock",
                                     "packed-refs.lock",
                                     "objects/tmp_object_git2_a1b2",
                                     "objects/pack/pack_git2_x",
                                     "daybook.ref~"};
    for (const std::string& name : leftovers) {
        std::ofstream(desk.repository / name) << "x";
    }
    REQUIRE(desk.open());
    const auto& removed = desk.store->recovery().removed_leftovers;
    for (const std::string& name : leftovers) {
        INFO(name);
        CHECK_FALSE(std::filesystem::exists(desk.repository / name));
        CHECK(std::find(removed.begin(), removed.end(), name) != removed.end());
    }
    CHECK(std::filesystem::exists(desk.repository / "daybook.lock"));
    REQUIRE(desk.write("memory/a.md", "c\n"));
    CHECK(desk.fsck() == "");
}

TEST_CASE("a lost or garbled ref, tip, or both, is found again", "[checkpoint]") {
    Prepared desk;
    const std::string head = desk.git("rev-parse checkpoints").output;
    const auto ref = desk.repository / "refs/heads/checkpoints";
    const auto tip = desk.repository / "daybook.tip";
    const auto break_files = [&](const std::string& text, bool break_ref, bool break_tip) {
        desk.store.reset();
        if (break_ref) {
            overwrite(ref, text);
        }
        if (break_tip) {
            overwrite(tip, text);
        }
    };
    for (const std::string& text :
         {std::string(), std::string("garbage\n"), std::string(41, '\0')}) {
        for (const auto& [break_ref, break_tip] :
             {std::pair{true, false}, {false, true}, {true, true}}) {
            break_files(text, break_ref, break_tip);
            const Result<> opened = desk.open();
            INFO((opened ? "" : opened.error().message()));
            REQUIRE(opened);
            CHECK(desk.git("rev-parse checkpoints").output == head);
            CHECK(must(desk.store->list(1)).front().id == "c-3");
            CHECK_FALSE(desk.store->recovery().owner_edited);
            CHECK(desk.fsck() == "");
        }
    }
    // A line that was being written when the power went.
    desk.store.reset();
    std::ofstream(tip, std::ios::app) << "0123456789";
    REQUIRE(desk.open());
    REQUIRE(desk.write("memory/a.md", "after\n"));
    REQUIRE(desk.open());
    CHECK(must(desk.store->list(1)).front().id == "c-4");
}

TEST_CASE("the tip is ahead of the ref after a crash between the two", "[checkpoint]") {
    Prepared desk;
    const std::string head = desk.git("rev-parse checkpoints").output;
    const std::string earlier = desk.git("rev-parse checkpoints~1").output;
    desk.store.reset();
    overwrite(desk.repository / "refs/heads/checkpoints", earlier);
    REQUIRE(desk.open());
    CHECK(desk.git("rev-parse checkpoints").output == head);
    CHECK_FALSE(desk.store->recovery().owner_edited);
}

TEST_CASE("objects that a power cut emptied or filled with NUL are written anew from the files",
          "[checkpoint]") {
    for (const std::string& bytes :
         {std::string(), std::string(40, '\0'), std::string("not zlib")}) {
        Prepared desk;
        const std::filesystem::path broken[] = {object_file(desk, "HEAD:memory/a.md"),
                                                object_file(desk, "HEAD:memory"),
                                                object_file(desk, "HEAD^{tree}"),
                                                object_file(desk, "HEAD:.daybook/format")};
        desk.store.reset();
        for (const auto& file : broken) {
            overwrite(file, bytes);
        }
        CHECK(desk.fsck() != "");
        const Result<> opened = desk.open();
        INFO((opened ? "" : opened.error().message()));
        REQUIRE(opened);
        CHECK(desk.store->recovery().healed.size() == 4);
        CHECK(desk.fsck() == "");
        REQUIRE(desk.write("memory/a.md", "c\n"));
    }
}

TEST_CASE("a missing object is healed like an empty one", "[checkpoint][plain]") {
    Prepared desk(CheckpointForm::plain);
    const auto blob = object_file(desk, "HEAD:memory/a.md");
    desk.store.reset();
    std::filesystem::remove(blob);
    REQUIRE(desk.open());
    CHECK(std::filesystem::exists(blob));
    CHECK(desk.fsck() == "");
}

TEST_CASE("what the files cannot give back is an error that names the object", "[checkpoint]") {
    Prepared desk;
    const auto blob = object_file(desk, "HEAD:memory/a.md");
    const auto commit = object_file(desk, "HEAD");
    desk.store.reset();
    const std::string saved = desk.home.read("workspace/main/memory/a.md");
    desk.put("memory/a.md", "edited since\n");
    overwrite(blob, "");
    const Result<> lost_blob = desk.open();
    REQUIRE_FALSE(lost_blob);
    CHECK(lost_blob.error().code() == Errc::corrupt);
    CHECK(lost_blob.error().message().find(blob.filename().string()) != std::string::npos);
    desk.put("memory/a.md", saved);
    REQUIRE(desk.open());
    desk.store.reset();
    overwrite(commit, "");
    const Result<> lost_commit = desk.open();
    REQUIRE_FALSE(lost_commit);
    CHECK(lost_commit.error().code() == Errc::corrupt);
    CHECK(lost_commit.error().message().find(commit.filename().string()) != std::string::npos);
    CHECK(lost_commit.error().message().find("move it aside") != std::string::npos);
    CHECK(desk.get("memory/a.md") == saved);
}

TEST_CASE("an empty file where a new object goes is not taken for the object", "[checkpoint]") {
    Prepared desk;
    const GitId id = GitObjects::id_of(GitType::blob, "poisoned\n");
    const auto place = desk.repository / "objects" / id.hex().substr(0, 2) / id.hex().substr(2);
    std::ofstream(place) << "";
    REQUIRE(desk.write("memory/a.md", "poisoned\n"));
    CHECK(desk.git("show HEAD:memory/a.md").output == "poisoned\n");
    CHECK(desk.fsck() == "");
}

TEST_CASE("a write that happened before the crash is completed, with its own text",
          "[checkpoint]") {
    Prepared desk;
    CheckpointReason why;
    why.reason = "add_note: crash";
    must(
        desk.store->take(path_of("memory/a.md"), sha256_hex("b\n"), sha256_hex("intended\n"), why));
    desk.put("memory/a.md", "intended\n");
    REQUIRE(desk.open());
    REQUIRE(desk.store->recovery().completed);
    CHECK(desk.store->recovery().completed->id == "c-4");
    CHECK_FALSE(desk.store->recovery().owner_edited);
    CHECK_FALSE(must(desk.store->find("c-4")).written_commit.empty());
    REQUIRE(desk.open());
    CHECK_FALSE(desk.store->recovery().completed);
}

TEST_CASE("a write that was announced and not recorded is completed by the next one too",
          "[checkpoint]") {
    Prepared desk;
    must(desk.store->take(path_of("memory/a.md"), sha256_hex("b\n"), sha256_hex("one\n"), {}));
    desk.put("memory/a.md", "one\n");
    REQUIRE(desk.write("memory/a.md", "two\n"));
    CHECK_FALSE(must(desk.store->find("c-4")).written_commit.empty());
    CHECK(must(desk.store->find("c-5")).kind == "write");
    CHECK(desk.git("log --format=%s").output.find("edited") == std::string::npos);
}

TEST_CASE("edits made while the host was away are a checkpoint", "[checkpoint]") {
    Prepared desk;
    desk.store.reset();
    desk.put("Memory.md", "written by hand\n");
    REQUIRE(desk.open());
    CHECK(desk.store->recovery().owner_edited);
    CHECK(must(desk.store->list(1)).front().kind == "edited");
}

TEST_CASE("whatever call fails while a repository is made, the next try makes it", "[checkpoint]") {
    std::uint64_t nth = 1;
    for (bool struck = true; struck; nth += 1) {
        Desk desk;
        desk.put("Memory.md", "m\n");
        FaultOs& fault = desk.fault;
        fault.fail_call(nth, nth % 2 == 0 ? Errc::io : Errc::full);
        const Result<> first = desk.open_with(fault);
        struck = fault.struck();
        CHECK((first.has_value() || struck));
        fault.heal();
        REQUIRE(desk.open_with(fault));
        CHECK(must(desk.store->list(5)).back().id == "c-1");
        REQUIRE(desk.write("Memory.md", "n\n"));
        CHECK(desk.fsck() == "");
        REQUIRE(nth < 400);
    }
    CHECK(nth > 40);
}

TEST_CASE("no checkpoint is reported when the disk is full or fails, with the cause",
          "[checkpoint][plain]") {
    Desk desk(CheckpointForm::plain);
    desk.put("Memory.md", "m\n");
    FaultOs& fault = desk.fault;
    REQUIRE(desk.open_with(fault));
    fault.fill_disk(true);
    const auto full =
        desk.store->take(path_of("Memory.md"), sha256_hex("m\n"), sha256_hex("n\n"), {});
    REQUIRE_FALSE(full);
    CHECK(full.error().code() == Errc::no_checkpoint);
    CHECK(full.error().message().find("no space") != std::string::npos);
    fault.heal();
    REQUIRE(desk.store->take(path_of("Memory.md"), sha256_hex("m\n"), sha256_hex("n\n"), {}));
    fault.fail_syncs(true);
    CHECK(desk.store->take_manual("x").error().code() == Errc::no_checkpoint);
    fault.heal();
    const auto closed = desk.store->take_manual("x");
    REQUIRE_FALSE(closed);
    CHECK(closed.error().message().find("until the next start") != std::string::npos);
    REQUIRE(desk.open_with(fault));
    REQUIRE(desk.store->take_manual("x"));
    CHECK(desk.fsck() == "");
}
