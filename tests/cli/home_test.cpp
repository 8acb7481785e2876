// What works without a host: init, config, usage.
#include <sys/stat.h>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;

TEST_CASE("init makes a home that its own check finds fine", "[cli]") {
    const TempFolder folder;
    const std::string home = (folder / "desk").string();
    const Ran made = run_program(
        "daybook", {"init", home, "--calendar", "nse", "--zone", "Asia/Kolkata"}, folder.path());
    INFO(made.err);
    REQUIRE(made.code == 0);
    CHECK_THAT(made.out, Catch::Contains(home + "/daybook.toml"));
    CHECK_THAT(made.out, Catch::Contains("daybook host start --home " + home));
    CHECK_THAT(folder.read("desk/daybook.toml"), Catch::Contains("[model.qwen]"));
    struct stat token = {};
    REQUIRE(::stat((home + "/state/keys/control.token").c_str(), &token) == 0);
    CHECK((token.st_mode & 0777U) == 0600U);
    CHECK(run_program("daybook", {"config", "check", "--home", home}, folder.path()).code == 0);
    CHECK(run_program("daybookd", {"--home", home, "--check-config"}, folder.path()).code == 0);
}

TEST_CASE("init never overwrites", "[cli]") {
    const Home home;
    home.write("daybook.toml", "# mine\n");
    const Ran again = home.daybook({"init"});
    CHECK(again.code == 6);
    CHECK_THAT(again.err, Catch::StartsWith("daybook: ") && Catch::Contains("not overwritten"));
    CHECK(home.read("daybook.toml") == "# mine\n");
}

TEST_CASE("init refuses what the host could not run with", "[cli]") {
    const TempFolder folder;
    const auto init = [&](const Words& flags) {
        Words words = {"init", (folder / "desk").string()};
        words.insert(words.end(), flags.begin(), flags.end());
        const Ran ran = run_program("daybook", words, folder.path());
        CHECK(!std::filesystem::exists(folder / "desk/daybook.toml"));
        return ran;
    };
    CHECK(init({"--zone", "Asia/Atlantis"}).code == 4);
    CHECK(init({"--calendar", "../../etc/passwd"}).code == 4);
    CHECK(init({"--calendar", "mars"}).code == 4);
    CHECK(init({"--model", "qwen"}).code == 2);
    CHECK(init({"--prices", "/no/such/folder"}).code == 4);
    CHECK(init({"--desk", "../x"}).code == 2);
}

TEST_CASE("a wrong configuration is told with its line, by every program", "[cli]") {
    const Home home;
    home.write("daybook.toml",
               "[host]\nlog_levle = \"info\"\n[desk.main]\nmodels = [\"nobody\"]\n");
    for (const Ran& ran :
         {home.daybook({"config", "check"}),
          home.daybook({"host", "start"}),
          run_program("daybookd", {"--check-config", "--home", home.path().string()}, "/")}) {
        CHECK(ran.code == 2);
        CHECK(ran.out.empty());
        CHECK_THAT(ran.err, Catch::StartsWith("daybook"));
        CHECK_THAT(ran.err, Catch::Contains("log_levle") && Catch::Contains("log_level"));
        CHECK_THAT(ran.err, Catch::Contains("2"));
    }
    const Ran json = home.daybook({"config", "check", "--json"});
    auto error = Json::parse(json.err);
    REQUIRE(error);
    CHECK((*error)["error"]["code"].as_string() == "invalid");
    CHECK((*error)["error"]["exit"].as_integer() == 2);
}

TEST_CASE("a missing configuration says how to make one", "[cli]") {
    const TempFolder folder;
    const Ran ran = run_program(
        "daybook", {"config", "check", "--home", (folder / "x").string()}, folder.path());
    CHECK(ran.code == 4);
    CHECK_THAT(ran.err, Catch::Contains("daybook init --home"));
}

TEST_CASE("wrong usage ends with 2 and says where help is", "[cli]") {
    const TempFolder folder;
    const Words words = GENERATE(Words{},
                                 Words{"nonsense"},
                                 Words{"checkpoint"},
                                 Words{"checkpoint", "show"},
                                 Words{"status", "--no-such-flag"},
                                 Words{"journal", "show", "--limit", "-3"},
                                 Words{"say", "main"},
                                 Words{"trigger", "main", "alert"});
    const Ran ran = run_program("daybook", words, folder.path());
    CHECK(ran.code == 2);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, Catch::StartsWith("daybook: "));
}

TEST_CASE("a wrong command, option or missing word is named", "[cli]") {
    const TempFolder folder;
    const auto told = [&](const Words& words) {
        return run_program("daybook", words, folder.path()).err;
    };
    CHECK_THAT(told({"frob"}), Catch::Contains("there is no command \"daybook frob\""));
    CHECK_THAT(told({"plugin", "frob"}),
               Catch::Contains("there is no command \"daybook plugin frob\""));
    CHECK_THAT(told({"checkpoint"}),
               Catch::Contains("a command is missing behind \"daybook checkpoint\""));
    CHECK_THAT(told({"--frob"}), Catch::Contains("there is no option --frob"));
    CHECK_THAT(told({"tool", "call"}), Catch::Contains("words are missing, wanted: "));
}

TEST_CASE("help and version need nothing", "[cli]") {
    const TempFolder folder;
    const Ran help = run_program("daybook", {"--help"}, folder.path());
    CHECK(help.code == 0);
    CHECK_THAT(help.out, Catch::Contains("daybook demo") && Catch::Contains("Exit codes"));
    CHECK(run_program("daybook", {"checkpoint", "--help"}, folder.path()).code == 0);
    const Ran version = run_program("daybook", {"version", "--json"}, folder.path());
    CHECK(version.code == 0);
    CHECK_FALSE(version.json()["daybook"].as_string().empty());
    CHECK_THAT(run_program("daybookd", {"--version"}, folder.path()).out,
               Catch::StartsWith("daybookd "));
    CHECK(run_program("daybookd", {"--frobnicate"}, folder.path()).code == 2);
}
