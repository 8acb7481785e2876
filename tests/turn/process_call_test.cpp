// process/1 through whole desks: a tool that talks to a walled child, from call to call.
#include <string>

#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

struct ProcessDesk {
    DeskBench bench;

    ProcessDesk() {
        bench.desk_config.plugins = {"starter", "echo"};
        PluginConfig& plugin = bench.config.plugins["starter"];
        plugin.name = "starter";
        ProgramConfig& program = plugin.programs["puppet"];
        program.name = "puppet";
        program.path = std::string(DAYBOOK_BUILD_DIR) + "/tests/programs/puppet";
        program.reads = {bench.folder / "granted"};
        bench.config.plugins["echo"].name = "echo";
        bench.config.host.call_timeout = std::chrono::milliseconds(10000);
    }
    Json talk(const std::string& arguments) {
        const auto answer = bench.call_tool("talk", arguments);
        if (!answer.result) {
            return Json::object()
                .set("error", name_of(answer.result.error().code()))
                .set("message", answer.result.error().message());
        }
        return must(Json::parse(*answer.result));
    }
};

std::string first_line(const Json& answer) {
    const auto& lines = answer["lines"].items();
    return lines.empty() ? answer.dump() : lines.front().as_string();
}

}  // namespace

TEST_CASE("a call attaches to the program that the last call left running", "[turn]") {
    ProcessDesk desk;
    desk.bench.open();
    const Json first = desk.talk(R"({"send":"say hello","take":1})");
    CHECK(first_line(first) == "hello");
    CHECK(first["fresh"].as_bool());
    const Json second = desk.talk(R"({"send":"say again","take":1})");
    CHECK(first_line(second) == "again");
    CHECK_FALSE(second["fresh"].as_bool());
    CHECK(second["generation"].as_integer() == first["generation"].as_integer());
    // A program is an effect outside: intended before, concluded after.
    CHECK(desk.bench.records("effect_intent").size() == 2);
    CHECK(desk.bench.records("effect_outcome").size() == 2);
    const Json ended = desk.talk(R"({"close":true,"wait_ms":10000})");
    CHECK(ended["end"]["state"].as_string() == "ended");
    CHECK(ended["end"]["code"].as_integer(-1) == 0);
}

TEST_CASE("a plugin that crashes leaves its program to the next call", "[turn]") {
    ProcessDesk desk;
    desk.bench.open();
    const Json first = desk.talk(R"({"send":"say hello","take":1})");
    const Json crashed = desk.talk(R"({"send":"say left over","crash":true})");
    CHECK(crashed["error"].as_string() == "plugin_crashed");
    const Json next = desk.talk(R"({"take":1})");
    CHECK(first_line(next) == "left over");
    CHECK(next["generation"].as_integer() == first["generation"].as_integer());
    const Json fresh = desk.talk(R"({"fresh":true,"send":"say new","take":1})");
    CHECK(first_line(fresh) == "new");
    CHECK(fresh["generation"].as_integer() > first["generation"].as_integer());
}

TEST_CASE("a program that never answers costs its own call only", "[turn]") {
    ProcessDesk desk;
    desk.bench.config.host.call_timeout = std::chrono::milliseconds(700);
    desk.bench.open();
    SECTION("and goes on") {
        const Json late = desk.talk(R"({"take":1})");
        CHECK(late["error"].as_string() == "deadline");
        CHECK_FALSE(desk.talk(R"({"send":"say hello","take":1})")["fresh"].as_bool(true));
    }
    SECTION("and is interrupted where the plugin wants that") {
        const Json late = desk.talk(R"({"take":1,"on_cancel":"interrupt"})");
        CHECK(late["error"].as_string() == "deadline");
        // The signal is on its way: soon an attach finds no program running.
        const SteadyTime until = patience();
        while (!desk.talk("{}")["fresh"].as_bool() && std::chrono::steady_clock::now() < until) {
        }
        CHECK(std::chrono::steady_clock::now() < until);
    }
    CHECK(desk.bench.call_tool("echo", R"({"text":"x"})").result);
}

TEST_CASE("a program of the call alone ends with the call", "[turn]") {
    ProcessDesk desk;
    desk.bench.open();
    CHECK(first_line(desk.talk(R"({"own":true,"send":"say one","take":1})")) == "one");
    const Json next = desk.talk(R"({"own":true,"send":"half","take":1})");
    CHECK(next["fresh"].as_bool());
    CHECK(first_line(desk.talk(R"({"arg":"x","own":true,"take":1})")) == "arg x");
}

TEST_CASE("what the owner did not write is not started", "[turn]") {
    ProcessDesk desk;
    desk.bench.open();
    const Json refused = desk.talk(R"({"program":"sh"})");
    CHECK(refused["error"].as_string() == "refused");
    CHECK_THAT(refused["message"].as_string(), Contains("[plugin.starter.programs.sh]"));
}

TEST_CASE("the desk's own files are closed to a program, and its folder is its own", "[turn]") {
    ProcessDesk desk;
    desk.bench.folder.write("workspace/main/Memory.md", "- what it knows\n");
    desk.bench.folder.write("workspace/main/notes/2026-10-19.md", "- a note\n");
    desk.bench.open();
    const std::string root = desk.bench.folder.path().string();
    const auto ask = [&](const std::string& line) {
        return first_line(desk.talk(R"({"take":1,"send":")" + line + "\"}"));
    };
    CHECK(ask("read " + root + "/workspace/main/Memory.md") == "EACCES");
    CHECK(ask("write " + root + "/workspace/main/notes/2026-10-19.md") == "EACCES");
    CHECK(ask("cwd") == root + "/scratch/starter/main/child/puppet");
    CHECK(ask("write own") == "worked");
}

TEST_CASE("a quiet turn starts no program", "[turn]") {
    const TurnAllowance quiet =
        TurnAllowance::of(TurnKind::note_worker, must(DeskDate::parse("2026-10-19")));
    CHECK((quiet.groups() & kProcess) == 0);
}
