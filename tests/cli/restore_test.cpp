// Restoring, undoing, the trash and editing from the command line, with a host and without.
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kMemory = "state/workspace/main/Memory.md";

/// An editor that adds a line to the file.
Ran edit_with(const Home& home, const std::string& line, Words words) {
    const std::string daybook = std::string(DAYBOOK_BUILD_DIR) + "/bin/daybook";
    Words all = {"EDITOR=sh -c 'echo " + line + " >> \"$1\"' sh", daybook, "edit"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--home", home.path().string()});
    return run_program("/usr/bin/env", all, home.path());
}

}  // namespace

TEST_CASE("a whole desk is shown, put back and undone from the command line", "[cli]") {
    Home home;
    home.start();
    home.write(kMemory, "good\n");
    home.write("state/workspace/main/notes/odd\nname.md", "odd\n");
    const std::string good = home.ask({"checkpoint", "take", "main"})["checkpoint"].as_string();
    home.write(kMemory, "bad\n");
    home.write("state/workspace/main/notes/since.md", "since\n");
    fs::remove(home.path() / "state/workspace/main/notes/odd\nname.md");

    const Json dry = home.ask({"checkpoint", "restore", "main", good, "--dry-run"});
    CHECK(dry["files"].items().size() == 3);
    CHECK(home.read(kMemory) == "bad\n");
    const Ran unasked = home.daybook({"checkpoint", "restore", "main", good});
    CHECK(unasked.code == 2);
    CHECK_THAT(unasked.err, Catch::Contains("--yes"));
    CHECK(home.read(kMemory) == "bad\n");

    const Json restored = home.ask({"checkpoint", "restore", "main", good, "--yes"});
    CHECK(restored["files"].items().size() == 3);
    CHECK(home.read(kMemory) == "good\n");
    CHECK(home.read("state/workspace/main/notes/odd\nname.md") == "odd\n");
    CHECK(home.ask({"checkpoint", "restore", "main", good, "--yes"})["checkpoint"].as_string() ==
          "");
    const Json trash = home.ask({"checkpoint", "trash", "list", "main"});
    REQUIRE(trash["files"].items().size() == 2);
    CHECK(home.ask({"checkpoint", "trash", "empty", "main"})["files"].as_integer() == 1);

    const Json undone = home.ask({"checkpoint", "undo", "main"});
    CHECK(undone["undone"].as_string() == restored["checkpoint"].as_string());
    CHECK(home.read(kMemory) == "bad\n");
    CHECK(home.read("state/workspace/main/notes/since.md") == "since\n");
    // An odd name is given as it is shown.
    const Json one =
        home.ask({"checkpoint", "restore", "main", good, "--file", R"("notes/odd\012name.md")"});
    CHECK(one["files"].items().size() == 1);
    CHECK(home.read("state/workspace/main/notes/odd\nname.md") == "odd\n");
    CHECK(home.read(kMemory) == "bad\n");
    CHECK(home.daybook({"checkpoint", "restore", "main", good, "notes/none.md"}).code == 4);
    home.stop();
}

TEST_CASE("a file is edited between two checkpoints, with a host and without", "[cli]") {
    Home home;
    home.start();
    home.write(kMemory, "one\n");
    const Ran with_host = edit_with(home, "two", {"main", "Memory.md", "--json"});
    INFO(with_host.err);
    REQUIRE(with_host.code == 0);
    const Json first = with_host.json();
    CHECK(home.read(kMemory) == "one\ntwo\n");
    const Json shown = home.ask({"checkpoint", "diff", "main", first["checkpoint"].as_string()});
    REQUIRE(shown["changes"].items().size() == 1);
    CHECK_THAT(shown["changes"].items().front()["diff"].as_string(), Catch::Contains("+two"));
    CHECK(edit_with(home, "x", {"main", "../../daybook.toml"}).code == 2);
    CHECK(edit_with(home, "x", {"main", "mine.txt"}).code == 3);
    CHECK(edit_with(home, "x", {"nobody", "Memory.md"}).code == 4);
    home.stop();

    const Ran without = edit_with(home, "three", {"main", "Memory.md", "--json"});
    INFO(without.err);
    REQUIRE(without.code == 0);
    CHECK(home.read(kMemory) == "one\ntwo\nthree\n");
    home.start();
    CHECK(home.ask({"checkpoint", "show", "main", without.json()["checkpoint"].as_string()})["kind"]
              .as_string() == "edited");
    home.stop();
}
