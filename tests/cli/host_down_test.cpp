#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;

TEST_CASE("without a host every command that needs one ends with 5 and says how to start it",
          "[cli]") {
    const Home home;
    const Words words = GENERATE(Words{"status"},
                                 Words{"doctor"},
                                 Words{"say", "main", "hello"},
                                 Words{"trigger", "main", "job", "x"},
                                 Words{"desk", "list"},
                                 Words{"session", "show", "main"},
                                 Words{"memory", "notes", "main"},
                                 Words{"checkpoint", "list", "main"},
                                 Words{"journal", "tail", "main"},
                                 Words{"tool", "call", "main", "add_note", "{}"},
                                 Words{"plugin", "list"},
                                 Words{"clock", "show"},
                                 Words{"host", "stop"});
    const Ran ran = home.daybook(words);
    CHECK(ran.code == 5);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, Catch::StartsWith("daybook: daybookd is not running"));
    CHECK_THAT(ran.err,
               Catch::Contains("start it with: daybook host start --home " + home.path().string()));
    Words with_json = words;
    with_json.emplace_back("--json");
    auto error = Json::parse(home.daybook(with_json).err);
    REQUIRE(error);
    CHECK((*error)["error"]["code"].as_string() == "unavailable");
    CHECK((*error)["error"]["exit"].as_integer() == 5);
    CHECK_FALSE((*error)["error"]["todo"].as_string().empty());
}

TEST_CASE("a folder that was never a home says to make one", "[cli]") {
    const TempFolder folder;
    const Ran ran =
        run_program("daybook", {"status", "--home", (folder / "none").string()}, folder.path());
    CHECK(ran.code == 5);
    CHECK_THAT(ran.err, Catch::Contains("daybook init --home"));
    CHECK_FALSE(std::filesystem::exists(folder / "none"));
}

TEST_CASE("a newer home and a folder of something else are not started", "[cli]") {
    const Home home;
    SECTION("newer") {
        home.write("state/format", "7\n");
        const Ran ran = home.daybook({"host", "start"});
        CHECK(ran.code == 2);
        CHECK_THAT(ran.err, Catch::Contains("format 7"));
        CHECK(home.read("state/format") == "7\n");
    }
    SECTION("no number") {
        std::filesystem::remove(home.path() / "state/format");
        const Ran ran = home.daybook({"host", "start"});
        CHECK(ran.code == 1);
        CHECK_THAT(ran.err, Catch::Contains("no `format` number"));
    }
    SECTION("an open token") {
        std::filesystem::permissions(home.path() / "state/keys/control.token",
                                     std::filesystem::perms(0644));
        const Ran ran = home.daybook({"host", "start"});
        CHECK(ran.code == 3);
        CHECK_THAT(ran.err, Catch::Contains("chmod 600"));
    }
}
