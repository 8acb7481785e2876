// Power cuts at random instants: what reached the disk stays, the rest is gone; then the desk is
// opened again. DAYBOOK_CUT_ROUNDS and DAYBOOK_CUT_SEED set the rounds and the seed. The same
// without cutting the power, kill -9 only: DAYBOOK_DESK_KILL_ROUNDS.
#include <cstdlib>
#include <memory>
#include <random>

#include "tests/catch.hpp"
#include "tests/fault/cut_disk.hpp"
#include "tests/fault/desk_writer.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

std::uint64_t number_of(const char* variable, std::uint64_t fallback) {
    const char* text = std::getenv(variable);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

/// Objects that are there by name only.
std::size_t empty_objects(const fs::path& repository) {
    std::size_t count = 0;
    if (!fs::is_directory(repository / "objects")) {
        return 0;
    }
    for (const auto& entry : fs::recursive_directory_iterator(repository / "objects")) {
        count += entry.is_regular_file() && entry.file_size() == 0 ? 1U : 0U;
    }
    return count;
}

/// Runs a writer until a random instant; a third of them within its start.
class Instant {
  public:
    explicit Instant(std::mt19937_64& random)
        : in_start_(random() % 3 == 0),
          delay_(in_start_ ? random() % 40'000 : random() % 500'000) {}

    void wait(Writer& writer) const {
        if (!in_start_) {
            writer.wait_started(std::chrono::seconds(20));
        }
        writer.listen(std::chrono::microseconds(delay_));
    }
    [[nodiscard]] std::uint64_t microseconds() const { return delay_; }

  private:
    bool in_start_;
    std::uint64_t delay_;
};

/// Opens the desk, compares it with what was promised, and closes it again.
void look(const fs::path& root, Promises& promises) {
    DiskDesk desk(root);
    const Result<> started = desk.start();
    INFO((started ? "" : started.error().message()));
    REQUIRE(started);
    CHECK(promises.check(desk) == "");
}

/// One disk and a chain of cuts on it. A cut may follow the one before without a look in between:
/// then what recovery did is cut too.
void cut_disk(const std::string& options,
              std::uint64_t cuts,
              std::mt19937_64& random,
              Promises& promises,
              std::uint64_t& first_op,
              std::size_t& emptied) {
    CutDisk disk("64", options);
    REQUIRE(disk.why_not() == "");
    const fs::path root = disk.place() / "home";
    fs::create_directories(root);
    for (std::uint64_t cut = 1; cut <= cuts; ++cut) {
        const Instant instant(random);
        first_op += kOpsOfAWriter;
        std::string said;
        {
            Writer writer(root, random(), first_op);
            instant.wait(writer);
            writer.freeze();
            REQUIRE(disk.cut());
            writer.kill();
            said = writer.output();
        }
        INFO("cut " << cut << " after " << instant.microseconds() << " us, mount options \""
                    << options << "\"");
        CHECK(said.find("failed") == std::string::npos);
        if (said.find("failed") != std::string::npos) {
            FAIL(said.substr(said.find("failed")));
        }
        promises.hear(said);
        disk.power_on();
        emptied += empty_objects(root / "workspace/.checkpoints/main.git");
        if (random() % 3 != 0 || cut == cuts) {
            look(root, promises);
        }
    }
}

}  // namespace

TEST_CASE("after a power cut at a random moment all that was acknowledged is there, whole",
          "[fault]") {
    const std::uint64_t rounds = number_of("DAYBOOK_CUT_ROUNDS", 5);
    const std::uint64_t seed = number_of("DAYBOOK_CUT_SEED", 20261019);
    if (const CutDisk disk; !disk.why_not().empty()) {
        WARN("skipped: " << disk.why_not());
        return;
    }
    std::mt19937_64 random(seed);
    std::size_t writes = 0;
    std::size_t emptied = 0;
    std::uint64_t first_op = 0;
    INFO("seed " << seed);
    // The journal of the file system is written every 5 s, or every second; a file's bytes before a
    // rename over another, or not.
    const char* kOptions[] = {"", "commit=1,noauto_da_alloc", "commit=1", "noauto_da_alloc"};
    constexpr std::uint64_t kCutsOfADisk = 20;
    for (std::uint64_t done = 0, disk = 0; done < rounds; ++disk) {
        const std::uint64_t cuts = std::min(kCutsOfADisk, rounds - done);
        Promises promises;
        cut_disk(kOptions[disk % 4], cuts, random, promises, first_op, emptied);
        writes += promises.writes();
        done += cuts;
    }
    WARN("seed " << seed << ": " << rounds << " power cuts, " << writes << " acknowledged writes, "
                 << emptied << " objects found empty");
    CHECK(writes > rounds);
}

TEST_CASE("after kill -9 at a random moment all that was acknowledged is there, whole", "[fault]") {
    const std::uint64_t rounds = number_of("DAYBOOK_DESK_KILL_ROUNDS", 30);
    const std::uint64_t seed = number_of("DAYBOOK_CUT_SEED", 20261019);
    std::mt19937_64 random(seed);
    std::size_t writes = 0;
    std::uint64_t first_op = 0;
    INFO("seed " << seed);
    constexpr std::uint64_t kKillsOfADesk = 50;
    for (std::uint64_t done = 0; done < rounds;) {
        const TempFolder folder;
        Promises promises;
        const std::uint64_t kills = std::min(kKillsOfADesk, rounds - done);
        for (std::uint64_t round = 1; round <= kills; ++round) {
            const Instant instant(random);
            first_op += kOpsOfAWriter;
            Writer writer(folder.path(), random(), first_op);
            instant.wait(writer);
            writer.kill();
            INFO("kill " << round << " after " << instant.microseconds() << " us");
            CHECK(writer.output().find("failed") == std::string::npos);
            if (writer.output().find("failed") != std::string::npos) {
                FAIL(writer.output().substr(writer.output().find("failed")));
            }
            promises.hear(writer.output());
            look(folder.path(), promises);
        }
        writes += promises.writes();
        done += kills;
    }
    WARN("seed " << seed << ": " << rounds << " kills, " << writes << " acknowledged writes");
    CHECK(writes > rounds);
}
