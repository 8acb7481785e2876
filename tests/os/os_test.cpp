#include "host/os/os.hpp"

#include <algorithm>
#include <sys/socket.h>
#include <sys/stat.h>

#include "tests/catch.hpp"
#include "tests/support/fault_os.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using daybook::test::FaultOs;
using daybook::test::must;
using daybook::test::TempFolder;

namespace {

struct Fixture {
    TempFolder folder;
    LinuxOs os;
    UniqueFd root = must(os.open_root(folder.path()));
    int dir = root.get();

    Errc open_error(const char* path, OpenMode mode = OpenMode::read) {
        const auto fd = os.open_beneath(dir, path, mode, 0600);
        return fd ? Errc::ok : fd.error().code();
    }
};

}  // namespace

TEST_CASE("a file beneath the folder is made, written, synced and read back", "[os]") {
    Fixture f;
    REQUIRE(make_directories(f.os, f.dir, "a/b/c"));
    REQUIRE(make_directories(f.os, f.dir, "a/b/c"));
    {
        const UniqueFd fd = must(f.os.open_beneath(f.dir, "a/b/c/x", OpenMode::create_new, 0640));
        REQUIRE(f.os.write_all(fd.get(), "hello "));
        REQUIRE(f.os.write_all(fd.get(), "world"));
        REQUIRE(f.os.data_sync(fd.get()));
        REQUIRE(f.os.full_sync(fd.get()));
    }
    CHECK(must(read_file(f.os, f.dir, "a/b/c/x", 100)) == "hello world");
    CHECK(f.open_error("a/b/c/x", OpenMode::create_new) == Errc::conflict);
    const UniqueFd fd = must(f.os.open_beneath(f.dir, "a/b/c/x", OpenMode::read, 0));
    CHECK(must(f.os.read_at(fd.get(), 6, 3)) == "wor");
    CHECK(must(f.os.read_at(fd.get(), 6, 300)) == "world");
    CHECK(must(f.os.read_at(fd.get(), 600, 3)).empty());
    CHECK(f.os.read_all(fd.get(), 10).error().code() == Errc::full);
    CHECK(must(f.os.stat_of(fd.get())).st_size == 11);
    CHECK((must(f.os.stat_beneath(f.dir, "a/b")).st_mode & S_IFMT) == S_IFDIR);
    const UniqueFd writable = must(f.os.open_beneath(f.dir, "a/b/c/x", OpenMode::append, 0));
    REQUIRE(f.os.truncate(writable.get(), 5));
    REQUIRE(f.os.write_all(writable.get(), "!"));
    CHECK(must(f.os.read_all(fd.get(), 10)) == "hello!");
    REQUIRE(f.os.set_mode(writable.get(), 0444));
    CHECK((must(f.os.stat_of(fd.get())).st_mode & 0777U) == 0444U);
}

TEST_CASE("nothing outside the folder is reached, whatever the path says", "[os]") {
    Fixture f;
    TempFolder outside;
    outside.write("secret", "key");
    std::filesystem::create_symlink(outside / "secret", f.folder / "link");
    std::filesystem::create_directory_symlink(outside.path(), f.folder / "folder");
    std::filesystem::create_symlink("inside", f.folder / "near");
    f.folder.write("inside", "x");
    for (const OpenMode mode : {OpenMode::read, OpenMode::append, OpenMode::lock}) {
        CHECK(f.open_error("../x", mode) == Errc::refused);
        CHECK(f.open_error("link", mode) == Errc::refused);
        CHECK(f.open_error("near", mode) == Errc::refused);
        CHECK(f.open_error("folder/secret", mode) == Errc::refused);
        CHECK(f.open_error((outside / "secret").c_str(), mode) == Errc::refused);
    }
    CHECK(f.open_error("folder", OpenMode::directory) == Errc::refused);
    CHECK(!f.os.list(f.dir, "folder"));
    CHECK(!f.os.remove(f.dir, "folder/secret"));
    CHECK(!f.os.rename_over(f.dir, "inside", "folder/secret"));
    CHECK(!f.os.exchange(f.dir, "inside", "../" + outside.path().filename().string() + "/secret"));
    CHECK(!f.os.make_directory(f.dir, "../made", 0700));
    CHECK(!f.os.make_directory(f.dir, "..", 0700));
    CHECK(outside.read("secret") == "key");
    CHECK(f.folder.read("inside") == "x");
    const auto refused = f.os.open_beneath(f.dir, "../x", OpenMode::read, 0);
    CHECK(refused.error().message() == "open ../x: leaves the desk's folder");
    // A symbolic link itself can be looked at and removed.
    CHECK(S_ISLNK(must(f.os.stat_beneath(f.dir, "link")).st_mode));
    REQUIRE(f.os.remove(f.dir, "link"));
    CHECK(outside.read("secret") == "key");
}

TEST_CASE("a FIFO, a device or a second link is refused and cannot hang the reader", "[os]") {
    Fixture f;
    REQUIRE(mkfifo((f.folder / "pipe").c_str(), 0600) == 0);
    const auto fifo = read_file(f.os, f.dir, "pipe", 100);
    REQUIRE(!fifo);
    CHECK(fifo.error().code() == Errc::refused);
    CHECK(f.open_error("pipe", OpenMode::append) ==
          Errc::io);  // no reader: it must not wait for one
    f.folder.write("one", "x");
    std::filesystem::create_hard_link(f.folder / "one", f.folder / "two");
    const auto linked = read_file(f.os, f.dir, "two", 100);
    REQUIRE(!linked);
    CHECK(linked.error().code() == Errc::refused);
    CHECK(linked.error().message().find("two") != std::string::npos);
    CHECK(read_file(f.os, f.dir, "", 100).error().code() == Errc::refused);
    CHECK(read_file(f.os, f.dir, "none", 100).error().code() == Errc::not_found);
}

TEST_CASE("renames tell a conflict, exchange swaps, remove says what is missing", "[os]") {
    Fixture f;
    f.folder.write("a", "A");
    f.folder.write("b", "B");
    REQUIRE(f.os.exchange(f.dir, "a", "b"));
    CHECK(f.folder.read("a") == "B");
    const auto taken = f.os.rename_new(f.dir, "a", "b");
    REQUIRE(!taken);
    CHECK(taken.error().code() == Errc::conflict);
    REQUIRE(f.os.rename_new(f.dir, "a", "c"));
    REQUIRE(f.os.rename_over(f.dir, "c", "b"));
    CHECK(f.folder.read("b") == "B");
    CHECK(f.os.exchange(f.dir, "b", "none").error().code() == Errc::not_found);
    REQUIRE(f.os.remove(f.dir, "b"));
    CHECK(f.os.remove(f.dir, "b").error().code() == Errc::not_found);
    f.folder.write("file", "x");
    CHECK(f.os.make_directory(f.dir, "file", 0700).error().code() == Errc::refused);
}

TEST_CASE("a folder is listed in order, with kinds", "[os]") {
    Fixture f;
    f.folder.write("b", "");
    f.folder.write("a/x", "");
    std::filesystem::create_symlink("b", f.folder / "c");
    const auto entries = must(f.os.list(f.dir, ""));
    REQUIRE(entries.size() == 3);
    CHECK((entries[0].name == "a" && entries[0].is_directory));
    CHECK((entries[1].name == "b" && entries[1].is_regular));
    CHECK((entries[2].name == "c" && entries[2].is_symlink && !entries[2].is_regular));
    CHECK(must(f.os.list(f.dir, "a")).size() == 1);
    CHECK(f.os.list(f.dir, "none").error().code() == Errc::not_found);
}

TEST_CASE("a lock is held by one and ends with its descriptor", "[os]") {
    Fixture f;
    UniqueFd first = must(f.os.open_beneath(f.dir, "lock", OpenMode::lock, 0600));
    const UniqueFd second = must(f.os.open_beneath(f.dir, "lock", OpenMode::lock, 0600));
    REQUIRE(f.os.lock(first.get()));
    CHECK(f.os.lock(second.get()).error().code() == Errc::busy);
    first.reset();
    CHECK(f.os.lock(second.get()).operator bool());
    CHECK(must(f.os.free_bytes(f.dir)) > 0);
}

TEST_CASE("a missing root is not found, another fault is io", "[os]") {
    Fixture f;
    f.folder.write("file", "");
    CHECK(f.os.open_root(f.folder / "none").error().code() == Errc::not_found);
    CHECK(f.os.open_root(f.folder / "file").error().code() == Errc::io);
}

TEST_CASE("a durable replacement is wholly old or wholly new, whichever call fails", "[os]") {
    Fixture f;
    f.folder.write("state.json", "old");
    FaultOs faulty(f.os);
    std::uint64_t nth = 1;
    for (;; ++nth) {
        faulty.fail_call(nth, Errc::full);
        const auto written = write_file_durably(faulty, f.dir, "state.json", "new content", 0600);
        const std::string now = f.folder.read("state.json");
        INFO("call " << nth);
        if (!faulty.struck()) {
            REQUIRE(written);
            break;
        }
        CHECK(!written);
        CHECK((now == "old" || now == "new content"));
        f.folder.write("state.json", "old");
    }
    CHECK(nth > 5);
    CHECK(f.folder.read("state.json") == "new content");
    const auto left = must(f.os.list(f.dir, ""));
    CHECK(std::none_of(left.begin(), left.end(), [](const auto& e) {
        return e.name.find('~') != std::string::npos;
    }));
}

TEST_CASE("a durable replacement keeps the mode asked for and works in a folder", "[os]") {
    Fixture f;
    REQUIRE(make_directories(f.os, f.dir, "sub"));
    f.folder.write("sub/.x.daybook~", "left by a crash");
    const mode_t before = umask(077);
    const auto written = write_file_durably(f.os, f.dir, "sub/x", "1", 0640);
    umask(before);
    REQUIRE(written);
    CHECK((must(f.os.stat_beneath(f.dir, "sub/x")).st_mode & 0777U) == 0640U);
    CHECK(must(f.os.list(f.dir, "sub")).size() == 1);
}

TEST_CASE("random text is as long as asked and never the same", "[os]") {
    const std::string one = random_hex(32);
    CHECK(one.size() == 64);
    CHECK(one.find_first_not_of("0123456789abcdef") == std::string::npos);
    CHECK(one != random_hex(32));
    CHECK(random_hex(0).empty());
}

TEST_CASE("an owned descriptor closes once and moves", "[os]") {
    int pair[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    UniqueFd a(pair[0]);
    const UniqueFd b(pair[1]);
    UniqueFd moved = std::move(a);
    CHECK(moved.get() == pair[0]);
    moved.reset();
    char byte = 0;
    CHECK(recv(b.get(), &byte, 1, 0) == 0);
}
