// checkpoint verify, du: on the whole programs, with a host and without.
#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

std::string text_of(const Words& words) {
    std::string text;
    for (const std::string& word : words) {
        text += word + " ";
    }
    return text;
}

void remember(const Home& home, const std::string& lesson) {
    const Ran said = home.daybook({"say", "main", "Remember: " + lesson});
    INFO(text_of({"say", lesson}) << said.err);
    REQUIRE(said.code == 0);
}

}  // namespace

TEST_CASE("verify and du say the same with the host and without", "[cli]") {
    Home home({"--calendar", "always"});
    home.start();
    remember(home, "wait 20 minutes after a gap.");
    const Json up = home.ask({"checkpoint", "verify"});
    CHECK(up["ok"].as_bool());
    REQUIRE(up["desks"].items().size() == 1);
    const Json& desk = up["desks"].items().front();
    CHECK(desk["checkpoints"].as_integer() >= 2);
    CHECK(desk["findings"].items().empty());
    const Json usage_up = home.ask({"du", "main"});
    home.stop();
    const Json down = home.ask({"checkpoint", "verify", "main"});
    CHECK(down["ok"].as_bool());
    CHECK(down["desks"].items().front()["newest"].as_string() == desk["newest"].as_string());
    const Json usage_down = home.ask({"du"});
    const auto own_files = [](const Json& usage) {
        for (const Json& part : usage["desks"].items().front()["parts"].items()) {
            if (part["name"].as_string() == "own files") {
                return part["bytes"].as_integer();
            }
        }
        return std::int64_t{-1};
    };
    CHECK(own_files(usage_up) > 0);
    CHECK(own_files(usage_up) == own_files(usage_down));
    CHECK(usage_down["bytes"].as_integer() > usage_up["bytes"].as_integer());
    CHECK(home.daybook({"checkpoint", "verify", "nobody"}).code == 4);
    CHECK(home.daybook({"du", "nobody"}).code == 4);
}

TEST_CASE("verify names what is damaged, says what to do and ends with 1", "[cli]") {
    Home home({"--calendar", "always"});
    home.start();
    remember(home, "half size on expiry day.");
    home.stop();
    std::size_t emptied = 0;
    for (const auto& entry : fs::recursive_directory_iterator(
             home.path() / "state/workspace/.checkpoints/main.git/objects")) {
        if (entry.is_regular_file() && emptied == 0) {
            fs::remove(entry.path());
            std::ofstream(entry.path()).close();
            ++emptied;
        }
    }
    REQUIRE(emptied == 1);
    const Ran ran = home.daybook({"checkpoint", "verify"});
    CHECK(ran.code == 1);
    CHECK_THAT(ran.out, Catch::Contains("damaged") && Catch::Contains("backup"));
    const Ran json = home.daybook({"checkpoint", "verify", "--json"});
    CHECK(json.code == 1);
    CHECK_FALSE(json.json()["ok"].as_bool());
}
