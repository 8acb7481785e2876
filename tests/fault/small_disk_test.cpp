// A real ext4 that is full, at every step of a write, and one that turns read-only: what was
// acknowledged stays whole, the rest is refused with its cause, and it works again when the cause
// is gone.
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/fault/cut_disk.hpp"
#include "tests/fault/desk_writer.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

/// Takes all the room there is, but for so many KiB.
void fill(const fs::path& disk, std::uint64_t leave_kib) {
    fs::remove(disk / "filler");
    const int fd = ::open((disk / "filler").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    // Root may also take what is kept back for it.
    const std::uint64_t free = fs::space(disk).free / 1024;
    std::uint64_t taken = free > leave_kib ? free - leave_kib : 0;
    while (taken > 0 && ::posix_fallocate(fd, 0, static_cast<off_t>(taken * 1024)) != 0) {
        taken -= std::min<std::uint64_t>(taken, 4);  // the file's own map takes room too
    }
    ::close(fd);
}

}  // namespace

TEST_CASE("on a disk that is full at any step, writes are whole or refused with the cause",
          "[fault]") {
    CutDisk disk("24");
    if (!disk.why_not().empty()) {
        WARN("skipped: " << disk.why_not());
        return;
    }
    const fs::path root = disk.place() / "home";
    fs::create_directories(root);
    Promises promises;
    std::uint64_t op = 0;
    std::size_t refused = 0;
    for (const std::uint64_t leave_kib :
         {0U, 16U, 64U, 128U, 256U, 384U, 512U, 768U, 1024U, 1536U}) {
        DiskDesk desk(root);
        REQUIRE(desk.start());
        fill(disk.place(), leave_kib);
        std::string told;
        std::string causes;
        for (int i = 0; i < 40; ++i) {
            ++op;
            const bool is_note = i % 2 == 0;
            const std::string file =
                is_note ? "notes/2026-10-19.md" : "memory/f" + std::to_string(i % 3) + ".md";
            told += "begin " + std::to_string(op) + (is_note ? " note " : " write ") + file + "\n";
            auto receipt = desk.write(
                file, is_note ? kAppend : kReplace, is_note ? note_of(op) : content_of(op));
            if (receipt) {
                told += "done " + std::to_string(op) + " " + receipt->checkpoint + "\n";
                continue;
            }
            ++refused;
            causes = receipt.error().message();
            CHECK((receipt.error().code() == Errc::no_checkpoint ||
                   receipt.error().code() == Errc::full || receipt.error().code() == Errc::io));
        }
        INFO(leave_kib << " KiB left; " << causes);
        CHECK((causes.empty() || causes.find("full") != std::string::npos ||
               causes.find("space") != std::string::npos ||
               causes.find("until the next start") != std::string::npos ||
               causes.find("journal unavailable") != std::string::npos));
        promises.hear(told);
        desk.stop();
        fs::remove(disk.place() / "filler");
        const Result<> started = desk.start();
        INFO((started ? "" : started.error().message()));
        REQUIRE(started);
        CHECK(promises.check(desk) == "");
        CHECK(desk.write("memory/after.md", kReplace, std::to_string(op) + "\n"));
    }
    CHECK(refused > 0);
    CHECK(promises.writes() > 0);
    WARN(promises.writes() << " writes acknowledged, " << refused << " refused");
}

TEST_CASE("a disk that turns read-only keeps every write out, and all that was there", "[fault]") {
    CutDisk disk("24");
    if (!disk.why_not().empty()) {
        WARN("skipped: " << disk.why_not());
        return;
    }
    const fs::path root = disk.place() / "home";
    fs::create_directories(root);
    DiskDesk desk(root);
    REQUIRE(desk.start());
    REQUIRE(desk.write("memory/a.md", kReplace, "before\n"));
    desk.stop();
    REQUIRE(::mount(nullptr, disk.place().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0);
    CHECK_FALSE(desk.start());
    CHECK(desk.get("memory/a.md") == "before\n");
    REQUIRE(::mount(nullptr, disk.place().c_str(), nullptr, MS_REMOUNT, nullptr) == 0);
    REQUIRE(desk.start());
    CHECK(desk.write("memory/a.md", kReplace, "after\n"));
    CHECK(desk.fsck() == "");
}
