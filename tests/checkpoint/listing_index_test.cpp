// The listing index: the same answers with and without it, whatever became of its file.
#include "host/checkpoint/listing_index.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "host/checkpoint/checkpoint_reader.hpp"
#include "host/checkpoint/forget.hpp"
#include "host/checkpoint/sqlite_database.hpp"
#include "host/checkpoint/verify.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

std::string text_of(const Checkpoint& c) {
    std::string text = c.id + " " + c.commit + " " + c.kind + " " + c.file + " " + c.base_sha256 +
                       " " + c.intended_sha256 + " " + c.written_commit + " " + c.why.reason + " " +
                       c.why.tool + " " + c.why.restores + " " + to_rfc3339(c.at);
    for (const std::string& name : c.skipped) {
        text += " skipped " + name;
    }
    return text + "\n";
}

std::string text_of(const std::vector<Checkpoint>& page) {
    std::string text;
    for (const Checkpoint& checkpoint : page) {
        text += text_of(checkpoint);
    }
    return text;
}

std::string answer_of(const Result<Checkpoint>& found) {
    return found ? text_of(*found) : found.error().message();
}

struct Listed : Desk {
    fs::path index = repository / "daybook.index";

    /// Writes, edits of one file and of several, a conflict, one that was given up, one by hand.
    void fill(int rounds, int start = 0) {
        for (int i = start; i < start + rounds; ++i) {
            const std::string text = "version " + std::to_string(i) + "\n";
            REQUIRE(write("memory/a.md", text));
            REQUIRE(write("notes/2026-10-" + std::to_string(10 + i % 9) + ".md", text));
            put("memory/b.md", text);
            put("memory/c.md", text);
            REQUIRE(store->record_owner_edits());
            put("Memory.md", text);
            REQUIRE(store->record_owner_edits());
            REQUIRE(store->keep_conflict(path_of("memory/a.md"), "refused " + text, {}));
            const auto given_up = store->take(
                path_of("memory/a.md"), sha256_hex(text), sha256_hex("never"), {}, "never");
            REQUIRE(given_up);
            store->not_written(*given_up);
            REQUIRE(store->take_manual("by hand " + std::to_string(i)));
        }
    }

    /// What the chain of commits says: read without an index, through another class.
    [[nodiscard]] std::vector<Checkpoint> chain() {
        REQUIRE(store->publish());
        const auto reader = must(CheckpointReader::open(os, repository));
        std::vector<Checkpoint> all;
        for (const auto& [id, checkpoint] : reader.all()) {
            all.push_back(checkpoint);
        }
        std::sort(all.begin(), all.end(), [](const Checkpoint& a, const Checkpoint& b) {
            return a.number > b.number;
        });
        return all;
    }

    /// Every kind of question, against the chain.
    void check_answers() {
        const std::vector<Checkpoint> all = chain();
        CHECK(text_of(must(store->list(10000))) == text_of(all));
        const auto some = static_cast<std::ptrdiff_t>(std::min<std::size_t>(7, all.size()));
        CHECK(text_of(must(store->list(7))) == text_of({all.begin(), all.begin() + some}));
        std::string paged;
        for (std::uint64_t before = all.front().number + 1; before > 1;) {
            const auto page = must(store->list(5, before));
            paged += text_of(page);
            before = page.empty() ? 0 : page.back().number;
        }
        CHECK(paged == text_of(all));
        for (std::size_t i = 0; i < all.size(); i += 3) {
            CHECK(answer_of(store->find(all[i].id)) == text_of(all[i]));
            CHECK(answer_of(store->find(all[i].commit.substr(0, 12))) == text_of(all[i]));
            if (!all[i].written_commit.empty()) {
                CHECK(answer_of(store->find(all[i].written_commit.substr(0, 13))) ==
                      text_of(all[i]));
            }
        }
        CHECK(store->find("c-999999").error().code() == Errc::not_found);
        CHECK(store->find("0000000").error().code() == Errc::not_found);
    }
    [[nodiscard]] std::string index_fault() {
        REQUIRE(store->publish());
        const auto report = must(verify_checkpoints(os, {folder, repository}));
        std::string text;
        for (const std::string& note : report.notes) {
            text += note.find("listing index") == std::string::npos ? "" : note;
        }
        CHECK(report.findings.empty());
        return text;
    }
};

void overwrite(const fs::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

std::string bytes_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("a page, an id and the start of a commit's id are answered as the commits say",
          "[checkpoint]") {
    Listed desk;
    REQUIRE(desk.open());
    desk.check_answers();
    desk.fill(6);
    CHECK(fs::exists(desk.index));
    desk.check_answers();
    desk.fill(4, 6);  // it catches up
    desk.check_answers();
    CHECK(desk.index_fault() == "");
    REQUIRE(desk.open());
    desk.check_answers();
    CHECK(desk.index_fault() == "");
    CHECK(desk.fsck() == "");
}

TEST_CASE("one file's history is what was written, edited and put back of it", "[checkpoint]") {
    Listed desk;
    REQUIRE(desk.open());
    desk.fill(3);
    const auto numbers = [&](const std::string& file, std::size_t limit, std::uint64_t before) {
        std::string text;
        for (const Checkpoint& each : must(desk.store->list(limit, before, file))) {
            text += each.id + ":" + each.kind + " ";
        }
        return text;
    };
    // Of each round: two writes, an edit of two files, one of Memory.md, a conflict, one given up,
    // one by hand.
    CHECK(numbers("memory/a.md", 100, 0) ==
          "c-21:write c-20:conflict c-16:write c-14:write c-13:conflict c-9:write c-7:write "
          "c-6:conflict c-2:write ");
    CHECK(numbers("memory/a.md", 2, 14) == "c-13:conflict c-9:write ");
    CHECK(numbers("memory/c.md", 100, 0) == "c-18:edited c-11:edited c-4:edited ");
    CHECK(numbers("Memory.md", 1, 0) == "c-19:edited ");
    CHECK(numbers("memory/none.md", 9, 0).empty());
    const auto by_index = numbers("memory/c.md", 100, 0) + numbers("memory/a.md", 100, 15);
    fs::remove(desk.index);
    fs::create_directory(desk.index);  // it cannot be opened: the commits are asked
    CHECK(numbers("memory/c.md", 100, 0) + numbers("memory/a.md", 100, 15) == by_index);
    desk.check_answers();
}

TEST_CASE("a damaged, cut, foreign or older index is made anew, and no answer changes",
          "[checkpoint]") {
    Listed desk;
    REQUIRE(desk.open());
    desk.fill(5);
    desk.check_answers();
    const std::string whole = bytes_of(desk.index);
    REQUIRE(whole.size() > 4096);
    SECTION("garbage") {
        overwrite(desk.index, "no database");
    }
    SECTION("empty") {
        overwrite(desk.index, "");
    }
    SECTION("cut at half") {
        overwrite(desk.index, whole.substr(0, whole.size() / 2));
    }
    SECTION("cut in a page") {
        overwrite(desk.index, whole.substr(0, 5000));
    }
    SECTION("of another version") {
        auto database = must(SqliteDatabase::open(desk.index, SqliteDatabase::Syncs::never));
        REQUIRE(database.run("UPDATE state SET version = 0"));
    }
    SECTION("of another shape") {
        fs::remove(desk.index);
        auto database = must(SqliteDatabase::open(desk.index, SqliteDatabase::Syncs::never));
        REQUIRE(database.run("CREATE TABLE entry(something TEXT); CREATE TABLE state(x TEXT)"));
    }
    SECTION("gone") {
        fs::remove(desk.index);
    }
    desk.check_answers();
    CHECK(desk.index_fault() == "");
}

TEST_CASE("flipped bits of the index never change what a checkpoint says", "[checkpoint]") {
    Listed desk;
    REQUIRE(desk.open());
    desk.fill(5);
    const std::vector<Checkpoint> all = desk.chain();
    (void)must(desk.store->list(10000));
    const std::string whole = bytes_of(desk.index);
    std::mt19937 random(20261201);
    for (int round = 0; round < 60; ++round) {
        std::string bytes = whole;
        bytes[random() % bytes.size()] ^= static_cast<char>(1U << (random() % 8));
        overwrite(desk.index, bytes);
        for (const Checkpoint& each : must(desk.store->list(9, 1 + random() % 40))) {
            CHECK(text_of(each) == text_of(all.at(all.size() - each.number)));
        }
        const std::string id = "c-" + std::to_string(1 + random() % all.size());
        const auto found = desk.store->find(id);
        CHECK((!found || found->id == id));
    }
}

TEST_CASE("an index of another time or another repository is not believed", "[checkpoint]") {
    Listed desk, other;
    REQUIRE(desk.open());
    REQUIRE(other.open());
    desk.fill(2);
    desk.check_answers();
    const std::string early = bytes_of(desk.index);
    desk.fill(3, 2);
    desk.check_answers();
    overwrite(desk.index, early);  // a copy that was put back: it catches up
    desk.check_answers();
    CHECK(desk.index_fault() == "");
    (void)other.clock.advance_to(Timestamp(std::chrono::seconds(1'770'000'000)));
    other.fill(4);
    overwrite(other.index, bytes_of(desk.index));
    other.check_answers();
    CHECK(other.index_fault() == "");
}

TEST_CASE("an index that cannot be written changes no answer and fails no write", "[checkpoint]") {
    Listed desk;
    REQUIRE(desk.open());
    desk.fill(2);
    fs::remove(desk.index);
    fs::create_directory(desk.index);
    desk.check_answers();
    desk.fill(2, 2);
    desk.check_answers();
    REQUIRE(desk.open());
    desk.check_answers();
}

TEST_CASE("whoever is killed while filling the index leaves one that answers", "[checkpoint]") {
    Listed desk;
    REQUIRE(desk.open());
    desk.fill(12);
    const std::vector<Checkpoint> all = desk.chain();
    std::mt19937 random(7);
    for (int round = 0; round < 20; ++round) {
        const pid_t child = ::fork();
        if (child == 0) {
            const UniqueFd folder = std::move(*desk.os.open_root(desk.repository));
            Os& os = desk.os;
            const UniqueFd objects_fd =
                std::move(*os.open_beneath(folder.get(), "objects", OpenMode::directory));
            auto objects = GitObjects::open(desk.os, desk.repository / "objects", objects_fd.get());
            ListingIndex index(desk.os, desk.repository, folder.get());
            while (objects) {
                const GitId newest = *GitId::from_hex(all.front().commit);
                const GitId first = *GitId::from_hex(all.back().commit);
                (void)index.catch_up(**objects, first);  // not of its chain: made anew each time
                (void)index.catch_up(**objects, newest);
            }
            ::_exit(1);
        }
        ::usleep(1000 + static_cast<unsigned>(random() % 20'000));
        ::kill(child, SIGKILL);
        int status = 0;
        ::waitpid(child, &status, 0);
        REQUIRE(WIFSIGNALED(status));
        CHECK(text_of(must(desk.store->list(10000))) == text_of(all));
        CHECK(answer_of(desk.store->find("c-9")) == text_of(all.at(all.size() - 9)));
        CHECK(desk.index_fault() == "");
    }
}

TEST_CASE("verify notes an index that does not say what the commits say", "[checkpoint]") {
    Listed desk;
    REQUIRE(desk.open());
    desk.fill(3);
    (void)must(desk.store->list(10000));
    CHECK(desk.index_fault() == "");
    {
        auto database = must(SqliteDatabase::open(desk.index, SqliteDatabase::Syncs::never));
        REQUIRE(database.run("DELETE FROM entry WHERE number = 5"));
    }
    CHECK(desk.index_fault().find("made anew") != std::string::npos);
    desk.fill(1, 3);
}

TEST_CASE("forget takes the index away: names stand in it", "[checkpoint]") {
    Listed desk;
    REQUIRE(desk.open());
    REQUIRE(desk.write("memory/hunter2.md", "x\n"));
    (void)must(desk.store->list(10000));
    REQUIRE(desk.store->publish());
    desk.store.reset();
    REQUIRE(bytes_of(desk.index).find("hunter2") != std::string::npos);
    const TextMask mask = must(TextMask::of({"hunter2"}));
    REQUIRE(forget_in_history(desk.os, desk.repository, mask, false));
    CHECK_FALSE(fs::exists(desk.index));
}
