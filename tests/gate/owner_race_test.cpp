// The owner saves while the gate writes: by renaming, as most editors do. No save of the owner's
// may be lost.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>

#include "host/gate/file_swap.hpp"
#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

constexpr int kSaves = 1500;

/// Saves by writing a file beside the target and exchanging the two, so that it knows what each of
/// its saves replaced.
class Owner {
  public:
    Owner(std::filesystem::path file, LinuxOs& os) : file_(std::move(file)), os_(os) {}

    void run() {
        const auto dir = os_.open_root(file_.parent_path());
        const std::string name = file_.filename().string();
        const auto beside = file_.parent_path() / "owner.tmp";
        for (int i = 0; i < kSaves; ++i) {
            const std::string text = "owner " + std::to_string(i) + "\n";
            std::ofstream(beside) << text;
            if (!os_.exchange(dir->get(), "owner.tmp", name)) {
                continue;
            }
            saved_.insert(text);
            std::ifstream displaced(beside);
            std::string line;
            std::getline(displaced, line);
            displaced_.insert(line + "\n");
            if (i % 3 == 0) {
                std::this_thread::yield();
            }
        }
        std::filesystem::remove(beside);
        done = true;
    }

    std::set<std::string> saved_, displaced_;
    std::atomic<bool> done{false};

  private:
    std::filesystem::path file_;
    LinuxOs& os_;
};

}  // namespace

TEST_CASE("no save of the owner's is lost in a race with the exchange", "[gate]") {
    Desk desk;
    desk.put("memory/a.md", "start\n");
    FileSwap swap(desk.os, desk.dir.get());
    Owner owner(desk.folder / "memory/a.md", desk.os);
    std::thread saving([&] { owner.run(); });
    std::set<std::string> seen_by_host;
    int conflicts = 0;
    int writes = 0;
    while (!owner.done) {
        const std::string current = desk.get("memory/a.md");
        const auto done = swap.replace(
            path_of("memory/a.md"), sha256_hex(current), "host " + std::to_string(writes) + "\n");
        if (done) {
            seen_by_host.insert(current);  // read and replaced on purpose
            ++writes;
        } else {
            CHECK(done.error().code() == Errc::conflict);
            ++conflicts;
        }
        for (const std::string& content : swap.take_superseded()) {
            seen_by_host.insert(content);
        }
    }
    saving.join();
    seen_by_host.insert(desk.get("memory/a.md"));
    std::size_t lost = 0;
    for (const std::string& text : owner.saved_) {
        lost += owner.displaced_.contains(text) || seen_by_host.contains(text) ? 0U : 1U;
    }
    CHECK(owner.saved_.size() > kSaves / 2);
    CHECK(writes > 0);
    CHECK(lost == 0);
    CHECK_FALSE(std::filesystem::exists(desk.folder / "memory/.a.md.daybook~"));
}

TEST_CASE("a race through the whole gate loses neither side's words", "[gate]") {
    GatedDesk desk;
    desk.put("memory/a.md", "start\n");
    REQUIRE(desk.start());
    std::atomic<bool> stop{false};
    std::thread saving([&] {
        for (int i = 0; i < 60 && !stop; ++i) {
            std::ofstream(desk.folder / "memory/.o") << "owner " << i << "\n";
            std::filesystem::rename(desk.folder / "memory/.o", desk.folder / "memory/a.md");
            std::this_thread::yield();
        }
        stop = true;
    });
    int acknowledged = 0;
    int refused = 0;
    std::vector<std::string> acknowledged_checkpoints;
    while (!stop) {
        if (!desk.gate->read(desk.shown, path_of("memory/a.md"))) {
            continue;
        }
        const auto receipt =
            desk.replace("memory/a.md", "desk " + std::to_string(acknowledged) + "\n");
        if (receipt) {
            ++acknowledged;
            acknowledged_checkpoints.push_back(receipt->checkpoint);
        } else {
            const Errc code = receipt.error().code();
            INFO(name_of(code) << ": " << receipt.error().message());
            CHECK((code == Errc::conflict || code == Errc::no_checkpoint || code == Errc::busy));
            ++refused;
        }
    }
    saving.join();
    CHECK(desk.records("file_written").size() == static_cast<std::size_t>(acknowledged));
    for (const std::string& id : acknowledged_checkpoints) {
        CHECK_FALSE(must(desk.store->find(id)).written_commit.empty());
    }
    CHECK(acknowledged + refused > 0);
    CHECK(desk.get("memory/a.md").size() > 4);
    CHECK(desk.fsck() == "");
}
