// The demonstration, end to end.
#include <csignal>
#include <filesystem>
#include <map>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

struct Told {
    std::size_t triggers = 0, done_before = 0, completed = 0;
    std::int64_t notes = 0, checkpoints = 0, rollovers = 0, refused = 0, days = 0, turns = 0;
    bool ended = false;
};

Told told_by(const Ran& ran) {
    Told told;
    for (const Json& line : ran.lines()) {
        const std::string& event = line["event"].as_string();
        if (event == "trigger") {
            ++told.triggers;
            told.done_before += line["already_done"].as_bool() ? 1U : 0U;
            told.completed += line["outcome"].as_string() == "completed" ? 1U : 0U;
        } else if (event == "day") {
            ++told.days;
            told.turns += line["turns"].as_integer();
            told.notes += line["notes"].as_integer();
            told.checkpoints += line["checkpoints"].as_integer();
            told.refused += line["refused"].as_integer();
            CHECK(line["rollovers"].as_integer() == 1);
        }
        told.ended = told.ended || event == "end";
    }
    return told;
}

}  // namespace

TEST_CASE("the demonstration runs four days, and a second run continues", "[cli]") {
    const TempFolder folder;
    const std::string home = (folder / "demo").string();
    const Ran first = run_program("daybook", {"demo", "--home", home, "--json"}, folder.path());
    INFO(first.err);
    REQUIRE(first.code == 0);
    const Told told = told_by(first);
    CHECK(told.triggers >= 24);
    CHECK(told.completed == told.triggers);
    CHECK(told.done_before == 0);
    CHECK(told.days == 4);
    CHECK(told.turns == static_cast<std::int64_t>(told.triggers));
    CHECK(told.notes >= 4);
    CHECK(told.checkpoints >= told.notes);
    CHECK(told.refused >= 1);
    CHECK(told.ended);

    const Ran second = run_program("daybook", {"demo", "--home", home, "--json"}, folder.path());
    INFO(second.err);
    REQUIRE(second.code == 0);
    const Told again = told_by(second);
    CHECK(again.done_before == again.triggers);
    CHECK(again.turns == told.turns);
    CHECK(again.notes == told.notes);
}

TEST_CASE("the demonstration run twice gives the same files, byte for byte", "[cli]") {
    const TempFolder folder;
    std::map<std::string, std::string> files[2];
    for (std::size_t i = 0; i < 2; ++i) {
        const std::string home = (folder / std::to_string(i)).string();
        const Ran ran = run_program("daybook", {"demo", "--home", home, "--json"}, folder.path());
        INFO(ran.err);
        REQUIRE(ran.code == 0);
        for (const char* part : {"workspace/main", "sessions/main", "journal/main"}) {
            const std::filesystem::path root = std::filesystem::path(home) / "state" / part;
            for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
                if (entry.is_regular_file()) {
                    const std::string name = entry.path().lexically_relative(home).string();
                    files[i][name] = folder.read(std::to_string(i) + "/" + name);
                }
            }
        }
        // The commits too: the journal names them, and the newest stands for all.
        files[i]["tip"] = folder.read(
            std::to_string(i) + "/state/workspace/.checkpoints/main.git/refs/heads/checkpoints");
    }
    CHECK(files[0].size() > 12);
    CHECK(files[0]["tip"].size() >= 40);
    for (const auto& [name, text] : files[0]) {
        INFO(name);
        CHECK((files[1].contains(name) && files[1].at(name) == text));
    }
    CHECK(files[0].size() == files[1].size());
}

TEST_CASE("an interrupted demonstration stops its daemon and can be gone on with", "[cli]") {
    const TempFolder folder;
    const std::string home = (folder / "demo").string();
    {
        Running demo("daybook", {"demo", "--home", home, "--json"}, folder.path());
        for (int i = 0; i < 4; ++i) {
            REQUIRE_FALSE(demo.line().empty());
        }
        demo.signal(SIGINT);
        CHECK(demo.wait() == 130);
    }
    CHECK(run_program("daybook", {"status", "--home", home}, folder.path()).code == 5);
    const Ran rest = run_program("daybook", {"demo", "--home", home}, folder.path());
    INFO(rest.err);
    CHECK(rest.code == 0);
    CHECK_THAT(rest.out, Catch::Contains("already done"));
    CHECK_THAT(rest.out, Catch::Contains("ROLLOVERS") && Catch::Contains("git --git-dir"));
}
