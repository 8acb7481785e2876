// When the host dies, however it dies, its runners die too.
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/plugin/fixture_plugins.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

/// A host in a process of its own: starts two runners, one of them in an endless call, tells their
/// pids and waits to be killed.
[[noreturn]] void be_a_host(const PluginEntry& echo,
                            const PluginEntry& hang,
                            const RunnerSettings& settings,
                            int tell) {
    // Everything is made after the fork: this process has one thread and none of its parent's.
    IoThread io;
    DeskInbox inbox;
    RunnerProcess quiet(io.loop, inbox, echo, settings, {});
    RunnerProcess busy(io.loop, inbox, hang, settings, {});
    if (!quiet.ensure_ready(within(kPatience)) || !busy.ensure_ready(within(kPatience))) {
        ::_exit(1);
    }
    const auto call = busy.attach({[](const channel::Message&) {}, [](const Error&) {}});
    channel::FieldWriter fields;
    fields.add("tool").add("hang").add("{}").add_number(0).add("");
    if (!busy.send({channel::MessageType::call, call, fields.take()})) {
        ::_exit(1);
    }
    const pid_t pids[2] = {quiet.status().pid, busy.status().pid};
    if (::write(tell, pids, sizeof(pids)) != static_cast<ssize_t>(sizeof(pids))) {
        ::_exit(1);
    }
    while (true) {
        ::pause();
    }
}

/// Whether the process ends within the time; it is no child of ours.
bool ends(const UniqueFd& pidfd) {
    struct pollfd waiting = {pidfd.get(), POLLIN, 0};
    return ::poll(&waiting, 1, 10000) == 1;
}

}  // namespace

// X11
TEST_CASE("a host that is killed takes every runner with it, also one that is busy", "[plugin]") {
    TempFolder folder;
    std::filesystem::create_directories(folder / "state");
    std::filesystem::create_directories(folder / "desk");
    folder.write("probe", "x");
    LinuxOs os;
    auto registry = Registry::load(os,
                                   {{fixture_folder()}, folder / "state", {fixture_folder()}},
                                   config_with({"echo", "hang"}));
    REQUIRE(registry);
    RunnerSettings settings;
    settings.program = real_runner();
    settings.desk_dir = folder / "desk";
    settings.desk = "main";
    settings.zone = "Etc/UTC";
    settings.probe_file = folder / "probe";
    int tell[2] = {-1, -1};
    REQUIRE(::pipe2(tell, O_CLOEXEC) == 0);
    const UniqueFd read_end(tell[0]);
    UniqueFd write_end(tell[1]);
    const pid_t host = ::fork();
    REQUIRE(host >= 0);
    if (host == 0) {
        be_a_host(*registry->find("echo"), *registry->find("hang"), settings, write_end.get());
    }
    write_end.reset();
    pid_t pids[2] = {-1, -1};
    const ssize_t got = ::read(read_end.get(), pids, sizeof(pids));
    UniqueFd runners[2];
    for (int i = 0; i < 2 && got == static_cast<ssize_t>(sizeof(pids)); ++i) {
        runners[i] = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pids[i], 0)));
    }
    ::kill(host, SIGKILL);
    ::waitpid(host, nullptr, 0);
    REQUIRE(got == static_cast<ssize_t>(sizeof(pids)));
    for (const UniqueFd& runner : runners) {
        REQUIRE(runner);
        CHECK(ends(runner));
    }
}
