// The journalled form: one sync a checkpoint, replay of what git lost, growth into packs, and both
// forms on one repository.
#include <algorithm>
#include <csignal>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/support/must.hpp"
#include "tests/support/sync_hook.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

struct Journalled : Desk {
    Journalled() { form = CheckpointForm::journalled; }

    /// Runs on a store of a child process, which is then killed: what was not written stays so, and
    /// nothing is tidied up.
    template <class Work>
    void and_die(Work work) {
        store.reset();
        const pid_t child = ::fork();
        if (child == 0) {
            if (open()) {
                work(*this);
            }
            ::kill(::getpid(), SIGKILL);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        REQUIRE(WIFSIGNALED(status));
    }
    [[nodiscard]] std::vector<fs::path> files_of(const std::string& place,
                                                 const std::string& ending) const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::recursive_directory_iterator(repository / place)) {
            if (entry.is_regular_file() && entry.path().string().ends_with(ending)) {
                found.push_back(entry.path());
            }
        }
        return found;
    }
    [[nodiscard]] std::vector<fs::path> loose() const {
        auto found = files_of("objects", "");
        std::erase_if(found, [](const fs::path& file) {
            return file.parent_path().filename().string().size() != 2;
        });
        return found;
    }
};

void overwrite(const fs::path& file, const std::string& bytes) {
    ::chmod(file.c_str(), 0644);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("a checkpoint takes exactly one sync, and recording what was written takes none",
          "[checkpoint]") {
    Journalled desk;
    desk.put("Memory.md", "0\n");
    REQUIRE(desk.open());
    REQUIRE(desk.write("Memory.md", "1\n"));  // opens the record log
    REQUIRE(desk.store->publish());
    std::string before = "1\n";
    // The writer's own: git's objects and packs follow on a thread that it does not wait for.
    for (int i = 2; i < 12; ++i) {
        const std::string text = std::to_string(i) + "\n";
        const std::uint64_t start = syncs_of_this_thread();
        const auto taken =
            desk.store->take(path_of("Memory.md"), sha256_hex(before), sha256_hex(text), {}, text);
        const std::uint64_t took = syncs_of_this_thread();
        REQUIRE(taken);
        INFO("write " << i);
        CHECK(took - start == 1);
        desk.put("Memory.md", text);
        REQUIRE(desk.store->record_written(*taken, path_of("Memory.md"), text));
        CHECK(syncs_of_this_thread() - took == 0);
        before = text;
    }
    CHECK(desk.fsck() == "");
}

TEST_CASE("what was recorded is there after a kill, with the same ids, and git sees it",
          "[checkpoint]") {
    Journalled desk;
    desk.put("Memory.md", "0\n");
    REQUIRE(desk.open());
    desk.and_die([](Desk& d) {
        std::string ids;
        for (int i = 1; i <= 20; ++i) {
            const auto taken = d.write("Memory.md", std::to_string(i) + "\n");
            ids += taken ? taken->commit + "\n" : "failed\n";
        }
        d.home.write("ids", ids);
    });
    REQUIRE(desk.open());
    CHECK(desk.fsck() == "");
    CHECK_FALSE(desk.store->recovery().owner_edited);
    CHECK(must(desk.store->list(1)).front().id == "c-21");
    std::istringstream ids(desk.home.read("ids"));
    std::uint64_t number = 2;
    for (std::string id; std::getline(ids, id); ++number) {
        const Checkpoint found = must(desk.store->find("c-" + std::to_string(number)));
        CHECK(found.commit == id);
        CHECK(found.written_commit.size() == 40);
        CHECK(**desk.store->read(found, path_of("Memory.md")) == std::to_string(number - 2) + "\n");
    }
    CHECK(number == 22);
}

TEST_CASE("objects and ref that a power cut emptied are made again from the record log",
          "[checkpoint]") {
    for (const std::string& bytes : {std::string(), std::string(60, '\0')}) {
        Journalled desk;
        desk.put("Memory.md", "0\n");
        REQUIRE(desk.open());
        desk.and_die([](Desk& d) {
            for (int i = 1; i <= 5; ++i) {
                (void)d.write("notes/2026-10-19.md", std::to_string(i) + "\n");
            }
            ::usleep(300'000);  // so that git has loose objects that no sync has reached
        });
        const auto loose = desk.loose();
        CHECK(loose.size() >= 20);
        for (const fs::path& file : loose) {
            overwrite(file, bytes);
        }
        overwrite(desk.repository / "refs/heads/checkpoints", bytes);
        CHECK(desk.fsck() != "");
        const Result<> opened = desk.open();
        INFO((opened ? "" : opened.error().message()));
        REQUIRE(opened);
        CHECK(desk.fsck() == "");
        CHECK(must(desk.store->list(1)).front().id == "c-6");
        CHECK(desk.git("show HEAD:notes/2026-10-19.md").output == "5\n");
        REQUIRE(desk.write("Memory.md", "after\n"));
    }
}

TEST_CASE("a store that is closed leaves everything in one pack and an empty log", "[checkpoint]") {
    Journalled desk;
    REQUIRE(desk.open());
    for (int i = 0; i < 40; ++i) {
        REQUIRE(desk.write("memory/a.md", "v" + std::to_string(i) + std::string(20'000, '.')));
    }
    CHECK(fs::file_size(desk.repository / "daybook.records-wal") > 500'000);
    desk.store.reset();
    CHECK(fs::file_size(desk.repository / "daybook.records") < 128UL * 1024);
    CHECK(fs::file_size(desk.repository / "daybook.records-wal") == 0);
    CHECK(desk.loose().empty());
    CHECK_FALSE(desk.files_of("objects/pack", ".pack").empty());
    CHECK(desk.fsck() == "");
    CHECK(desk.git_now("rev-list --count HEAD").output == "81\n");
    // Nothing is left for a plain store to replay.
    desk.form = CheckpointForm::plain;
    REQUIRE(desk.open());
    CHECK(desk.store->recovery().removed_leftovers.empty());
    CHECK(must(desk.store->find("c-41")).file == "memory/a.md");
}

TEST_CASE("packs do not pile up, and a checkpoint after they were merged succeeds (M36, M37)",
          "[checkpoint]") {
    Journalled desk;
    REQUIRE(desk.open());
    for (int i = 0; i < 40; ++i) {
        REQUIRE(desk.write("memory/a.md", "version " + std::to_string(i) + "\n"));
        REQUIRE(desk.store->publish());
    }
    CHECK(desk.files_of("objects/pack", ".pack").size() <= 17);
    CHECK(desk.files_of("objects/pack", ".pack").size() ==
          desk.files_of("objects/pack", ".idx").size());
    CHECK(desk.fsck() == "");
    CHECK(**desk.store->read(must(desk.store->find("c-3")), path_of("memory/a.md")) ==
          "version 0\n");
    REQUIRE(desk.write("memory/a.md", "after\n"));
    REQUIRE(desk.open());
    CHECK(desk.git_now("rev-list --count HEAD").output == "83\n");
}

TEST_CASE("a repository goes from one form to the other and back, also after a kill",
          "[checkpoint]") {
    Journalled desk;
    desk.form = CheckpointForm::plain;
    desk.put("Memory.md", "0\n");
    REQUIRE(desk.open());
    REQUIRE(desk.write("Memory.md", "plain\n"));
    desk.form = CheckpointForm::journalled;
    desk.and_die([](Desk& d) { (void)d.write("Memory.md", "journalled\n"); });
    desk.form = CheckpointForm::plain;
    REQUIRE(desk.open());
    CHECK_FALSE(desk.store->redoes_writes());
    CHECK(must(desk.store->list(1)).front().id == "c-3");
    REQUIRE(desk.write("Memory.md", "plain again\n"));
    CHECK(desk.git_now("show HEAD:Memory.md").output == "plain again\n");
    desk.form = CheckpointForm::journalled;
    REQUIRE(desk.open());
    REQUIRE(desk.write("Memory.md", "end\n"));
    CHECK(desk.git("log --format=%s HEAD -- Memory.md").output ==
          "wrote Memory.md\nwrote Memory.md\nwrote Memory.md\nwrote Memory.md\nfirst checkpoint of "
          "desk main\n");
    CHECK(desk.fsck() == "");
}

TEST_CASE("a sync that fails closes the desk, and is not tried again", "[checkpoint]") {
    Journalled desk;
    desk.put("Memory.md", "0\n");
    REQUIRE(desk.open());
    REQUIRE(desk.write("Memory.md", "1\n"));
    fail_syncs_of("daybook.records-wal");
    const auto failed =
        desk.store->take(path_of("Memory.md"), sha256_hex("1\n"), sha256_hex("2\n"), {}, "2\n");
    fail_syncs_of("");
    REQUIRE_FALSE(failed);
    CHECK(failed.error().code() == Errc::no_checkpoint);
    const std::uint64_t before = syncs_of_process();
    const auto closed =
        desk.store->take(path_of("Memory.md"), sha256_hex("1\n"), sha256_hex("2\n"), {}, "2\n");
    REQUIRE_FALSE(closed);
    CHECK(closed.error().code() == Errc::no_checkpoint);
    CHECK(closed.error().message().find("until the next start") != std::string::npos);
    CHECK(syncs_of_process() == before);
    REQUIRE(desk.open());
    REQUIRE(desk.write("Memory.md", "3\n"));
    CHECK(desk.fsck() == "");
}

TEST_CASE("a sync that fails while records go to git closes the desk too, and loses none",
          "[checkpoint]") {
    for (const char* ending : {".pack", ".idx", "objects/pack", "daybook.tip", "refs/heads"}) {
        Journalled desk;
        desk.put("Memory.md", "0\n");
        REQUIRE(desk.open());
        REQUIRE(desk.write("Memory.md", "1\n"));
        fail_syncs_of(ending);
        const Result<> published = desk.store->publish();
        fail_syncs_of("");
        INFO(ending);
        if (!published) {
            const auto closed = desk.write("Memory.md", "2\n");
            REQUIRE_FALSE(closed);
            CHECK(closed.error().message().find("until the next start") != std::string::npos);
        }
        CHECK((published.has_value() == (std::string(ending) == "refs/heads")));
        REQUIRE(desk.open());
        CHECK(must(desk.store->find("c-2")).written_commit.size() == 40);
        REQUIRE(desk.write("Memory.md", "3\n"));
        CHECK(desk.fsck() == "");
    }
}

TEST_CASE("an owner's edit that is too large for a record is durable all the same",
          "[checkpoint]") {
    Journalled desk;
    REQUIRE(desk.open());
    REQUIRE(desk.write("memory/a.md", "a\n"));
    desk.put("memory/large.md", std::string(6UL << 20, 'x'));
    const auto edited = desk.store->record_owner_edits();
    REQUIRE(edited);
    REQUIRE(edited->has_value());
    CHECK(fs::file_size(desk.repository / "daybook.records-wal") < (3UL << 20));
    desk.and_die([](Desk& d) { (void)d.write("memory/a.md", "b\n"); });
    REQUIRE(desk.open());
    CHECK(must(desk.store->files(must(desk.store->find((*edited)->id)))).at("memory/large.md") ==
          6UL << 20);
    CHECK_FALSE(desk.store->recovery().owner_edited);
    CHECK(desk.fsck() == "");
}

TEST_CASE("a garbled record log is an error that says what to do", "[checkpoint]") {
    Journalled desk;
    REQUIRE(desk.open());
    REQUIRE(desk.write("memory/a.md", "a\n"));
    desk.store.reset();
    overwrite(desk.repository / "daybook.records", "this is no database, whatever its name says");
    const Result<> opened = desk.open();
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code() == Errc::corrupt);
    CHECK(opened.error().message().find("daybook.records") != std::string::npos);
}
