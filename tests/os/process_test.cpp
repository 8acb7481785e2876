#include "host/os/process.hpp"

#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::must;

namespace {

ChildProcess shell(const std::string& script,
                   int channel = -1,
                   std::vector<std::string> environment = {}) {
    return must(ChildProcess::spawn({"/bin/sh", {"-c", script}, std::move(environment), channel}));
}

void wait_readable(int fd) {
    pollfd ready = {fd, POLLIN, 0};
    REQUIRE(poll(&ready, 1, 10'000) == 1);
}

ExitState wait_end(ChildProcess& child) {
    wait_readable(child.pidfd());
    const auto state = child.try_wait();
    REQUIRE(state);
    return *state;
}

std::string output_of(ChildProcess& child) {
    std::string text;
    char buffer[4096];
    while (true) {
        wait_readable(child.output());
        const ssize_t got = read(child.output(), buffer, sizeof buffer);
        if (got <= 0) {
            return text;
        }
        text.append(buffer, static_cast<std::size_t>(got));
    }
}

}  // namespace

TEST_CASE("a child's exit code and both its outputs are collected", "[os]") {
    ChildProcess child = shell("echo out; echo err >&2; exit 3");
    CHECK(output_of(child) == "out\nerr\n");
    const ExitState state = wait_end(child);
    CHECK(state.code == 3);
    CHECK(state.signal == 0);
    CHECK(state.str() == "exit code 3");
    CHECK(child.try_wait()->code == 3);
    child.kill();  // harmless
}

TEST_CASE("a running child has no state yet; killed, it says by which signal", "[os]") {
    ChildProcess child = shell("echo ready; exec cat <&3", -1);
    // descriptor 3 does not exist: the shell ends by itself
    CHECK(output_of(child).starts_with("ready\n"));
    CHECK(wait_end(child).code != 0);

    int pair[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    const UniqueFd ours(pair[0]);
    UniqueFd theirs(pair[1]);
    ChildProcess waiting = shell("exec cat <&3", theirs.get());
    CHECK(!waiting.try_wait());
    waiting.kill();
    const ExitState state = wait_end(waiting);
    CHECK(state.signal == SIGKILL);
    CHECK(state.str() == "signal 9 (SIGKILL)");
}

TEST_CASE("the child gets the channel as descriptor 3 and nothing else of ours", "[os]") {
    int pair[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    const UniqueFd ours(pair[0]);
    UniqueFd theirs(pair[1]);
    const UniqueFd leaked(
        open("/dev/null", O_RDONLY));  // not close-on-exec, as a careless library leaves it
    const int leak_at = fcntl(leaked.get(), F_DUPFD, 40);
    const UniqueFd leaked_high(leak_at);
    ChildProcess child =
        shell("echo hello >&3; ls /proc/self/fd; pwd; env", theirs.get(), {"NAME=value"});
    theirs.reset();
    char buffer[64];
    const ssize_t got = recv(ours.get(), buffer, sizeof buffer, 0);
    CHECK(std::string(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0))) == "hello\n");
    const std::string text = output_of(child);
    INFO(text);
    CHECK(text.find("40") == std::string::npos);
    CHECK(text.starts_with("0\n1\n2\n3\n4\n/\n"));  // 4 is the listing's own
    CHECK(text.find("NAME=value") != std::string::npos);
    CHECK(text.find("HOME=") == std::string::npos);
    CHECK(wait_end(child).code == 0);
}

TEST_CASE("the channel survives when its number is already one of the child's", "[os]") {
    int pair[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
    const UniqueFd ours(pair[0]);
    UniqueFd theirs(pair[1]);
    const int saved = fcntl(3, F_DUPFD_CLOEXEC, 20);
    REQUIRE(dup3(theirs.get(), 3, O_CLOEXEC) == 3);
    ChildProcess child = shell("echo three >&3", 3);
    close(3);
    if (saved >= 0) {
        REQUIRE(dup3(saved, 3, O_CLOEXEC) == 3);
        close(saved);
    }
    theirs.reset();
    char buffer[64];
    CHECK(recv(ours.get(), buffer, sizeof buffer, 0) == 6);
    CHECK(wait_end(child).code == 0);
}

TEST_CASE("blocked and ignored signals of ours are not the child's", "[os]") {
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    REQUIRE(pthread_sigmask(SIG_BLOCK, &blocked, &before) == 0);
    const auto old = std::signal(SIGPIPE, SIG_IGN);
    ChildProcess child = shell("kill -TERM $$; sleep 10");
    std::signal(SIGPIPE, old);
    REQUIRE(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);
    CHECK(wait_end(child).signal == SIGTERM);
}

TEST_CASE("a program that is not there is not found, one that cannot run is io", "[os]") {
    const auto missing = ChildProcess::spawn({"/nonexistent/program", {}, {}, -1});
    REQUIRE(!missing);
    CHECK(missing.error().code() == Errc::not_found);
    CHECK(missing.error().message().find("/nonexistent/program") != std::string::npos);
    CHECK(ChildProcess::spawn({"/etc/hostname", {}, {}, -1}).error().code() == Errc::io);
}

TEST_CASE("a child that goes out of scope or is replaced is ended", "[os]") {
    pid_t pid = -1;
    {
        const ChildProcess child = shell("exec sleep 1000");
        pid = child.pid();
        CHECK(kill(pid, 0) == 0);
    }
    CHECK(kill(pid, 0) != 0);
    ChildProcess one = shell("exec sleep 1000");
    const pid_t first = one.pid();
    one = shell("exit 0");
    CHECK(kill(first, 0) != 0);
    CHECK(wait_end(one).code == 0);
}

TEST_CASE("a child whose end was watched without blocking leaves no zombie", "[os]") {
    pid_t pid = -1;
    {
        const ChildProcess child = shell("exec sleep 1000");
        pid = child.pid();
        const int flags = fcntl(child.pidfd(), F_GETFL);
        REQUIRE(fcntl(child.pidfd(), F_SETFL, flags | O_NONBLOCK) == 0);
    }
    CHECK(kill(pid, 0) != 0);  // a zombie would still answer
}
