// journal verify: on the whole programs, with a host and without.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

/// The name of the newest day's notes.
std::string day_of_notes(const Home& home) {
    std::string newest;
    for (const auto& entry : fs::directory_iterator(home.path() / "state/workspace/main/notes")) {
        newest = std::max(newest, entry.path().filename().string());
    }
    return newest;
}

}  // namespace

TEST_CASE("journal verify proves a record with the host and without, and names what breaks it",
          "[cli]") {
    Home home({"--calendar", "always"});
    home.start();
    REQUIRE(home.daybook({"say", "main", "Remember: wait 20 minutes after a gap."}).code == 0);
    const Json up = home.ask({"journal", "verify", "main"});
    CHECK(up["ok"].as_bool());
    REQUIRE(up["desks"].items().size() == 1);
    CHECK(up["desks"].items().front()["writes"].as_integer() == 1);
    CHECK(up["desks"].items().front()["turns"].as_integer() == 1);
    home.stop();
    const Ran down = home.daybook({"journal", "verify"});
    CHECK(down.code == 0);
    CHECK_THAT(down.out, Catch::Contains("main  ok") && Catch::Contains("1 writes"));
    CHECK(home.daybook({"journal", "verify", "nobody"}).code == 4);

    fs::path journal;
    for (const auto& entry : fs::directory_iterator(home.path() / "state/journal/main")) {
        journal = entry.path();
    }
    std::ofstream(journal, std::ios::app) << "{\"v\":1}\n";
    const Ran broken = home.daybook({"journal", "verify", "main"});
    CHECK(broken.code == 1);
    CHECK_THAT(broken.out,
               Catch::Contains("main  broken") &&
                   Catch::Contains("journal/main/" + journal.filename().string() + ":"));
    const Ran json = home.daybook({"journal", "verify", "main", "--json"});
    CHECK(json.code == 1);
    CHECK_FALSE(json.json()["ok"].as_bool());
}

TEST_CASE("after a text was forgotten the rest of the record still holds", "[cli]") {
    Home home({"--calendar", "always"});
    home.start();
    REQUIRE(home.daybook({"say", "main", "Remember: the code is swordfish-7731-tango."}).code == 0);
    REQUIRE(home.daybook({"say", "main", "Remember: half size on expiry day."}).code == 0);
    home.stop();
    const Ran forgot =
        run_program("daybook",
                    {"forget", "main", "--file", "-", "--home", home.path().string()},
                    home.path(),
                    "swordfish-7731-tango\n");
    INFO(forgot.err);
    REQUIRE(forgot.code == 0);
    const Ran verified = home.daybook({"journal", "verify", "main"});
    INFO(verified.out);
    CHECK(verified.code == 0);
    CHECK(home.read("state/workspace/main/notes/" + day_of_notes(home)).find("swordfish") ==
          std::string::npos);
}
