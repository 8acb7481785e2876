// One host, from a tool call to the git log, through the programs alone.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;

TEST_CASE("a note goes through every seam, and each record names the same checkpoint", "[cli]") {
    Home home;
    home.start();
    const Json called =
        home.ask({"tool", "call", "main", "add_note", R"({"text":"wait 20 minutes after a gap"})"});
    REQUIRE(called["checkpoints"].items().size() == 1);
    const std::string checkpoint = called["checkpoints"].items().front().as_string();
    CHECK(called["result"]["checkpoint"].as_string() == checkpoint);

    const Json notes = home.ask({"memory", "notes", "main"});
    CHECK_THAT(notes["text"].as_string(), Catch::Contains("wait 20 minutes after a gap"));

    const Json journal = home.ask({"journal", "show", "main", "--types", "note_written"});
    REQUIRE(journal["records"].items().size() == 1);
    CHECK(journal["records"].items().front()["data"]["checkpoint"].as_string() == checkpoint);

    const Json shown = home.ask({"checkpoint", "show", "main", checkpoint});
    CHECK(shown["file"].as_string() == notes["file"].as_string());
    const Json diff = home.ask({"checkpoint", "diff", "main", checkpoint});
    REQUIRE(diff["changes"].items().size() == 1);
    CHECK(diff["changes"].items().front()["change"].as_string() == "added");
    CHECK_THAT(diff["changes"].items().front()["diff"].as_string(),
               Catch::Contains("+") && Catch::Contains("20 minutes"));

    // Put back, and the putting back undone.
    const std::string file = notes["file"].as_string();
    const Json restored = home.ask({"checkpoint", "restore", "main", checkpoint, file});
    CHECK(home.ask({"memory", "notes", "main"})["text"].as_string().empty());
    const std::string before = restored["checkpoint"].as_string();
    const Json undone = home.ask({"checkpoint", "restore", "main", before, file});
    CHECK(undone["path"].as_string() == file);
    CHECK(home.ask({"memory", "notes", "main"})["text"].as_string() == notes["text"].as_string());
    CHECK(home.ask({"checkpoint", "list", "main"})["checkpoints"].items().size() >= 3);
    home.stop();
}

TEST_CASE("what is said is answered, kept and told alike by every record", "[cli]") {
    Home home;
    home.start();
    const Ran said = home.daybook({"say", "main", "Remember:", "never average down."});
    INFO(said.err);
    CHECK(said.code == 0);
    CHECK_THAT(said.out, Catch::Contains("clerk"));
    // Behind "--" a word may look like an option.
    CHECK(home.daybook({"say", "main", "--quiet"}).code == 2);
    CHECK(run_program(
              "daybook",
              {"say", "--home", home.path().string(), "--", "main", "-5%", "--json", "is a lot"},
              home.path())
              .code == 0);
    const Ran streamed = home.daybook({"say", "main", "What did you note?", "--json"});
    CHECK(streamed.code == 0);
    const auto lines = streamed.lines();
    REQUIRE(lines.size() >= 3);
    CHECK(lines.front()["event"].as_string() == "accepted");
    CHECK(lines.back()["outcome"].as_string() == "completed");
    CHECK_THAT(lines.back()["answer"].as_string(), Catch::Contains("never average down"));

    const Json session = home.ask({"session", "show", "main"});
    const Json journal = home.ask({"journal", "show", "main", "--types", "turn_end"});
    CHECK(journal["records"].items().size() == 3);
    std::size_t answers = 0;
    for (const Json& line : session["lines"].items()) {
        answers += line["kind"].as_string() == "answer" ? 1U : 0U;
    }
    CHECK(answers == 3);
    CHECK(home.ask({"session", "list", "main"})["sessions"].items().size() == 1);
    home.stop();
}

TEST_CASE("while no model is ready a trigger waits, with each model's reason", "[cli]") {
    Home home;
    home.write("daybook.toml",
               home.read("daybook.toml") +
                   "\n[model.ghost]\nplugin = \"nope\"\n[desk.ghosts]\nmodels = [\"ghost\"]\n");
    home.start();
    Running say("daybook",
                {"say", "ghosts", "hello", "--json", "--home", home.path().string()},
                home.path());
    std::string event;
    Json line;
    while (event != "waiting") {
        auto parsed = Json::parse(say.line());
        REQUIRE(parsed);
        line = *parsed;
        event = line["event"].as_string();
    }
    CHECK_THAT(line["models"].items().front()["reason"].as_string(), Catch::Contains("nope"));
    say.signal(SIGINT);
    CHECK(say.wait() == 130);
    // The trigger stays: durable, and seen.
    CHECK(home.ask({"desk", "show", "ghosts"})["queued"].as_integer() == 1);
    CHECK(home.daybook({"say", "main", "Are you there?"}).code == 0);
    home.stop();
}

TEST_CASE("a trigger with a key is run once", "[cli]") {
    Home home;
    home.start();
    const Words words = {"trigger",
                         "main",
                         "job",
                         "--name",
                         "opening",
                         "--text",
                         "Opening report.",
                         "--key",
                         "k-1",
                         "--wait"};
    const Ran first = home.daybook(words);
    CHECK(first.code == 0);
    const Ran second = home.daybook(words);
    CHECK(second.code == 0);
    CHECK_THAT(second.out, Catch::StartsWith("already done: "));
    CHECK(home.ask({"journal", "show", "main", "--types", "job"})["records"].items().size() == 1);
    CHECK(home.daybook({"trigger", "main", "party", "text"}).code == 2);
    home.stop();
}

TEST_CASE("each kind of failure has its exit code and a sentence", "[cli]") {
    Home home;
    home.start();
    const auto check = [&](const Words& words, int code, const std::string& part) {
        const Ran ran = home.daybook(words);
        INFO(ran.err);
        CHECK(ran.code == code);
        CHECK_THAT(ran.err, Catch::StartsWith("daybook: ") && Catch::Contains(part));
        CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') <= 3);
    };
    check({"say", "nobody", "hello"}, 4, "there is: main");
    check({"tool", "call", "main", "no_such_tool", "{}"}, 4, "no_such_tool");
    check({"tool", "call", "main", "add_note", "{}"}, 2, "text");
    check({"tool", "call", "main", "add_note", "{nonsense}"}, 2, "arguments");
    check({"tool", "call", "main", "write_file", R"({"path":"../main2/Memory.md","text":"x"})"},
          2,
          "../main2/Memory.md");
    check(
        {"tool", "call", "main", "write_file", R"({"path":"mine.txt","text":"x"})"}, 3, "mine.txt");
    check({"tool", "call", "main", "add_note", R"({"text":"my card is 4111 1111 1111 1111"})"},
          3,
          "card");
    check({"checkpoint", "show", "main", "c-99"}, 4, "c-99");
    check({"checkpoint", "restore", "main", "c-99", "state.json"}, 3, "own files");
    check({"session", "show", "main", "--session", "x"}, 2, "");
    check({"memory", "show", "main", "../../keys/control.token"}, 2, "control.token");
    check({"memory", "show", "main", ".checkpoints/main.git/HEAD"}, 3, "own files");
    check({"plugin", "show", "nope"}, 4, "nope");
    check({"journal", "show", "main", "--day", "yesterday"}, 2, "day");
    check({"clock", "advance", "2019-01-02T16:00:00+05:30"}, 2, "real clock");
    home.stop();
}

TEST_CASE("a session's name never becomes a path", "[cli]") {
    Home home;
    home.start();
    for (const char* name :
         {"2026-../../../../etc/passwd", "2026-10-19-1/../../state", "2026-10-19-%2e%2e%2f"}) {
        const Ran ran = home.daybook({"session", "show", "main", name});
        CHECK(ran.code == 2);
        CHECK_THAT(ran.err, Catch::Contains("no name"));
    }
    CHECK(home.daybook({"session", "show", "main", "2001-01-01-1"}).code == 4);
    home.stop();
}

TEST_CASE("status, doctor and the lists speak for people and for programs", "[cli]") {
    Home home;
    home.start();
    REQUIRE(home.daybook({"tool", "call", "main", "add_note", R"({"text":"one"})"}).code == 0);
    const Ran status = home.daybook({"status"});
    CHECK_THAT(status.out,
               Catch::StartsWith("daybookd ") && Catch::Contains("NEXT ROLLOVER") &&
                   Catch::Contains("PLUGINS"));
    CHECK_THAT(status.out, !Catch::Contains("\x1b"));
    const Json object = home.ask({"status"});
    CHECK(object["pid"].as_integer() == home.pid());
    CHECK(object["desks"].items().front()["notes_today"].as_integer() == 1);

    const Ran doctor = home.daybook({"doctor", "--json"});
    const Json checks = doctor.json();
    CHECK(doctor.code == (checks["bad"].as_integer() > 0 ? 1 : 0));
    std::string names;
    for (const Json& check : checks["checks"].items()) {
        names += check["name"].as_string() + ",";
        CHECK((check["state"].as_string() == "ok" || !check["todo"].as_string().empty()));
    }
    for (const char* name : {"user",
                             "keys",
                             "disk",
                             "zone data",
                             "isolation",
                             "walls memory",
                             "plugin memory",
                             "desk main",
                             "checkpoints main",
                             "calendar main",
                             "models main"}) {
        CHECK_THAT(names, Catch::Contains(name));
    }
    const Json plugins = home.ask({"plugin", "list"});
    bool walled = false;
    for (const Json& plugin : plugins["plugins"].items()) {
        for (const Json& runner : plugin["runners"].items()) {
            walled =
                walled || (plugin["name"].as_string() == "memory" && runner["walls"].is_object());
        }
    }
    CHECK(walled);
    CHECK(home.daybook({"plugin", "show", "memory"}).code == 0);
    CHECK(home.daybook({"plugin", "retry", "memory"}).code == 0);
    CHECK(home.daybook({"model", "list"}).code == 0);
    CHECK(home.daybook({"desk", "show"}).code == 0);
    CHECK(home.daybook({"clock", "show"}).code == 0);
    CHECK_THAT(home.daybook({"tool", "list"}).out, Catch::Contains("add_note"));
    home.stop();
}

TEST_CASE("a followed journal tells each line, and Ctrl-C ends it with 130", "[cli]") {
    Home home;
    home.start();
    Running tail("daybook",
                 {"journal",
                  "tail",
                  "main",
                  "-f",
                  "--json",
                  "--types",
                  "note_written",
                  "--home",
                  home.path().string()},
                 home.path());
    REQUIRE(home.daybook({"tool", "call", "main", "add_note", R"({"text":"first"})"}).code == 0);
    auto first = Json::parse(tail.line());
    REQUIRE(first);
    CHECK((*first)["type"].as_string() == "note_written");
    REQUIRE(home.daybook({"tool", "call", "main", "add_note", R"({"text":"second"})"}).code == 0);
    auto second = Json::parse(tail.line());
    REQUIRE(second);
    CHECK((*second)["seq"].as_integer() > (*first)["seq"].as_integer());
    tail.signal(SIGINT);
    CHECK(tail.wait() == 130);
    home.stop();
}

TEST_CASE("the token stands in no log, journal or process list", "[cli]") {
    Home home;
    home.start();
    const std::string token = home.read("state/keys/control.token").substr(0, 64);
    REQUIRE(token.size() == 64);
    REQUIRE(home.daybook({"status"}).code == 0);
    std::ifstream command("/proc/" + std::to_string(home.pid()) + "/cmdline");
    std::stringstream words;
    words << command.rdbuf();
    CHECK_THAT(words.str(), !Catch::Contains(token));
    home.stop();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home.path())) {
        if (entry.is_regular_file() && entry.path().filename() != "control.token") {
            std::ifstream in(entry.path(), std::ios::binary);
            std::stringstream text;
            text << in.rdbuf();
            INFO(entry.path().string());
            CHECK(text.str().find(token) == std::string::npos);
        }
    }
}
