// However it ends, nothing of a walled child is left: not after its own end, its launcher's, the
// host's, and not what made itself a daemon.
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/plugin/child_bench.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

/// The daemon's pid, which could not leave.
pid_t daemon_of(Talk& talk) {
    const std::string said = talk.ask("daemon");
    CHECK_THAT(said, Contains("stayed"));
    return std::stoi(said);
}

/// A host in a process of its own, with one child that has a daemon; tells three pids and waits.
[[noreturn]] void be_a_host(int tell) {
    ChildBench bench;
    Talk talk(must(bench.attach()));
    if (!talk.started()) {
        ::_exit(1);
    }
    const ChildStatus status = talk.program->status();
    const pid_t pids[3] = {status.launcher, status.pid, daemon_of(talk)};
    if (::write(tell, pids, sizeof pids) != static_cast<ssize_t>(sizeof pids)) {
        ::_exit(1);
    }
    for (;;) {
        ::pause();
    }
}

}  // namespace

TEST_CASE("a daemon that a program leaves behind ends with it", "[plugin]") {
    for (const int cap : {7, 1}) {
        ChildBench bench;
        bench.settings.child.landlock_cap = cap;
        Talk talk(must(bench.attach()));
        const pid_t left = daemon_of(talk);
        CHECK_FALSE(has_ended(left));
        REQUIRE(must(talk.program->offer("exit 7")));
        CHECK(talk.end().exit.code == 7);
        CHECK(ends(left));
        CHECK(talk.next().kind == ChildProgram::Output::Kind::ended);
    }
}

TEST_CASE("a program that ignores the end it is asked for is ended", "[plugin]") {
    ChildBench bench;
    Talk talk(must(bench.attach(puppet(), {{"--stay"}, {}, false, false})));
    CHECK(talk.line() == "arg --stay");
    CHECK(talk.ask("stubborn") == "ok");
    REQUIRE(talk.program->signal(SIGINT));
    CHECK(talk.ask("say still here") == "still here");
    talk.program->stop();
    CHECK(talk.end().exit.signal == SIGKILL);
}

TEST_CASE("an interrupt reaches the program and not its launcher", "[plugin]") {
    ChildBench bench;
    Talk talk(must(bench.attach()));
    REQUIRE(talk.started());
    REQUIRE(talk.program->signal(SIGINT));
    const auto end = talk.end();
    CHECK(end.is_known);
    CHECK(end.exit.signal == SIGINT);
    CHECK(talk.program->signal(SIGINT).error().code() == Errc::unavailable);
}

TEST_CASE("a program ends with its launcher, and so does its daemon", "[plugin]") {
    ChildBench bench;
    Talk talk(must(bench.attach()));
    const pid_t left = daemon_of(talk);
    const ChildStatus status = talk.program->status();
    REQUIRE(::kill(status.launcher, SIGKILL) == 0);
    CHECK_FALSE(talk.end().is_known);
    CHECK(ends(status.pid));
    CHECK(ends(left));
}

TEST_CASE("nothing of a child is left when the desk lets go of it", "[plugin]") {
    pid_t left = 0;
    pid_t pid = 0;
    {
        ChildBench bench;
        Talk talk(must(bench.attach()));
        left = daemon_of(talk);
        pid = talk.program->status().pid;
    }
    CHECK(ends(left));
    CHECK(ends(pid));
}

TEST_CASE("an idle program is ended, and the next call starts another", "[plugin]") {
    ChildBench bench;
    ProgramConfig program = puppet();
    program.idle = std::chrono::seconds(0);
    pid_t pid = 0;
    {
        Talk talk(must(bench.attach(program)));
        REQUIRE(talk.started());
        pid = talk.program->status().pid;
    }
    CHECK(ends(pid));
    Talk talk(must(bench.attach(program)));
    CHECK(talk.ask("say hello") == "hello");
}

TEST_CASE("a host that is killed takes its children and their daemons with it", "[plugin]") {
    int tell[2] = {-1, -1};
    REQUIRE(::pipe(tell) == 0);
    const UniqueFd read_end(tell[0]);
    UniqueFd write_end(tell[1]);
    const pid_t host = ::fork();
    REQUIRE(host >= 0);
    if (host == 0) {
        be_a_host(write_end.get());
    }
    write_end.reset();
    pid_t pids[3] = {-1, -1, -1};
    const ssize_t got = ::read(read_end.get(), pids, sizeof pids);
    ::kill(host, SIGKILL);
    ::waitpid(host, nullptr, 0);
    REQUIRE(got == static_cast<ssize_t>(sizeof pids));
    for (const pid_t pid : pids) {
        CHECK(ends(pid));
    }
}
