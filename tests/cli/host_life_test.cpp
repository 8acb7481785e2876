// Starting, stopping, dying and coming back.
#include <csignal>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

std::string notes_of(const Home& home) {
    return home.ask({"memory", "notes", "main"})["text"].as_string();
}

}  // namespace

TEST_CASE("a host is started once, and stopped with its running turns done", "[cli]") {
    Home home;
    home.start();
    const Json again = home.ask({"host", "start"});
    CHECK_FALSE(again["started"].as_bool(true));
    CHECK(again["pid"].as_integer() == home.pid());
    const Ran second =
        run_program("daybookd", {"--home", home.path().string(), "--foreground"}, "/");
    CHECK(second.code == 6);
    CHECK_THAT(second.err, Catch::Contains("process " + std::to_string(home.pid())));
    home.stop();
    CHECK(home.daybook({"status"}).code == 5);
    CHECK_FALSE(std::filesystem::exists(home.path() / "run/daybook.sock"));
    home.start();
    home.stop();
    const Json journal = [&] {
        home.start();
        Json shown = home.ask({"journal", "show", "_host", "--types", "host"});
        home.stop();
        return shown;
    }();
    std::string order;
    for (const Json& record : journal["records"].items()) {
        order += record["data"]["what"].as_string() + " ";
    }
    CHECK(order == "started stopping stopped started stopping stopped started ");
}

// M30
TEST_CASE("what was acknowledged before kill -9 is there once afterwards", "[cli]") {
    Home home;
    home.start();
    for (int round = 1; round <= 3; ++round) {
        const std::string lesson = "lesson number " + std::to_string(round);
        const Json called =
            home.ask({"tool", "call", "main", "add_note", R"({"text":")" + lesson + R"("})"});
        CHECK(called["checkpoints"].items().size() == 1);
        const Json accepted = home.ask({"trigger",
                                        "main",
                                        "message",
                                        "What is in memory?",
                                        "--key",
                                        "k" + std::to_string(round)});
        CHECK_FALSE(accepted["duplicate"].as_bool(true));
        home.kill();
        home.start();
        CHECK(count_of(notes_of(home), lesson) == 1);
        const Json repeated = home.ask({"trigger",
                                        "main",
                                        "message",
                                        "What is in memory?",
                                        "--wait",
                                        "--key",
                                        "again" + std::to_string(round)});
        CHECK(repeated.is_object());
    }
    // Each accepted trigger has run exactly once.
    const Json ends =
        home.ask({"journal", "show", "main", "--types", "message,turn_end", "--limit", "1000"});
    std::size_t messages = 0;
    std::string settled;
    for (const Json& record : ends["records"].items()) {
        if (record["type"].as_string() == "message") {
            ++messages;
        } else {
            settled += record["data"]["trigger"].as_string() + " ";
        }
    }
    CHECK(messages == 6);
    for (const Json& record : ends["records"].items()) {
        if (record["type"].as_string() == "message") {
            CHECK(count_of(settled, record["id"].as_string() + " ") == 1);
        }
    }
    home.stop();
}

TEST_CASE("a wrong configuration does not disturb a running host", "[cli]") {
    Home home;
    home.start();
    const std::string good = home.read("daybook.toml");
    home.write("daybook.toml", "[host]\nlog_level = 5\n");
    REQUIRE(::kill(home.pid(), SIGHUP) == 0);
    CHECK(eventually(
        [&] { return count_of(home.read("state/log/daybookd.log"), "the old one stays") == 1; }));
    CHECK(home.daybook({"status"}).code == 0);
    home.write("daybook.toml", good);
    REQUIRE(::kill(home.pid(), SIGHUP) == 0);
    CHECK(eventually([&] {
        return count_of(home.read("state/log/daybookd.log"), "configuration read again") == 1;
    }));
    home.stop();
}

TEST_CASE("SIGTERM ends the daemon with 0", "[cli]") {
    const Home home;
    Running daemon("daybookd", {"--home", home.path().string()}, home.path());
    REQUIRE(eventually([&] { return home.daybook({"status"}).code == 0; }));
    daemon.signal(SIGTERM);
    CHECK(daemon.wait() == 0);
}

TEST_CASE("a desk that does not open leaves the others serving", "[cli]") {
    Home home;
    home.write("daybook.toml",
               home.read("daybook.toml") +
                   "\n[desk.broken]\ncalendar = \"no-such-calendar\"\nmodels = [\"clerk\"]\n"
                   "\n[desk.main2]\ncalendar = \"always\"\nmodels = [\"clerk\"]\nplugins = "
                   "[\"memory\"]\n");
    home.start();
    const Json desks = home.ask({"desk", "list"});
    REQUIRE(desks["desks"].items().size() == 3);
    const Json& broken = desks["desks"].items()[0];
    CHECK(broken["name"].as_string() == "broken");
    CHECK(broken["state"].as_string() == "failed");
    CHECK_THAT(broken["reason"].as_string(), Catch::Contains("no-such-calendar"));
    const Ran said = home.daybook({"say", "broken", "hello"});
    CHECK(said.code == 5);
    CHECK_THAT(said.err, Catch::Contains("no-such-calendar"));
    CHECK(home.daybook({"tool", "call", "main", "add_note", R"({"text":"for main only"})"}).code ==
          0);
    // A desk whose name begins with another's is another.
    CHECK(home.ask({"memory", "notes", "main2"})["text"].as_string().empty());
    CHECK(home.daybook({"doctor"}).code == 1);
    home.stop();
}

TEST_CASE("a home too deep for a socket's address works all the same", "[cli]") {
    const TempFolder folder;
    const std::string home = (folder / std::string(60, 'd') / std::string(60, 'e')).string();
    REQUIRE(run_program("daybook", {"init", home, "--quiet"}, folder.path()).code == 0);
    const Ran started =
        run_program("daybook", {"host", "start", "--home", home, "--json"}, folder.path());
    INFO(started.err);
    REQUIRE(started.code == 0);
    CHECK(run_program("daybook", {"status", "--home", home}, folder.path()).code == 0);
    const Ran stopped = run_program("daybook", {"host", "stop", "--home", home}, folder.path());
    CHECK(stopped.code == 0);
}

TEST_CASE("a desk that its owner paused stays so over kill -9, and goes on when told", "[cli]") {
    Home home;
    home.start();
    CHECK(home.ask({"desk", "pause", "--reason", "a holiday"})["changed"].as_bool());
    const Json accepted = home.ask({"trigger", "main", "alert", "--text", "a gap"});
    home.kill();
    home.start();
    const Json status = home.ask({"status"});
    CHECK(status["desks"].items()[0]["state"].as_string() == "paused");
    CHECK(status["desks"].items()[0]["queued"].as_integer() == 1);
    CHECK_FALSE(home.ask({"desk", "interrupt"})["running"].as_bool());
    CHECK(home.daybook({"desk", "resume"}).code == 0);
    CHECK(eventually([&] {
        return home.daybook({"journal", "show", "main", "--types", "turn_end"})
                   .out.find(accepted["trigger"].as_string()) != std::string::npos;
    }));
}
