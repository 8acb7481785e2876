// The real inotify, and what it cannot do.
#include "host/os/folder_watcher.hpp"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "tests/catch.hpp"
#include "tests/support/io_thread.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

/// What was told, kept until a test has waited for it.
class Told {
  public:
    void take(const FolderEvent& event) {
        const std::lock_guard guard(mutex_);
        paths_.insert(event.path);
        all_ += event.everything ? 1U : 0U;
        open_ = event.is_open ? event.path : open_ == event.path ? "" : open_;
        changed_.notify_all();
    }
    bool wait_path(const std::string& path) {
        return wait([&] { return paths_.contains(path); });
    }
    bool wait_closed(const std::string& path) {
        return wait([&] { return paths_.contains(path) && open_ != path; });
    }
    bool wait_all(std::size_t times) {
        return wait([&] { return all_ >= times; });
    }

  private:
    template <class Holds>
    bool wait(const Holds& holds) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20), holds);
    }
    std::mutex mutex_;  // guards all below
    std::condition_variable changed_;
    std::set<std::string> paths_;
    std::size_t all_ = 0;
    std::string open_;
};

}  // namespace

TEST_CASE("a change below a watched folder is told with its path, others are not", "[os]") {
    TempFolder folder;
    fs::create_directories(folder / "desk/memory/deep");
    fs::create_directories(folder / "desk/mine");
    LinuxOs os;
    const UniqueFd root = must(os.open_root(folder / "desk"));
    Told told;
    IoThread io;
    FolderWatcher watcher(io.loop);
    auto watch = watcher.watch(
        os, root.get(), {"memory", "notes"}, [&](const FolderEvent& event) { told.take(event); });
    REQUIRE(watch->renew());
    CHECK(watcher.status().folders == 3);
    CHECK(watcher.status().reason.empty());
    folder.write("desk/Memory.md", "x");
    CHECK(told.wait_closed("Memory.md"));
    folder.write("desk/memory/deep/a.md", "x");
    CHECK(told.wait_closed("memory/deep/a.md"));
    // A folder that is new is watched from the next renew() on; one that went is let go.
    fs::create_directories(folder / "desk/notes/new");
    CHECK(told.wait_all(1));
    fs::rename(folder / "desk/memory/deep", folder / "desk/mine/deep");
    CHECK(told.wait_all(2));
    REQUIRE(watch->renew());
    CHECK(watcher.status().folders == 4);
    folder.write("desk/notes/new/b.md", "x");
    CHECK(told.wait_closed("notes/new/b.md"));
    watch.reset();
    CHECK(watcher.status().folders == 0);
    CHECK(watcher.status().roots == 0);
}

TEST_CASE("an overfull queue of the kernel is told as a change of everything", "[os]") {
    std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
    std::size_t most = 0;
    if (!(limit >> most) || most > 40000) {
        WARN("skipped: the kernel's queue is long");
        return;
    }
    TempFolder folder;
    fs::create_directories(folder / "desk");
    LinuxOs os;
    const UniqueFd root = must(os.open_root(folder / "desk"));
    IoLoop loop;
    FolderWatcher watcher(loop);
    bool everything = false;
    auto watch = watcher.watch(os, root.get(), {}, [&](const FolderEvent& event) {
        if (event.everything) {
            everything = true;
            loop.stop();
        }
    });
    REQUIRE(watch->renew());
    // Nobody reads meanwhile. Equal events behind each other are one: so two names.
    for (std::size_t i = 0; i < most / 2 + 10; ++i) {
        const fs::path name = folder / (i % 2 == 0 ? "desk/a" : "desk/b");
        std::ofstream(name).put('x');
        fs::remove(name);
    }
    const auto patience = loop.after(std::chrono::seconds(20), [&] { loop.stop(); });
    loop.run();
    CHECK(everything);
    CHECK(watcher.status().overflows == 1);
}

TEST_CASE("a bound of watches is said, and what fits under it is watched", "[os]") {
    TempFolder folder;
    for (const char* name : {"a", "b", "c"}) {
        fs::create_directories(folder / "desk/memory" / name);
    }
    LinuxOs os;
    const UniqueFd root = must(os.open_root(folder / "desk"));
    IoThread io;
    Told told;
    FolderWatcher watcher(io.loop, {.folders = 100, .each = 3});
    auto watch = watcher.watch(
        os, root.get(), {"memory"}, [&](const FolderEvent& event) { told.take(event); });
    const auto renewed = watch->renew();
    REQUIRE_FALSE(renewed);
    CHECK(renewed.error().code() == Errc::full);
    CHECK(watcher.status().folders == 3);
    CHECK_FALSE(watcher.status().reason.empty());
    folder.write("desk/Memory.md", "x");
    CHECK(told.wait_closed("Memory.md"));
    fs::remove_all(folder / "desk/memory/b");
    fs::remove_all(folder / "desk/memory/c");
    REQUIRE(watch->renew());
    CHECK(watcher.status().reason.empty());

    FolderWatcher small(io.loop, {.folders = 1, .each = 100});
    auto other = small.watch(os, root.get(), {"memory"}, [](const FolderEvent&) {});
    CHECK(other->renew().error().code() == Errc::full);
    CHECK(small.status().folders == 1);
}
