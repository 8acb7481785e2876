// Two processes: this one stays, small and ours, and the other becomes the program. Both are of one
// process group, which the program cannot leave; so one signal to the group ends whatever came of
// it, also what made itself a daemon. This process sends it when the host is gone (the channel's
// end), when the program has ended, and when the host says so; the host sends it when this process
// is gone. The program also dies with this process by PR_SET_PDEATHSIG.
#include "host/runner/child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/os/unique_fd.hpp"
#include "host/plugin/channel.hpp"
#include "host/runner/child_options.hpp"
#include "host/runner/child_walls.hpp"
#include "host/runner/exit_codes.hpp"
#include "host/runner/host_link.hpp"
#include "host/runner/start_report.hpp"
#include "host/runner/walls.hpp"

namespace daybook::runner {
namespace {

constexpr int kChannel = 3;
constexpr unsigned kFirstForeignFd = 4;
constexpr char kStarted = 'W';
constexpr char kFailed = 'E';

/// Ends the whole group, this process too.
[[noreturn]] void end_group() {
    ::kill(0, SIGKILL);
    ::_exit(EXIT_FAILURE);
}

// --- the process that becomes the program

/// Tells the other process why it will not, and ends.
[[noreturn]] void give_up(int report, std::string_view step, const Error& error) {
    channel::FieldWriter fields;
    fields.add(step).add_number(static_cast<std::int64_t>(error.code())).add(error.message());
    const std::string text = kFailed + fields.take();
    static_cast<void>(::write(report, text.data(), text.size()));
    ::_exit(kExitConfine);
}

void need_child(int report, const char* step, const Result<>& outcome) {
    if (!outcome) {
        give_up(report, step, outcome.error());
    }
}

Result<> belong_to(pid_t parent, const ChildOptions& options) {
    if (::prctl(PR_SET_PDEATHSIG, static_cast<unsigned long>(SIGKILL), 0UL, 0UL, 0UL) != 0) {
        return system_error("die with the host", errno);
    }
    if (::getppid() != parent) {
        return Error(Errc::unavailable, "the host ended during the start");
    }
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) {
        if (std::signal(signal, SIG_DFL) == SIG_ERR) {
            return system_error("reset a signal", errno);
        }
    }
    ::umask(077);
    if (::chdir(options.state_dir.c_str()) != 0) {
        return system_error("enter " + options.state_dir, errno);
    }
    return {};
}

[[noreturn]] void become_program(ChildOptions& options, int report, pid_t parent, pid_t host) {
    need_child(report, "descriptors", belong_to(parent, options));
    need_child(report, "limits", limit_child(options));
    ChildWalls walls;
    if (options.isolation != Isolation::off) {
        need_child(report, "landlock", confine_child_files(options, walls));
        need_child(report, "seccomp", confine_child_calls(parent, walls));
        const auto probes = probe_child_walls(options, walls, host);
        need_child(report, "probe", probes ? Result<>() : Result<>(probes.error()));
        walls.probes = *probes;
    }
    const std::string text = kStarted + child_walls_json(walls, options) + "\n";
    if (::write(report, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        ::_exit(kExitConfine);
    }
    std::vector<char*> arguments;
    for (std::string& word : options.command) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    ::execve(arguments.front(), arguments.data(), environ);
    const int error = errno;
    const std::string hint =
        error == EACCES ? " (a script needs its interpreter as the program, and the script as an "
                          "argument below a folder of reads)"
                        : "";
    give_up(report,
            "exec",
            Error(Errc::refused,
                  system_error("start " + options.command.front(), error).message() + hint));
}

// --- the process that stays

/// Descriptors are inherited by the program unless they are closed here; the channel must not be.
Result<> prepare() {
    if (::syscall(SYS_close_range, kFirstForeignFd, ~0U, 0U) != 0) {
        return system_error("close inherited descriptors", errno);
    }
    if (::fcntl(kChannel, F_SETFD, FD_CLOEXEC) != 0) {
        return system_error("keep the channel", errno);
    }
    // The host makes it the leader of a session and group of its own; only then is a signal to the
    // group no signal to others.
    if (::getpgrp() != ::getpid() && ::setsid() < 0) {
        return system_error("start a session", errno);
    }
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) {
        if (std::signal(signal, SIG_IGN) == SIG_ERR) {
            return system_error("ignore a signal", errno);
        }
    }
    return drop_privileges();
}

std::string read_report(int fd) {
    std::string text;
    std::array<char, 4096> bytes{};
    for (;;) {
        const ssize_t got = ::read(fd, bytes.data(), bytes.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return text;
        }
        text.append(bytes.data(), static_cast<std::size_t>(got));
    }
}

/// The walls; ends the process when the program did not start.
std::string started_or_end(HostLink& link, const std::string& report) {
    const std::size_t line = report.find('\n');
    const bool is_walled = !report.empty() && report.front() == kStarted;
    const std::size_t failure = report.empty() || !is_walled ? 0 : line + 1;
    if (is_walled && line != std::string::npos && failure == report.size()) {
        return report.substr(1, line - 1);
    }
    if (failure < report.size() && report[failure] == kFailed) {
        static_cast<void>(
            link.send({channel::MessageType::start_failed, 0, report.substr(failure + 1)}));
    } else {
        report_start_failure(link, "start", Error(Errc::io, "it ended before it was started"));
    }
    end_group();
}

/// Closes 0, 1 and 2: the program's ends must be the only ones.
void let_go_of_pipes() {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int standard : {0, 1, 2}) {
        ::dup2(null, standard);
    }
    ::close(null);
}

/// What the host asks: a signal for the program. False: the host is gone.
bool serve_host(channel::Assembler& assembler, pid_t program) {
    const auto message = channel::receive_blocking(kChannel, assembler);
    if (!message) {
        return false;
    }
    channel::FieldReader fields(message->payload);
    const auto signal = fields.next_number();
    if (message->type != channel::MessageType::cancel || !signal) {
        return false;
    }
    // It is our child and not reaped yet: the number is its own.
    ::kill(program, static_cast<int>(*signal));
    return true;
}

[[noreturn]] void watch(HostLink& link, pid_t program) {
    const UniqueFd ended(static_cast<int>(::syscall(SYS_pidfd_open, program, 0)));
    channel::Assembler assembler;
    std::array<pollfd, 2> watched{{{kChannel, POLLIN, 0}, {ended.get(), POLLIN, 0}}};
    for (;;) {
        if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
            end_group();
        }
        if (!ended || watched[1].revents != 0) {
            siginfo_t how{};
            ::waitid(P_PID, static_cast<id_t>(program), &how, WEXITED | WNOWAIT);
            channel::FieldWriter fields;
            fields.add("exited")
                .add_number(how.si_code == CLD_EXITED ? how.si_status : -1)
                .add_number(how.si_code == CLD_EXITED ? 0 : how.si_status);
            static_cast<void>(link.send({channel::MessageType::event, 0, fields.take()}));
            end_group();
        }
        if (watched[0].revents != 0 && !serve_host(assembler, program)) {
            end_group();
        }
    }
}

}  // namespace

void run_child(int argc, char** argv) {
    HostLink link(kChannel);
    ChildOptions options =
        need(link, "options", kExitOptions, parse_child_options({argv + 2, argv + argc}));
    const pid_t host = ::getppid();
    need(link, "descriptors", kExitConfine, prepare());
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        need(link, "descriptors", kExitConfine, Result<>(system_error("make a pipe", errno)));
    }
    const UniqueFd report(ends[0]);
    const pid_t self = ::getpid();
    const pid_t program = ::fork();
    if (program == 0) {
        become_program(options, ends[1], self, host);
    }
    ::close(ends[1]);
    if (program < 0) {
        need(link, "descriptors", kExitConfine, Result<>(system_error("start a process", errno)));
    }
    let_go_of_pipes();
    const std::string walls = started_or_end(link, read_report(report.get()));
    channel::FieldWriter fields;
    fields.add(walls).add_number(program);
    if (!link.send({channel::MessageType::ready, 0, fields.take()})) {
        end_group();  // the host is gone
    }
    watch(link, program);
}

}  // namespace daybook::runner
