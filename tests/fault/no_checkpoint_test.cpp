// No checkpoint, no write: whatever keeps a checkpoint from being made, the file stays as it is,
// the refusal says why, the daemon lives, and writing goes on when the cause is gone.
#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/format/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/fault/attacked_home.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kFile = "memory/rules.md";

/// A host with a note and a file, so that each write tool has something to change.
void start_with_files(Home& home) {
    home.start();
    REQUIRE(call_tool(home, "add_note", Json::object().set("text", "the first note")));
    REQUIRE(call_tool(
        home, "write_file", Json::object().set("path", kFile).set("text", "wait for the close\n")));
}

/// The form in which each write makes files of its own in the repository.
void start_plain_with_files(Home& home) {
    home.write("daybook.toml",
               config_text("checkpoints = \"plain\"", desk_table("main", {"memory"})));
    start_with_files(home);
}

struct Write {
    const char* tool;
    Json arguments;
};

std::vector<Write> writes(const Home& home, const std::string& mark) {
    const std::string base = sha256_hex(contents_of(workspace(home) / kFile));
    return {{"add_note", Json::object().set("text", "a note " + mark)},
            {"write_file",
             Json::object()
                 .set("path", kFile)
                 .set("text", "never wait " + mark + "\n")
                 .set("base_sha256", base)},
            {"edit_file",
             Json::object()
                 .set("path", kFile)
                 .set("old_text", "the close")
                 .set("new_text", "the open " + mark)
                 .set("base_sha256", base)}};
}

/// Every write tool is refused, with one of the words in the sentence, and nothing of the desk
/// changes.
void check_refused(const Home& home, const std::vector<Errc>& codes, const std::string& word) {
    const Picture before = picture_of(workspace(home));
    for (const Write& write : writes(home, "refused")) {
        const auto answer = call_tool(home, write.tool, write.arguments);
        INFO(write.tool);
        REQUIRE_FALSE(answer);
        INFO(name_of(answer.error().code()) << ": " << answer.error().message());
        CHECK(std::find(codes.begin(), codes.end(), answer.error().code()) != codes.end());
        CHECK_THAT(answer.error().message(), Catch::Contains(word));
        CHECK(answer.error().message().find('\n') == std::string::npos);
    }
    CHECK(difference(before, picture_of(workspace(home))).empty());
    CHECK(request(home, "status", Json::object()));
}

void check_works(const Home& home, const std::string& mark) {
    for (const Write& write : writes(home, mark)) {
        if (std::string(write.tool) == "write_file") {
            continue;  // it would take the text away that the edit is about
        }
        const auto answer = call_tool(home, write.tool, write.arguments);
        INFO(write.tool << ": " << (answer ? std::string("ok") : answer.error().message()));
        REQUIRE(answer);
    }
    CHECK(count_of(notes_of(home), "a note " + mark + "\n") == 1);
    CHECK_THAT(contents_of(workspace(home) / kFile), Catch::Contains("the open " + mark));
    const Json back = Json::object()
                          .set("path", kFile)
                          .set("text", "wait for the close\n")
                          .set("base_sha256", sha256_hex(contents_of(workspace(home) / kFile)));
    REQUIRE(call_tool(home, "write_file", back));
}

void check_sound(const Home& home) {
    const Shell fsck =
        shell("git --git-dir " + repository(home).string() + " fsck --full --strict");
    INFO(fsck.out);
    CHECK(fsck.code == 0);
}

std::vector<fs::path> objects_of(const Home& home) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(repository(home) / "objects")) {
        if (entry.is_regular_file()) {
            files.push_back(entry.path());
        }
    }
    return files;
}

void empty_file(const fs::path& file) {
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    fs::resize_file(file, 0);
}

fs::path object_file(const Home& home, const std::string& revision) {
    const Shell id = shell("git --git-dir " + repository(home).string() + " rev-parse " + revision);
    REQUIRE(id.code == 0);
    return repository(home) / "objects" / id.out.substr(0, 2) / id.out.substr(2, 38);
}

/// Writes zeros into a file until the disk takes no more.
void fill_disk(const fs::path& file) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    const std::string zeros(4096, '\0');
    while (::write(fd, zeros.data(), zeros.size()) > 0) {
    }
    ::close(fd);
}

}  // namespace

TEST_CASE("with the repository on a read-only disk no tool writes", "[fault]") {
    if (!is_root()) {
        WARN("skipped: only root may mount");
        return;
    }
    Home home;
    start_plain_with_files(home);
    {
        const Mount mount = Mount::read_only(repository(home));
        if (!mount.why_not().empty()) {
            WARN("skipped: " << mount.why_not());
            return;
        }
        check_refused(home, {Errc::no_checkpoint}, "Read-only file system");
    }
    check_works(home, "after a read-only disk");
    check_sound(home);
    home.stop();
}

TEST_CASE("with a repository that the host may not write no tool writes", "[fault]") {
    const AsUser nobody(is_root() ? kNobody : ::geteuid());
    Home home;
    start_plain_with_files(home);
    const std::string repo = repository(home).string();
    REQUIRE(shell("chmod -R a-w " + repo).code == 0);
    check_refused(home, {Errc::no_checkpoint}, "Permission denied");
    REQUIRE(shell("chmod -R u+w " + repo).code == 0);
    check_works(home, "after chmod");
    check_sound(home);
    home.stop();
}

TEST_CASE("what the open record log took while the repository took no new file is in git later",
          "[fault]") {
    const AsUser nobody(is_root() ? kNobody : ::geteuid());
    Home home;
    start_with_files(home);
    const std::string repo = repository(home).string();
    REQUIRE(shell("chmod -R a-w " + repo).code == 0);
    std::map<std::string, std::string> acknowledged;  // checkpoint, note
    for (int i = 0; i < 3; ++i) {
        const std::string note = "a note into the log " + std::to_string(i);
        const auto answer = call_tool(home, "add_note", Json::object().set("text", note));
        if (answer) {
            acknowledged[(*answer)["checkpoints"].items().front().as_string()] = note;
        } else {
            CHECK(answer.error().code() == Errc::no_checkpoint);
        }
    }
    CHECK(request(home, "status", Json::object()));
    home.kill();
    REQUIRE(shell("chmod -R u+w " + repo).code == 0);
    home.start();
    const Shell log = shell("git --git-dir " + repo + " log --format=%B checkpoints");
    for (const auto& [checkpoint, note] : acknowledged) {
        CHECK(count_of(notes_of(home), note + "\n") == 1);
        CHECK_THAT(log.out, Catch::Contains("Checkpoint: " + checkpoint + "\n"));
    }
    check_works(home, "after chmod");
    check_sound(home);
    home.stop();
}

TEST_CASE("a repository whose objects are no folder any more refuses every write", "[fault]") {
    Home home;
    start_plain_with_files(home);
    const fs::path objects = repository(home) / "objects";
    const fs::path away = repository(home) / "objects.away";
    fs::rename(objects, away);
    std::ofstream(objects) << "a file\n";
    check_refused(home, {Errc::no_checkpoint}, "objects");
    fs::remove(objects);
    fs::rename(away, objects);
    check_works(home, "after objects");
    check_sound(home);
    home.stop();
}

TEST_CASE("an emptied commit, tree and blob each keep the write from starting, or are mended first",
          "[fault]") {
    Home home;
    start_plain_with_files(home);
    const auto broken = [&](const std::string& revision, const char* mark) {
        INFO(revision);
        const fs::path object = object_file(home, revision);
        const std::string whole = contents_of(object);
        empty_file(object);
        const std::string before = contents_of(workspace(home) / kFile);
        const auto answer = call_tool(home,
                                      "edit_file",
                                      Json::object()
                                          .set("path", kFile)
                                          .set("old_text", "the close")
                                          .set("new_text", std::string("the open ") + mark)
                                          .set("base_sha256", sha256_hex(before)));
        if (answer) {
            const auto held =
                checkpointed(home, (*answer)["checkpoints"].items().front().as_string(), kFile);
            INFO(held.out);
            CHECK(held.code == 0);
            CHECK(held.out == before);
            REQUIRE(call_tool(
                home,
                "write_file",
                Json::object()
                    .set("path", kFile)
                    .set("text", before)
                    .set("base_sha256", sha256_hex(contents_of(workspace(home) / kFile)))));
        } else {
            INFO(answer.error().message());
            CHECK(answer.error().code() == Errc::no_checkpoint);
            CHECK_THAT(answer.error().message(), Catch::Contains(object.filename().string()));
            CHECK(contents_of(workspace(home) / kFile) == before);
        }
        CHECK(request(home, "status", Json::object()));
        if (contents_of(object).empty()) {
            std::ofstream(object, std::ios::binary) << whole;
        }
        check_works(home, mark);
    };
    broken("checkpoints", "commit");
    broken("checkpoints^{tree}", "root");
    broken("checkpoints:memory", "folder");
    broken(std::string("checkpoints:") + kFile, "blob");
    check_sound(home);
    home.stop();
}

TEST_CASE("with every object emptied no tool writes", "[fault]") {
    Home home;
    start_plain_with_files(home);
    std::vector<std::pair<fs::path, std::string>> whole;
    for (const fs::path& file : objects_of(home)) {
        whole.emplace_back(file, contents_of(file));
        empty_file(file);
    }
    check_refused(home, {Errc::no_checkpoint}, "checkpoint");
    for (const auto& [file, bytes] : whole) {
        std::ofstream(file, std::ios::binary) << bytes;
    }
    check_works(home, "after the objects came back");
    check_sound(home);
    home.stop();
}

TEST_CASE("garbage in HEAD, ref and tip is mended, and loses nothing", "[fault]") {
    Home home;
    start_with_files(home);
    std::ofstream(repository(home) / "HEAD") << "ref: nowhere\n";
    std::ofstream(repository(home) / "refs/heads/checkpoints") << "garbage\n";
    std::ofstream(repository(home) / "refs/heads/checkpoints.lock") << "";
    check_works(home, "over a ref of garbage");
    home.stop();
    std::ofstream(repository(home) / "HEAD") << "ref: nowhere\n";
    std::ofstream(repository(home) / "refs/heads/checkpoints") << "garbage\n";
    std::ofstream(repository(home) / "daybook.tip") << "garbage\n";
    home.start();
    CHECK(request(home, "checkpoint.list", Json::object().set("desk", "main")));
    check_works(home, "after a start over garbage");
    check_sound(home);
    CHECK_FALSE(fs::exists(repository(home) / "refs/heads/checkpoints.lock"));
    const Shell log = shell("git --git-dir " + repository(home).string() + " log --format=%s");
    INFO(log.out);
    CHECK(log.code == 0);
    CHECK_THAT(log.out, Catch::Contains("first checkpoint"));
    home.stop();
}

TEST_CASE("a repository that somebody else holds locked keeps its desk shut, and the others serve",
          "[fault]") {
    Home home;
    home.write("daybook.toml",
               config_text("", desk_table("main", {"memory"}) + desk_table("other", {"memory"})));
    start_with_files(home);
    home.stop();
    const int lock = ::open((repository(home) / "daybook.lock").c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(lock >= 0);
    REQUIRE(::flock(lock, LOCK_EX | LOCK_NB) == 0);
    home.start();
    check_refused(home, {Errc::unavailable}, "another process holds it");
    CHECK(call_tool(home, "add_note", Json::object().set("text", "the other serves"), "other"));
    ::close(lock);
    // A desk is opened at the start only: this cause needs a restart.
    home.stop();
    home.start();
    check_works(home, "after the lock");
    check_sound(home);
    home.stop();
}

TEST_CASE("on a full disk no tool writes, and reading goes on", "[fault]") {
    if (!is_root()) {
        WARN("skipped: only root may mount");
        return;
    }
    Home home;
    const Mount disk = Mount::small_disk(home.path() / "state", "4m");
    if (!disk.why_not().empty()) {
        WARN("skipped: " << disk.why_not());
        return;
    }
    home.write("daybook.toml", config_text("min_free = \"1KiB\"", desk_table("main", {"memory"})));
    start_with_files(home);
    const fs::path filler = home.path() / "state/filler";
    for (int round = 0; round < 3; ++round) {
        fill_disk(filler);
        check_refused(home, {Errc::no_checkpoint, Errc::full}, "space");
        const auto read = call_tool(home, "read_file", Json::object().set("path", kFile));
        CHECK((read || read.error().code() == Errc::full));
        CHECK(request(home, "memory.show", Json::object().set("desk", "main").set("file", kFile)));
        fs::remove(filler);
        check_works(home, "after a full disk " + std::to_string(round));
    }
    check_lines(home, "journal/main");
    check_sound(home);
    home.stop();
    home.start();
    check_works(home, "after a full disk and a restart");
    home.stop();
}

TEST_CASE("little free space holds triggers back before they start and runs them after it",
          "[fault]") {
    if (!is_root()) {
        WARN("skipped: only root may mount");
        return;
    }
    Home home;
    const Mount disk = Mount::small_disk(home.path() / "state", "24m");
    if (!disk.why_not().empty()) {
        WARN("skipped: " << disk.why_not());
        return;
    }
    home.write("daybook.toml", config_text("min_free = \"16MiB\"", desk_table("main", {"memory"})));
    home.start();
    const fs::path filler = home.path() / "state/filler";
    std::ofstream(filler) << std::string(12UL << 20, 'x');
    const auto accepted = request(home,
                                  "trigger",
                                  Json::object()
                                      .set("desk", "main")
                                      .set("kind", "job")
                                      .set("text", "Opening report.")
                                      .set("name", "opening"));
    INFO((accepted ? std::string("ok") : accepted.error().message()));
    REQUIRE(accepted);
    CHECK(eventually([&] {
        const auto shown = request(home, "desk.show", Json::object().set("desk", "main"));
        return shown && (*shown)["state"].as_string() == "paused" &&
               (*shown)["reason"].as_string().find("free") != std::string::npos;
    }));
    fs::remove(filler);
    CHECK(eventually([&] {
        std::size_t ends = 0;
        for (const Json& record : records_of(home, "journal/main")) {
            ends += record["type"].as_string() == "turn_end" ? 1U : 0U;
        }
        return ends == 1;
    }));
    home.stop();
}
