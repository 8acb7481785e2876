// A home whose git configuration, attributes, ignore files, templates and environment are all
// against us: no stored and no restored byte changes, and plain git reads the repository.
#include <cstdlib>
#include <fstream>
#include <map>

#include "tests/catch.hpp"
#include "tests/gate/gate_fixture.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

/// Sets variables of the environment for as long as it lives.
class Environment {
  public:
    ~Environment() {
        for (const auto& [name, value] : before_) {
            value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
        }
    }
    Environment() = default;
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    Environment(Environment&&) = delete;
    Environment& operator=(Environment&&) = delete;

    void set(const std::string& name, const std::string& value) {
        const char* old = std::getenv(name.c_str());
        before_.emplace(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
        ::setenv(name.c_str(), value.c_str(), 1);
    }

  private:
    std::map<std::string, std::optional<std::string>> before_;
};

void make_hostile(const TempFolder& home, Environment& environment) {
    home.write(
        ".gitconfig",
        "[core]\n\tautocrlf = true\n\teol = crlf\n\tsafecrlf = true\n\tfileMode = false\n"
        "\tsymlinks = false\n\tignoreCase = true\n\tprecomposeUnicode = true\n"
        "\texcludesFile = " +
            (home / "ignore").string() + "\n\tattributesFile = " + (home / "attributes").string() +
            "\n\thooksPath = " + (home / "template/hooks").string() +
            "\n[init]\n\tdefaultBranch = leaked\n\ttemplateDir = " + (home / "template").string() +
            "\n[user]\n\tname = Somebody\n\temail = some@body\n[commit]\n\tgpgsign = true\n"
            "[gc]\n\tauto = 1\n[safe]\n\tdirectory = /nowhere\n");
    home.write("ignore", "*\n");
    home.write("attributes",
               "* text=auto eol=crlf ident filter=evil working-tree-encoding=UTF-16\n");
    for (const char* hook : {"post-commit", "pre-commit", "reference-transaction", "post-update"}) {
        home.write("template/hooks/" + std::string(hook),
                   "#!/bin/sh\ntouch " + (home / "hook-ran").string() + "\n");
        fs::permissions(home / "template/hooks" / hook, fs::perms::owner_all);
    }
    environment.set("HOME", home.path().string());
    environment.set("XDG_CONFIG_HOME", home.path().string());
    environment.set("GIT_CONFIG_GLOBAL", (home / ".gitconfig").string());
    for (const char* variable : {"GIT_DIR",
                                 "GIT_WORK_TREE",
                                 "GIT_INDEX_FILE",
                                 "GIT_OBJECT_DIRECTORY",
                                 "GIT_ALTERNATE_OBJECT_DIRECTORIES",
                                 "GIT_TEMPLATE_DIR"}) {
        environment.set(variable, (home / "elsewhere").string());
    }
    environment.set("GIT_NAMESPACE", "leaked");
    environment.set("GIT_CEILING_DIRECTORIES", "/");
}

const std::map<std::string, std::string>& contents() {
    static const std::map<std::string, std::string> kContents = {
        {"Memory.md", "a\r\nb\n$Id$\r\n"},
        {"memory/.gitattributes", "* text eol=crlf ident\n"},
        {"memory/.gitignore", "*\n!.gitignore\n"},
        {"memory/id.md", "$Id: not ours $\n"},
        {"memory/nul.bin", std::string("a\0\r\nb", 5)},
        {"memory/utf16.md",
         std::string("\xff\xfe"
                     "a\0",
                     4)},
        {"memory/mixed.md", "one\r\ntwo\nthree\r"},
        {"memory/Case.md", "upper\n"},
        {"memory/case.md", "lower\n"},
        {"notes/2025-10-19.md", "- a\r\n"},
        {"skills/build/x.log", "left out by every ignore list\n"},
    };
    return kContents;
}

}  // namespace

TEST_CASE("a hostile home changes no stored and no restored byte", "[gate]") {
    const TempFolder home;
    Environment environment;
    make_hostile(home, environment);
    GatedDesk desk;
    for (const auto& [name, content] : contents()) {
        desk.put(name, content);
    }
    REQUIRE(desk.start());
    const Checkpoint first = must(desk.store->find("c-1"));
    for (const auto& [name, content] : contents()) {
        INFO(name);
        CHECK(*must(desk.store->read(first, path_of(name))) == content);
        desk.put(name, "spoilt\n");
        const auto restored = desk.gate->restore(first, name, desk.context);
        INFO((restored ? "" : restored.error().message()));
        CHECK(restored);
        CHECK(desk.get(name) == content);
    }
    CHECK_FALSE(fs::exists(home / "hook-ran"));
    CHECK_FALSE(fs::exists(home / "elsewhere"));
    CHECK_FALSE(fs::exists(desk.repository / "hooks"));
    CHECK_FALSE(fs::exists(desk.repository / "index"));
    // Plain git of the same user, once its own variables do not point elsewhere.
    const std::string plain =
        "env -u GIT_DIR -u GIT_WORK_TREE -u GIT_INDEX_FILE -u GIT_OBJECT_DIRECTORY -u "
        "GIT_ALTERNATE_OBJECT_DIRECTORIES -u GIT_NAMESPACE git --git-dir '" +
        desk.repository.string() + "' ";
    REQUIRE(desk.store->publish());
    CHECK(run(plain + "fsck --full --strict --no-dangling --no-progress").output == "");
    CHECK(run(plain + "symbolic-ref HEAD").output == "refs/heads/checkpoints\n");
    CHECK(run(plain + "log -1 --format=%an,%cn").output == "daybook,daybook\n");
    CHECK(run(plain + "show checkpoints:Memory.md").output == contents().at("Memory.md"));
}

TEST_CASE("locks that a stopped git left do not stand in the way (M35)", "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    REQUIRE(desk.append(kNotes, "- before"));
    for (const char* name : {"index.lock",
                             "HEAD.lock",
                             "config.lock",
                             "packed-refs.lock",
                             "refs/heads/checkpoints.lock",
                             "objects/maintenance.lock",
                             "gc.pid"}) {
        std::ofstream(desk.repository / name) << "1 somewhere\n";
    }
    REQUIRE(desk.append(kNotes, "- while they are there"));
    REQUIRE(desk.start());
    REQUIRE(desk.append(kNotes, "- after"));
    CHECK_FALSE(fs::exists(desk.repository / "refs/heads/checkpoints.lock"));
    CHECK_FALSE(fs::exists(desk.repository / "index.lock"));
    CHECK(desk.fsck() == "");
}

TEST_CASE("after the owner's maintenance a checkpoint succeeds, and all are there (M36)",
          "[gate]") {
    GatedDesk desk;
    REQUIRE(desk.start());
    for (int i = 0; i < 5; ++i) {
        REQUIRE(desk.append(kNotes, "- before " + std::to_string(i)));
    }
    const std::string oldest = must(desk.store->find("c-1")).commit;
    for (const char* words : {"gc -q --prune=now",
                              "pack-refs --all",
                              "repack -adq",
                              "prune --expire=now",
                              "maintenance run --task=gc --quiet"}) {
        INFO(words);
        REQUIRE(desk.git(words).code == 0);
        REQUIRE(desk.append(kNotes, "- after " + std::string(words)));
        CHECK(must(desk.store->find("c-1")).commit == oldest);
        CHECK(desk.fsck() == "");
    }
    REQUIRE(desk.start());
    CHECK(must(desk.store->list(100)).size() == 11);
}
