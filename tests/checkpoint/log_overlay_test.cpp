// What stands in the record log of a killed host is seen by readers that change nothing.
#include "host/checkpoint/log_overlay.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/checkpoint/checkpoint_reader.hpp"
#include "host/checkpoint/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

constexpr int kWrites = 12;

std::string content_of(int i) {
    return "# content " + std::to_string(i) + "\n";
}

/// c-2 to c-13 are in the log of a process that was killed, and perhaps loose in git.
struct Killed : Desk {
    Killed() : Desk(CheckpointForm::journalled) {
        put("Memory.md", content_of(0));
        const pid_t child = ::fork();
        if (child == 0) {
            bool is_well = open().has_value();
            for (int i = 1; is_well && i <= kWrites; ++i) {
                is_well =
                    write(i % 3 == 0 ? "memory/x.md" : "Memory.md", content_of(i)).has_value();
            }
            if (is_well) {
                ::kill(::getpid(), SIGKILL);
            }
            ::_exit(1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        REQUIRE(WIFSIGNALED(status));
    }

    [[nodiscard]] std::vector<fs::path> objects() const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::recursive_directory_iterator(repository / "objects")) {
            if (entry.is_regular_file() &&
                entry.path().parent_path().filename().string().size() == 2) {
                found.push_back(entry.path());
            }
        }
        return found;
    }
    /// As a power cut leaves loose objects and the ref that were never synced.
    void empty_unsynced() const {
        for (const fs::path& file : objects()) {
            ::chmod(file.c_str(), 0644);
            std::ofstream(file, std::ios::trunc).close();
        }
        std::ofstream(repository / "refs/heads/checkpoints", std::ios::trunc).close();
    }
    /// Names, contents and times of everything in the repository's folder.
    [[nodiscard]] std::map<std::string, std::string> state() const {
        std::map<std::string, std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator(repository)) {
            if (entry.is_regular_file()) {
                const std::string name = fs::relative(entry.path(), home.path()).string();
                found[name] = sha256_hex(home.read(name)) + " " +
                              std::to_string(entry.last_write_time().time_since_epoch().count());
            }
        }
        return found;
    }
    VerifyReport look() { return must(verify_checkpoints(os, {folder, repository})); }
};

bool notes(const VerifyReport& report, const std::string& text) {
    return std::any_of(report.notes.begin(), report.notes.end(), [&](const std::string& note) {
        return note.find(text) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("verify sees the checkpoints of a killed host's record log and changes nothing",
          "[checkpoint]") {
    Killed desk;
    const bool is_cut = GENERATE(false, true);
    if (is_cut) {
        desk.empty_unsynced();
    }
    const auto before = desk.state();
    const VerifyReport report = desk.look();
    for (const VerifyFinding& finding : report.findings) {
        UNSCOPED_INFO(finding.what);
    }
    CHECK(report.findings.empty());
    CHECK(report.newest == "c-13");
    CHECK(report.checkpoints == 13);
    CHECK(notes(report, "records of the log are not in git yet"));
    CHECK_FALSE(notes(report, "differs"));
    CHECK(desk.state() == before);
    REQUIRE(desk.open());
    REQUIRE(desk.store->publish());
    const VerifyReport after = desk.look();
    CHECK(after.findings.empty());
    CHECK(after.newest == "c-13");
}

TEST_CASE("what git lost and the record log does not hold is damage, also after a kill",
          "[checkpoint]") {
    Killed desk;
    REQUIRE(desk.open());
    REQUIRE(desk.store->publish());
    desk.store.reset();
    const pid_t child = ::fork();
    if (child == 0) {
        (void)(desk.open() && desk.write("memory/new.md", "new\n"));
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    for (const auto& entry : fs::directory_iterator(desk.repository / "objects/pack")) {
        if (entry.path().extension() == ".pack") {
            fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
            fs::resize_file(entry.path(), fs::file_size(entry.path()) / 2);
        }
    }
    desk.empty_unsynced();
    CHECK_FALSE(desk.look().findings.empty());
}

TEST_CASE("a reader without a lock sees what a killed host's record log holds", "[checkpoint]") {
    Killed desk;
    if (GENERATE(false, true)) {
        desk.empty_unsynced();
    }
    const auto reader = must(CheckpointReader::open(desk.os, desk.repository));
    REQUIRE(reader.all().size() == kWrites + 1);
    const Checkpoint& last = reader.all().at("c-13");
    CHECK(last.file == "memory/x.md");
    CHECK(last.intended_sha256 == sha256_hex(content_of(12)));
    CHECK(last.written_commit.size() == 40);
    CHECK(must(reader.sha256_of(last, "memory/x.md")) == sha256_hex(content_of(9)));
    CHECK(must(reader.sha256_of(last, "Memory.md")) == sha256_hex(content_of(11)));
}

TEST_CASE("the copy of the record log is private and gone afterwards", "[checkpoint]") {
    Killed desk;
    const TempFolder temporary;
    const char* former = std::getenv("TMPDIR");
    const std::string kept = former == nullptr ? "/tmp" : former;
    ::setenv("TMPDIR", temporary.path().c_str(), 1);
    UniqueFd folder = must(desk.os.open_root(desk.repository));
    const auto overlay = read_log_overlay(desk.os, desk.repository, folder.get());
    ::setenv("TMPDIR", kept.c_str(), 1);
    REQUIRE(overlay);
    CHECK(overlay->tip);
    CHECK(overlay->is_unclean);
    CHECK(overlay->records == 2 * kWrites);
    CHECK(fs::is_empty(temporary.path()));
}
