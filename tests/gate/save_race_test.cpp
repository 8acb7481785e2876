// The owner saves in a hot race with the gate, by exchanging files and by writing in place; every
// save is accounted for. DAYBOOK_RACE_SAVES sets how many there are of each.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <set>
#include <thread>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"
#include "tests/support/fault_os.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

constexpr const char* kFile = "memory/a.md";

int saves() {
    const char* text = std::getenv("DAYBOOK_RACE_SAVES");
    return text != nullptr ? std::atoi(text) : 200;
}

/// What an editor did: its saves, and those that it replaced itself.
struct Saved {
    std::set<std::string> all, replaced_by_owner;
};

/// Between two saves: from nothing to three milliseconds, about as long as a write of the gate's.
void pause_before(int save) {
    constexpr int kPrime = 7919;
    std::this_thread::sleep_for(std::chrono::microseconds(save * kPrime % 3000));
}

/// Writes beside the file and exchanges the two, so that it knows what each save replaced.
void save_by_exchange(GatedDesk& desk, Saved& saved) {
    const auto dir = must(desk.os.open_root(desk.folder / "memory"));
    for (int i = 0; i < saves(); ++i) {
        const std::string text = "owner-" + std::to_string(i) + "-";
        std::ofstream(desk.folder / "memory/.o~") << text << "\n";
        if (!desk.os.exchange(dir.get(), ".o~", "a.md")) {
            continue;
        }
        saved.all.insert(text);
        std::ifstream displaced(desk.folder / "memory/.o~");
        std::string line;
        std::getline(displaced, line);
        saved.replaced_by_owner.insert(line);
        pause_before(i);
    }
    std::filesystem::remove(desk.folder / "memory/.o~");
}

/// Every fourth save lingers between opening and writing, as long as an editor with a slow disk.
void save_in_place(GatedDesk& desk, Saved& saved) {
    constexpr int kLingers = 4;
    for (int i = 0; i < saves(); ++i) {
        pause_before(i);
        const std::string text = "owner-" + std::to_string(i) + "-";
        const std::string line = text + "\n";
        const UniqueFd file(::open((desk.folder / kFile).c_str(), O_WRONLY | O_APPEND));
        if (i % kLingers == 0) {
            std::this_thread::sleep_for(std::chrono::microseconds(500));
        }
        if (file &&
            ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size())) {
            saved.all.insert(text);
        }
    }
}

struct Outcome {
    int written = 0, refused = 0;
    std::set<std::string> lost;
};

Outcome race(GatedDesk& desk, FaultOs& quick, void (*save)(GatedDesk&, Saved&)) {
    desk.put(kFile, "start\n");
    quick.skip_syncs(true);
    REQUIRE(desk.start_with(quick));
    Saved saved;
    std::atomic<bool> done{false};
    std::thread owner([&] {
        save(desk, saved);
        done = true;
    });
    Outcome outcome;
    while (!done) {
        const auto read = desk.gate->read(desk.shown, path_of(kFile));
        const auto wrote = read ? desk.replace(kFile, "desk " + std::to_string(outcome.written))
                                : Result<WriteReceipt>(read.error());
        outcome.written += wrote ? 1 : 0;
        outcome.refused += wrote ? 0 : 1;
    }
    owner.join();
    REQUIRE(desk.gate->tend_trash(std::chrono::seconds(0)));
    REQUIRE(desk.store->record_owner_edits());
    REQUIRE(desk.store->publish());
    const std::string history = desk.git("log -p --text --format= checkpoints").output;
    for (const std::string& text : saved.all) {
        if (history.find(text) == std::string::npos && !saved.replaced_by_owner.contains(text)) {
            outcome.lost.insert(text);
        }
    }
    CHECK(saved.all.size() > static_cast<std::size_t>(saves() / 2));
    return outcome;
}

}  // namespace

TEST_CASE("no save by exchange is lost in a race with the gate", "[gate]") {
    LinuxOs real;
    FaultOs quick(real);  // outlives the desk
    GatedDesk desk;
    const Outcome outcome = race(desk, quick, save_by_exchange);
    INFO("written " << outcome.written << ", refused " << outcome.refused);
    CHECK(outcome.written > 0);
    CHECK(outcome.lost == std::set<std::string>());
    CHECK(desk.fsck() == "");
}

TEST_CASE("no save in place is lost in a race with the gate", "[gate]") {
    LinuxOs real;
    FaultOs quick(real);  // outlives the desk
    GatedDesk desk;
    const Outcome outcome = race(desk, quick, save_in_place);
    INFO("written " << outcome.written << ", refused " << outcome.refused);
    CHECK(outcome.written > 0);
    CHECK(outcome.lost == std::set<std::string>());
    CHECK(desk.fsck() == "");
}
