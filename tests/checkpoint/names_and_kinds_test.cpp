// Odd names and odd kinds of files: stored byte for byte, or reported; never followed, never
// silently left out.
#include <algorithm>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/git_names.hpp"
#include "tests/catch.hpp"
#include "tests/checkpoint/store_fixture.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

bool mentions(const Checkpoint& checkpoint, const std::string& text) {
    return std::any_of(
        checkpoint.skipped.begin(), checkpoint.skipped.end(), [&](const std::string& line) {
            return line.find(text) != std::string::npos;
        });
}

}  // namespace

TEST_CASE("names are stored byte for byte, whatever bytes they are", "[checkpoint]") {
    Desk desk;
    const std::string names[] = {"new\nline.md",
                                 "-dash",
                                 "\xff\xfe invalid.md",
                                 "back\\slash",
                                 "dot. ",
                                 "CON",
                                 "Case.md",
                                 "case.md",
                                 ".gitattributes",
                                 ".gitignore",
                                 "\"quoted\"",
                                 "tab\there",
                                 std::string(255, 'n'),
                                 "\u0909\u0928\u093f",
                                 "e\u0301",
                                 "\u00e9"};
    for (const std::string& name : names) {
        desk.put("memory/" + name, "content of " + name);
    }
    desk.put("memory/crlf.md", "a\r\nb\r\n$Id$\r\n");
    desk.put("memory/nul.bin", std::string("a\0b", 3));
    desk.put("memory/empty.md", "");
    desk.put("memory/.gitattributes", "* text eol=crlf ident\n");
    desk.put("memory/.gitignore", "*\n");
    REQUIRE(desk.open());
    const auto first = must(desk.store->find("c-1"));
    const auto files = must(desk.store->files(first));
    for (const std::string& name : names) {
        INFO(name);
        CHECK(files.contains("memory/" + name));
    }
    CHECK(*must(desk.store->read(first, path_of("memory/crlf.md"))) == "a\r\nb\r\n$Id$\r\n");
    CHECK(*must(desk.store->read(first, path_of("memory/nul.bin"))) == std::string("a\0b", 3));
    CHECK(*must(desk.store->read(first, path_of("memory/empty.md"))) == "");
    CHECK(first.skipped.empty());
    CHECK(desk.fsck() == "");
    REQUIRE(desk.open());
    CHECK_FALSE(desk.store->recovery().owner_edited);
    REQUIRE(std::filesystem::remove(desk.folder / "memory/new\nline.md"));
    const auto edited = must(desk.store->record_owner_edits());
    REQUIRE(edited);
    CHECK(must(desk.store->find(edited->id)).file == "memory/new\nline.md");
}

TEST_CASE("a hostile git configuration of the user changes nothing", "[checkpoint]") {
    TempFolder home;
    home.write(
        ".gitconfig",
        "[core]\n\tautocrlf = true\n\teol = crlf\n\texcludesFile = " + (home / "ignore").string() +
            "\n\tattributesFile = " + (home / "attributes").string() +
            "\n[init]\n\tdefaultBranch = leaked\n\ttemplateDir = " + (home / "template").string() +
            "\n[user]\n\tname = Somebody\n\temail = some@body\n[commit]\n\tgpgsign = true\n");
    home.write("ignore", "*.md\n");
    home.write("attributes", "* text=auto eol=crlf ident filter=evil\n");
    home.write("template/hooks/post-commit", "#!/bin/sh\n");
    const char* saved = std::getenv("HOME");
    const std::string before = saved == nullptr ? "/" : saved;
    REQUIRE(::setenv("HOME", home.path().c_str(), 1) == 0);
    REQUIRE(::setenv("GIT_DIR", (home / "elsewhere").c_str(), 1) == 0);
    {
        Desk desk;
        desk.put("Memory.md", "a\r\nb\n$Id$\n");
        REQUIRE(desk.open());
        REQUIRE(desk.write("memory/id.md", "x\r\n"));
        CHECK(desk.git("show HEAD:Memory.md").output == "a\r\nb\n$Id$\n");
        CHECK(desk.git("log --format=%an,%ae,%cn -1").output ==
              "daybook,daybook@localhost,daybook\n");
        CHECK(desk.git("symbolic-ref HEAD").output == "refs/heads/checkpoints\n");
        CHECK_FALSE(std::filesystem::exists(desk.repository / "hooks"));
        CHECK_FALSE(std::filesystem::exists(home / "elsewhere"));
        CHECK(desk.fsck() == "");
    }
    ::unsetenv("GIT_DIR");
    ::setenv("HOME", before.c_str(), 1);
}

TEST_CASE("names of git's own are not stored, and reported", "[checkpoint]") {
    Desk desk;
    desk.put("memory/a.md", "a");
    for (const char* name : {".git/config",
                             ".GIT/x",
                             "git~1/x",
                             ".g\u200cit/x",
                             ".git./x",
                             "x\\.git/y",
                             ".gitmodules"}) {
        desk.put("memory/" + std::string(name), "[remote]\n\turl = -evil\n");
    }
    std::string long_line(3000, 'x');
    desk.put("memory/.gitattributes", long_line + "\n");
    REQUIRE(desk.open());
    const auto first = must(desk.store->find("c-1"));
    CHECK(must(desk.store->files(first)).size() == 1);
    CHECK(first.skipped.size() == 8);
    CHECK(mentions(first, "memory/.git (a name that git takes for its own)"));
    CHECK(mentions(first, "memory/.gitmodules"));
    CHECK(desk.fsck() == "");
    CheckpointReason why;
    CHECK(
        desk.store
            ->take(path_of("memory/.gitmodules"), sha256_hex("[remote]\n\turl = -evil\n"), "", why)
            .error()
            .code() == Errc::refused);
}

TEST_CASE(
    "links are stored as links, devices and sockets are reported, nothing is followed or hangs",
    "[checkpoint]") {
    Desk desk;
    desk.home.write("outside/secret.md", "outside\n");
    desk.put("memory/a.md", "a");
    std::filesystem::create_symlink("../../../outside/secret.md", desk.folder / "memory/link.md");
    std::filesystem::create_directory_symlink(desk.home / "outside", desk.folder / "memory/folder");
    std::filesystem::create_directory_symlink(desk.home / "outside", desk.folder / "skills");
    std::filesystem::create_symlink("a.md", desk.folder / "memory/.gitignore");
    std::filesystem::create_hard_link(desk.home / "outside/secret.md",
                                      desk.folder / "memory/hard.md");
    REQUIRE(::mkfifo((desk.folder / "memory/fifo").c_str(), 0600) == 0);
    const int socket_fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string socket_path = (desk.folder / "memory/s").string();
    const bool fits = socket_path.size() < sizeof address.sun_path;
    if (fits) {
        socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
        REQUIRE(::bind(socket_fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    }
    REQUIRE(desk.open());
    ::close(socket_fd);
    const auto first = must(desk.store->find("c-1"));
    CHECK(mentions(first, "memory/fifo (not a regular file)"));
    CHECK(mentions(first, "memory/s (not a regular file)") == fits);
    CHECK(mentions(first, "skills (a symbolic link)"));
    CHECK(mentions(first, "memory/.gitignore (a link that git refuses)"));
    CHECK(mentions(first, "memory/hard.md (2 hard links"));
    CHECK(desk.git("ls-tree HEAD memory/link.md").output.starts_with("120000"));
    CHECK(desk.git("cat-file -p HEAD:memory/link.md").output == "../../../outside/secret.md");
    CHECK(desk.git("ls-tree HEAD memory/folder").output.starts_with("120000"));
    CHECK(desk.fsck() == "");
    CheckpointReason why;
    for (const char* name : {"memory/link.md", "memory/hard.md", "memory/fifo", "memory/folder"}) {
        INFO(name);
        CHECK(desk.store->take(path_of(name), "", "", why).error().code() == Errc::refused);
    }
    CHECK_FALSE(
        desk.store->take(path_of("memory/folder/secret.md"), sha256_hex("outside\n"), "", why));
    CHECK_FALSE(desk.store->take(path_of("skills/secret.md"), "", "", why));
    CHECK(desk.store->take(path_of("owner.txt"), "", "", why).error().code() == Errc::refused);
    CHECK(desk.store->read(first, path_of("memory/link.md")).error().code() == Errc::refused);
}

TEST_CASE("large files are reported with size and hash, editors' passing files are left out",
          "[checkpoint]") {
    Desk desk;
    const std::string large(9UL * 1024 * 1024, 'L');
    desk.put("memory/large.bin", large);
    for (const char* name : {".a.md.swp", "4913", "a.md~", "#a.md#", ".a.md.daybook~"}) {
        desk.put("memory/" + std::string(name), "passing");
    }
    std::filesystem::create_directories(desk.folder / "memory/empty/inner");
    REQUIRE(desk.open());
    const auto first = must(desk.store->find("c-1"));
    CHECK(must(desk.store->files(first)).empty());
    CHECK(
        mentions(first, "memory/large.bin (over 8 MB: 9437184 bytes, sha256 " + sha256_hex(large)));
    CHECK(desk.git("log -1 --format=%B").output.find("Empty-Dir: memory/empty/inner\n") !=
          std::string::npos);
    CHECK_FALSE(must(desk.store->record_owner_edits()));
    CheckpointReason why;
    CHECK(
        desk.store->take(path_of("memory/large.bin"), sha256_hex(large), "", why).error().code() ==
        Errc::refused);
    CHECK(desk.store->take(path_of("memory/4913"), "", "", why).error().code() == Errc::refused);
}

TEST_CASE("an unreadable file is reported and keeps its last known content", "[checkpoint]") {
    if (::geteuid() == 0) {
        SUCCEED("root reads everything");
        return;
    }
    Desk desk;
    desk.put("memory/a.md", "a");
    REQUIRE(desk.open());
    ::chmod((desk.folder / "memory/a.md").c_str(), 0000);
    desk.put("memory/b.md", "b");
    const auto edited = must(desk.store->record_owner_edits());
    REQUIRE(edited);
    CHECK(mentions(*edited, "memory/a.md"));
    CHECK(*must(desk.store->read(*edited, path_of("memory/a.md"))) == "a");
}

TEST_CASE("every spelling of git's names is known, and no other", "[checkpoint]") {
    for (const char* name : {".git",
                             ".GIT",
                             ".Git",
                             ".git ",
                             ".git.",
                             ".git...  ",
                             "git~1",
                             "GIT~1",
                             ".git:x",
                             ".g\u200cit",
                             "\uFEFF.git",
                             "a\\.git",
                             ".git\\x"}) {
        INFO(name);
        CHECK(is_git_folder_name(name));
    }
    for (const char* name :
         {"git", ".gitx", "x.git", ".gi", "git~2", "git~10", "..git", "a.git", ".gitignore"}) {
        INFO(name);
        CHECK_FALSE(is_git_folder_name(name));
    }
    for (const char* name : {".gitmodules",
                             ".GITMODULES",
                             ".gitmodules ",
                             "gitmod~1",
                             "GITMOD~4",
                             "gi7eba~1",
                             ".gitmod\u200dules"}) {
        INFO(name);
        CHECK(is_git_modules_name(name));
    }
    CHECK_FALSE(is_git_modules_name("gitmod~5x"));
    CHECK_FALSE(is_git_modules_name("modules"));
    CHECK(is_passing_name(".Memory.md.swp"));
    CHECK_FALSE(is_passing_name("swp"));
    CHECK_FALSE(is_passing_name("4913.md"));
}

TEST_CASE("paths are quoted and come back", "[checkpoint]") {
    for (const std::string& path : {std::string("memory/a.md"),
                                    std::string("a\nb"),
                                    std::string("\xff\"\\"),
                                    std::string(" lead"),
                                    std::string("\"x"),
                                    std::string("trail "),
                                    std::string("\u202e"),
                                    std::string("x\0y", 3),
                                    std::string("\u0909")}) {
        const std::string quoted = quote_path(path);
        CHECK(quoted.find('\n') == std::string::npos);
        CHECK(unquote_path(quoted) == path);
    }
    CHECK_FALSE(unquote_path("\"open"));
    CHECK_FALSE(unquote_path("\"\\9\""));
    CHECK_FALSE(unquote_path("\"\\"));
}
