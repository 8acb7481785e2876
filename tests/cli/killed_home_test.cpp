// A home whose host was killed, without a host: its record log counts. And a home that changes the
// form of its checkpoints.
#include <filesystem>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

void remember(const Home& home, const std::string& lesson) {
    const Ran said = home.daybook({"say", "main", "Remember: " + lesson});
    INFO(said.err);
    REQUIRE(said.code == 0);
}

std::string newest(const Home& home) {
    return home.ask({"checkpoint", "list", "main"})["checkpoints"]
        .items()
        .front()["id"]
        .as_string();
}

void check_whole(const Home& home, const std::string& checkpoint) {
    const Json verified = home.ask({"checkpoint", "verify", "main"});
    CHECK(verified["ok"].as_bool());
    CHECK(verified["desks"].items().front()["newest"].as_string() == checkpoint);
    const Json proved = home.ask({"journal", "verify", "main"});
    CHECK(proved["ok"].as_bool());
    CHECK(proved["desks"].items().front()["findings"].items().empty());
}

/// The starter configuration with that form.
void use_form(const Home& home, const std::string& form) {
    std::string text = home.read("daybook.toml");
    const std::string former = "checkpoints = \"";
    if (const std::size_t at = text.find(former); at != std::string::npos) {
        text.erase(at, text.find('\n', at) + 1 - at);
    }
    if (const std::size_t at = text.find("\n[host]\n"); at != std::string::npos) {
        text.insert(at + 8, former + form + "\"\n");
    } else {
        text += "\n[host]\n" + former + form + "\"\n";
    }
    home.write("daybook.toml", text);
}

}  // namespace

TEST_CASE("a killed host's writes are verified, proved and backed up without starting it",
          "[cli]") {
    Home home({"--calendar", "always"});
    home.start();
    remember(home, "wait 20 minutes after a gap.");
    remember(home, "half size on expiry day.");
    const std::string last = newest(home);
    home.kill();
    check_whole(home, last);

    const TempFolder elsewhere;
    const std::string backup = (elsewhere / "backup.tar").string();
    REQUIRE(home.daybook({"backup", backup}).code == 0);
    const std::string copy = (elsewhere / "home").string();
    const Ran restored =
        run_program("daybook", {"restore-home", backup, "--home", copy}, elsewhere.path());
    INFO(restored.err);
    REQUIRE(restored.code == 0);
    const Ran verified = run_program(
        "daybook", {"checkpoint", "verify", "--json", "--home", copy}, elsewhere.path());
    CHECK(verified.code == 0);
    CHECK(verified.json()["desks"].items().front()["newest"].as_string() == last);

    home.start();
    CHECK(newest(home) == last);
    check_whole(home, last);
}

TEST_CASE("a home changes the form of its checkpoints, after a stop and after a kill", "[cli]") {
    Home home({"--calendar", "always"});
    use_form(home, "plain");
    const bool is_killed = GENERATE(false, true);
    std::string last;
    for (const char* form : {"plain", "journalled", "plain", "journalled"}) {
        use_form(home, form);
        home.start();
        CHECK((last.empty() || newest(home) == last));
        remember(home, std::string("one more lesson in the form ") + form + ".");
        last = newest(home);
        const bool has_log =
            fs::exists(home.path() / "state/workspace/.checkpoints/main.git/daybook.records");
        CHECK((has_log || form == std::string("plain")));
        if (is_killed) {
            home.kill();
        } else {
            home.stop();
        }
        check_whole(home, last);
    }
}
