// Walled children: lines in and out, bounds, walls, and one that is kept between calls.
#include <csignal>
#include <filesystem>
#include <string>

#include "tests/plugin/child_bench.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;
using Kind = ChildProgram::Output::Kind;

TEST_CASE("a program answers line by line, in its own folder and a clean environment", "[plugin]") {
    ChildBench bench;
    ProgramConfig program = puppet();
    program.arguments = {"one"};
    program.environment = {{"OWNER", "says"}};
    Talk talk(must(bench.attach(program, {{"two"}, {"OWNER=no", "PLUGIN=asks"}, false, false})));
    REQUIRE(talk.started());
    CHECK(talk.line() == "arg one");
    CHECK(talk.line() == "arg two");
    CHECK(talk.ask("say hello") == "hello");
    CHECK(talk.ask("cwd") == bench.own().string());
    CHECK(talk.ask("env HOME") == bench.own().string());
    CHECK(talk.ask("env TMPDIR") == bench.own().string());
    CHECK(talk.ask("env OWNER") == "says");
    CHECK(talk.ask("env PLUGIN") == "asks");
    CHECK(talk.ask("env USER") == "(none)");
    CHECK(talk.ask("env TZ") == "Asia/Kolkata");
    CHECK(talk.program->status().walls.find("\"network\":\"none\"") != std::string::npos);
    talk.program->close_input();
    CHECK(talk.next().kind == Kind::ended);
    CHECK(talk.end().exit.code == 0);
}

TEST_CASE("the next call finds the program as the last one left it", "[plugin]") {
    ChildBench bench;
    int pid = 0;
    {
        Talk talk(must(bench.attach()));
        REQUIRE(talk.started());
        CHECK(talk.program.is_fresh);
        pid = talk.program->status().pid;
    }
    {
        Talk talk(must(bench.attach()));
        CHECK_FALSE(talk.program.is_fresh);
        CHECK(talk.program->status().pid == pid);
        CHECK(talk.ask("say again") == "again");
        CHECK(bench.attach(puppet(), {{}, {}, true, false}).error().code() == Errc::busy);
        // One of this call alone stands beside it and goes with it.
        int own = 0;
        {
            Talk beside(must(bench.attach(puppet(), {{}, {}, false, true})));
            REQUIRE(beside.started());
            own = beside.program->status().pid;
            CHECK(own != pid);
        }
        CHECK(ends(own));
        CHECK(bench.children().statuses().size() == 1);
    }
    Talk fresh(must(bench.attach(puppet(), {{}, {}, true, false})));
    REQUIRE(fresh.started());
    CHECK(ends(pid));
    CHECK(fresh.program->status().generation > 1);
}

TEST_CASE("a program that has ended is started anew by the next call", "[plugin]") {
    ChildBench bench;
    {
        Talk talk(must(bench.attach()));
        REQUIRE(talk.started());
        REQUIRE(must(talk.program->offer("half of a li")));
        const auto rest = talk.next();
        CHECK(rest.kind == Kind::rest);
        CHECK(rest.text == "of a li");
        CHECK(talk.next().kind == Kind::ended);
        CHECK(talk.end().exit.code == 3);
        CHECK(talk.program->offer("say more").error().code() == Errc::unavailable);
    }
    Talk talk(must(bench.attach()));
    CHECK(talk.program.is_fresh);
    CHECK(talk.ask("say hello") == "hello");
}

TEST_CASE("a program that floods is read no further than the bound", "[plugin]") {
    ChildBench bench;
    Talk talk(must(bench.attach()));
    Talk other(must(bench.attach(puppet(), {{}, {}, false, true})));
    REQUIRE(must(talk.program->offer("flood")));
    CHECK(talk.line() == "a line of a flood that nobody asked for");
    CHECK(other.ask("say still here") == "still here");
    REQUIRE(talk.program->signal(SIGKILL));
    CHECK(talk.end().exit.signal == SIGKILL);
    std::size_t lines = 0;
    while (talk.next().kind != Kind::ended) {
        ++lines;
    }
    // What was held, what one callback more may bring, and what stood in the pipe.
    CHECK(lines <= ChildProgram::kMaxLines + 3 * 65536 / 39);
}

TEST_CASE("a line over the bound is cut and said to be", "[plugin]") {
    ChildBench bench;
    Talk talk(must(bench.attach()));
    REQUIRE(must(talk.program->offer("long " + std::to_string(ChildProgram::kMaxLine + 10))));
    const auto line = talk.next();
    CHECK(line.kind == Kind::cut);
    CHECK(line.text.size() == ChildProgram::kMaxLine);
    CHECK(talk.ask("say and on") == "and on");
    CHECK(talk.ask("long " + std::to_string(1 << 20)).size() == 1 << 20);
}

TEST_CASE("a program that does not read fills its input and costs no more", "[plugin]") {
    ChildBench bench;
    Talk talk(must(bench.attach()));
    CHECK(talk.ask("deaf") == "ok");
    const std::string line(100000, 'x');
    int taken = 0;
    while (must(talk.program->offer(line))) {
        REQUIRE(++taken < 100);
    }
    CHECK(taken >= 10);
    CHECK(talk.program->offer(std::string(ChildProgram::kMaxLine + 1, 'x')).error().code() ==
          Errc::full);
    CHECK(talk.program->offer("two\nlines").error().code() == Errc::invalid);
}

TEST_CASE("error output is kept, bounded, and logged at a rate", "[plugin]") {
    ChildBench bench;
    Talk talk(must(bench.attach()));
    CHECK(talk.ask("err something is wrong") == "ok");
    CHECK(talk.until([&] { return !talk.program->error_lines().empty(); }));
    CHECK(talk.program->error_lines().front() == "something is wrong");
    REQUIRE(must(talk.program->offer("flood_errors")));
    CHECK(talk.until(
        [&] { return talk.program->error_lines().size() == ChildProgram::kErrorLines; }));
    CHECK(bench.log().size() <= 300);
}

TEST_CASE("walls stand around a program at every level of Landlock", "[plugin]") {
    for (const int cap : {7, 2, 1}) {
        INFO("Landlock capped to " << cap);
        ChildBench bench;
        bench.settings.child.landlock_cap = cap;
        ProgramConfig program = puppet();
        bench.folder.write("granted/prices.csv", "1\n");
        program.reads = {bench.folder / "granted", bench.folder / "absent"};
        Talk talk(must(bench.attach(program)));
        REQUIRE(talk.started());
        const std::string root = bench.folder.path().string();
        CHECK(talk.ask("read " + root + "/desk/Memory.md") == "EACCES");
        CHECK(talk.ask("write " + root + "/desk/Memory.md") == "EACCES");
        CHECK(talk.ask("read " + root + "/keys/key") == "EACCES");
        CHECK(talk.ask("write " + root + "/granted/prices.csv") == "EACCES");
        CHECK(talk.ask("read " + root + "/granted/prices.csv") == "worked");
        CHECK(talk.ask("write " + bench.own().string() + "/own") == "worked");
        CHECK(talk.ask("write /tmp/daybook-child-was-here") == "EACCES");
        CHECK(talk.ask("outlive") == "EPERM");
        CHECK(talk.ask("watch " + root + "/desk") == "ENOSPC");
        CHECK_THAT(talk.program->status().walls, Contains("absent"));
    }
}

TEST_CASE("a program is not started where its walls could not stand", "[plugin]") {
    ChildBench bench;
    ProgramConfig program = puppet();
    const auto reason = [&] {
        Talk talk(must(bench.attach(program, {{}, {}, false, true})));
        const auto started = talk.started();
        REQUIRE_FALSE(started);
        CHECK(started.error().code() == Errc::refused);
        CHECK(talk.next().kind == Kind::ended);
        return started.error().message();
    };
    SECTION("a granted folder that holds the host's state") {
        program.reads = {bench.folder.path()};
        CHECK_THAT(reason(), Contains("reading") && Contains("do not stand"));
    }
    SECTION("no Landlock and the owner's word for that") {
        bench.settings.child.isolation = Isolation::seccomp_only;
        CHECK_THAT(reason(), Contains("without Landlock"));
    }
    SECTION("connections that the kernel cannot hold to ports") {
        program.network = {4711};
        bench.settings.child.landlock_cap = 2;
        CHECK_THAT(reason(), Contains("ABI 2") && Contains("unconfined_network"));
    }
    SECTION("a script") {
        bench.folder.write("script", "#!/bin/sh\necho hello\n");
        program.path = bench.folder / "script";
        std::filesystem::permissions(program.path, std::filesystem::perms(0755));
        CHECK_THAT(reason(), Contains("Permission denied") && Contains("interpreter"));
    }
    SECTION("a program that everybody may change") {
        bench.folder.write("open", "x");
        program.path = bench.folder / "open";
        std::filesystem::permissions(program.path, std::filesystem::perms(0777));
        CHECK_THAT(bench.attach(program).error().message(), Contains("everybody may change it"));
    }
    SECTION("no program") {
        program.path = "/nowhere/to/be/found";
        CHECK(bench.attach(program).error().code() == Errc::refused);
    }
}

TEST_CASE("a port that was granted is one that the program may connect to", "[plugin]") {
    ChildBench bench;
    ProgramConfig program = puppet();
    program.network = {4711};
    Talk talk(must(bench.attach(program)));
    const auto started = talk.started();
    if (!started) {
        CHECK_THAT(started.error().message(), Contains("unconfined_network"));
        return;  // this kernel is below ABI 4
    }
    CHECK_THAT(talk.program->status().walls, Contains("\"network\":\"ports\""));
}

TEST_CASE("node runs behind the walls and gets nowhere", "[plugin]") {
    const std::filesystem::path node = "/usr/bin/node";
    if (!std::filesystem::exists(node)) {
        WARN("skipped: there is no /usr/bin/node");
        return;
    }
    for (const int cap : {7, 2}) {
        ChildBench bench;
        bench.settings.child.landlock_cap = cap;
        bench.folder.write("script/main.js", R"js(
const fs = require("fs");
const tried = (act) => { try { act(); return "worked"; } catch (e) { return e.code; } };
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
    const [verb, path] = line.split(" ");
    if (verb === "read") console.log(tried(() => fs.readFileSync(path)));
    if (verb === "write") console.log(tried(() => fs.writeFileSync(path, "x")));
    if (verb === "kill") console.log(tried(() => process.kill(+path, 0)));
    if (verb === "run") console.log(require("child_process").spawnSync(path).error?.code ?? "ran");
});
)js");
        ProgramConfig program;
        program.name = "node";
        program.path = node;
        program.arguments = {(bench.folder / "script/main.js").string()};
        program.reads = {bench.folder / "script"};
        Talk talk(must(bench.attach(program)));
        REQUIRE(talk.started());
        const std::string root = bench.folder.path().string();
        CHECK(talk.ask("write own") == "worked");
        CHECK(talk.ask("read " + root + "/desk/Memory.md") == "EACCES");
        CHECK(talk.ask("write " + root + "/desk/Memory.md") == "EACCES");
        CHECK(talk.ask("read " + root + "/keys/key") == "EACCES");
        CHECK(talk.ask("kill " + std::to_string(::getpid())) == "EPERM");
        CHECK(talk.ask("run /usr/bin/id") == "EACCES");
        CHECK(std::filesystem::exists(bench.own("node") / "own"));
    }
}
