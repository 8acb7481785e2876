// What a crash can leave beside a file, put there by hand.
#include <sys/stat.h>

#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

const std::string kFile = "memory/a.md";
const std::string kBeside = "memory/.a.md.daybook~";

/// A checkpoint before a write from "base" to "intended", and the write itself when `happened`;
/// then the host is gone.
void crash_in_write(GatedDesk& desk, bool happened) {
    desk.put(kFile, "base\n");
    REQUIRE(desk.start());
    CheckpointReason why;
    why.tool = "write_file";
    must(desk.store->take(path_of(kFile), sha256_hex("base\n"), sha256_hex("intended\n"), why));
    if (happened) {
        desk.put(kFile, "intended\n");
    }
    desk.stop();
}

}  // namespace

TEST_CASE(
    "a write that happened is completed at the next start: commit, journal line, temporary gone",
    "[gate]") {
    GatedDesk desk;
    crash_in_write(desk, true);
    desk.put(kBeside, "base\n");  // what the exchange took out
    REQUIRE(desk.start());
    REQUIRE(desk.store->recovery().completed);
    CHECK(desk.store->recovery().completed->id == "c-2");
    CHECK_FALSE(desk.store->recovery().owner_edited);
    CHECK(desk.get(kFile) == "intended\n");
    CHECK(desk.temporaries() == 0);
    REQUIRE(desk.records("file_written").size() == 1);
    CHECK(desk.records("file_written")[0].entry.data["sha256"].as_string() ==
          sha256_hex("intended\n"));
}

TEST_CASE("a write that did not happen leaves nothing behind", "[gate]") {
    GatedDesk desk;
    crash_in_write(desk, false);
    desk.put(kBeside, "intended\n");
    REQUIRE(desk.start());
    CHECK_FALSE(desk.store->recovery().completed);
    CHECK(desk.get(kFile) == "base\n");
    CHECK(desk.temporaries() == 0);
    CHECK(desk.records("file_written").empty());
}

TEST_CASE("a half-written temporary file goes", "[gate]") {
    GatedDesk desk;
    crash_in_write(desk, false);
    desk.put(kBeside, "inten");
    ::chmod((desk.folder / kBeside).c_str(), 0200);
    REQUIRE(desk.start());
    CHECK(desk.get(kFile) == "base\n");
    CHECK(desk.temporaries() == 0);
    CHECK(must(desk.store->list(1)).front().kind == "write");  // nothing was kept of it
}

TEST_CASE("an owner's save that an exchange had taken out goes back to its place", "[gate]") {
    GatedDesk desk;
    crash_in_write(desk, true);
    desk.put(kBeside, "the owner's, never read\n");
    REQUIRE(desk.start());
    CHECK(desk.get(kFile) == "the owner's, never read\n");
    CHECK(desk.temporaries() == 0);
    const std::string log = desk.git("log -p").output;
    CHECK(log.find("+intended") != std::string::npos);
    CHECK(log.find("+the owner's, never read") != std::string::npos);
    CHECK(desk.store->committed_sha256(path_of(kFile)) == sha256_hex("the owner's, never read\n"));
    CHECK(desk.fsck() == "");
}

TEST_CASE("an older version beside a newer file is kept as a checkpoint and the file stays",
          "[gate]") {
    GatedDesk desk;
    crash_in_write(desk, false);
    desk.put(kBeside, "older\n");
    const auto an_hour_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
    std::filesystem::last_write_time(desk.folder / kBeside, an_hour_ago);
    desk.put(kFile, "newest\n");
    REQUIRE(desk.start());
    CHECK(desk.get(kFile) == "newest\n");
    CHECK(desk.temporaries() == 0);
    CHECK(desk.git("log -p").output.find("+older") != std::string::npos);
}

TEST_CASE("the owner's edit while the host was away is a checkpoint, not a completed write",
          "[gate]") {
    GatedDesk desk;
    crash_in_write(desk, false);
    desk.put(kFile, "something else\n");
    REQUIRE(desk.start());
    CHECK_FALSE(desk.store->recovery().completed);
    CHECK(desk.store->recovery().owner_edited);
    CHECK(must(desk.store->list(1)).front().kind == "edited");
    CHECK(desk.records("file_written").empty());
}

TEST_CASE("a removal by restore that was cut off is completed", "[gate]") {
    GatedDesk desk;
    desk.put(kFile, "base\n");
    REQUIRE(desk.start());
    must(desk.store->take_for_restore(path_of(kFile), sha256_hex("base\n"), "", {}));
    desk.stop();
    std::filesystem::rename(desk.folder / kFile, desk.folder / kBeside);
    REQUIRE(desk.start());
    REQUIRE(desk.store->recovery().completed);
    CHECK_FALSE(std::filesystem::exists(desk.folder / kFile));
    CHECK(desk.temporaries() == 0);
    CHECK(desk.records("restore").size() == 1);
}
