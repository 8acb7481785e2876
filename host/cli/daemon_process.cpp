#include "host/cli/daemon_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "host/cli/client.hpp"
#include "host/cli/interrupt.hpp"

namespace daybook::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::chrono::seconds kReadyTimeout{60};
constexpr int kExecFailed = 127;

/// A datagram socket with an abstract name of the kernel's choice, for the daemon's READY=1.
Result<UniqueFd> make_notify_socket(std::string& name) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (!socket || ::bind(socket.get(),
                          reinterpret_cast<const sockaddr*>(&address),
                          sizeof(address.sun_family)) != 0) {
        return Error(Errc::io,
                     "make a socket for the daemon: " + std::generic_category().message(errno));
    }
    socklen_t bytes = sizeof address;
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
        return Error(Errc::io,
                     "name the daemon's socket: " + std::generic_category().message(errno));
    }
    const std::size_t length = bytes - offsetof(sockaddr_un, sun_path);
    name = "@" + std::string(address.sun_path + 1, length - 1);
    return socket;
}

std::vector<std::string> arguments_of(const DaemonStart& start) {
    std::vector<std::string> arguments = {start.places.daemon.string()};
    const auto add = [&](const char* flag, const std::filesystem::path& path) {
        arguments.emplace_back(flag);
        arguments.push_back(path.string());
    };
    if (!start.places.home.empty()) {
        add("--home", start.places.home);
    }
    if (start.options.config) {
        add("--config", start.places.config);
    }
    if (start.options.socket) {
        add("--socket", start.places.socket);
    }
    return arguments;
}

/// In the child, between fork and exec. Never returns.
[[noreturn]] void become_daemon(std::vector<char*>& arguments,
                                int errors,
                                bool tied,
                                pid_t parent) {
    ::setsid();
    if (tied) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) {
            ::_exit(kExecFailed);
        }
    }
    // Keeps no folder of the caller's busy; every path handed on is absolute.
    [[maybe_unused]] const int moved = ::chdir("/");
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(errors, STDERR_FILENO);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE}) {
        std::signal(number, SIG_DFL);
    }
    ::execv(arguments.front(), arguments.data());
    const std::string text = "daybookd: start " + std::string(arguments.front()) + ": " +
                             std::generic_category().message(errno) + "\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(kExecFailed);
}

bool reads_ready(int socket) {
    char buffer[4096];
    ssize_t got = 0;
    bool ready = false;
    while ((got = ::recv(socket, buffer, sizeof buffer, 0)) > 0) {
        ready =
            ready || std::string_view(buffer, static_cast<std::size_t>(got)).starts_with("READY=1");
    }
    return ready;
}

/// Takes what the daemon has said on stderr. False at the end of it.
bool read_errors(int pipe, std::string& text) {
    char buffer[4096];
    const ssize_t got = ::read(pipe, buffer, sizeof buffer);
    if (got > 0 && text.size() < 16UL * 1024) {
        text.append(buffer, static_cast<std::size_t>(got));
    }
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/// What a daemon that did not start has said, as an error with the meaning of its exit code.
Error failure_of(int status, std::string text) {
    while (!text.empty() && text.back() == '\n') {
        text.pop_back();
    }
    if (text.starts_with("daybookd: ")) {
        text.erase(0, 10);
    }
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (text.empty()) {
        text = code >= 0 ? "exit code " + std::to_string(code)
                         : "signal " + std::to_string(WTERMSIG(status));
    }
    for (const Errc each :
         {Errc::invalid, Errc::refused, Errc::not_found, Errc::unavailable, Errc::busy}) {
        if (exit_code_of(each) == code) {
            return Error(each, "daybookd did not start: " + text);
        }
    }
    return Error(Errc::io, "daybookd did not start: " + text);
}

void end_child(pid_t pid) {
    ::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Result<> wait_ready(pid_t pid, int notify, int errors) {
    std::string text;
    bool open = true;
    const auto deadline = steady_clock::now() + kReadyTimeout;
    while (true) {
        if (reads_ready(notify)) {
            return {};
        }
        pollfd waits[2] = {{notify, POLLIN, 0}, {open ? errors : -1, POLLIN, 0}};
        ::poll(waits, 2, 50);
        if (open && (waits[1].revents & (POLLIN | POLLHUP)) != 0) {
            open = read_errors(errors, text);
        }
        int status = 0;
        if (::waitpid(pid, &status, WNOHANG) == pid) {
            while (open && read_errors(errors, text)) {
            }
            return failure_of(status, std::move(text));
        }
        if (interrupted() || steady_clock::now() >= deadline) {
            end_child(pid);
            return interrupted()
                       ? Error(Errc::cancelled, "interrupted")
                       : Error(Errc::deadline, "daybookd did not say within 60 s that it serves");
        }
    }
}

}  // namespace

Result<DaemonProcess> DaemonProcess::start(const DaemonStart& start) {
    std::string name;
    auto notify = make_notify_socket(name);
    if (!notify) {
        return notify.error();
    }
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return Error(Errc::io, "make a pipe: " + std::generic_category().message(errno));
    }
    const UniqueFd errors(ends[0]);
    UniqueFd errors_in(ends[1]);
    std::vector<std::string> words = arguments_of(start);
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    const std::string kept =
        std::getenv("NOTIFY_SOCKET") == nullptr ? "" : std::getenv("NOTIFY_SOCKET");
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    for (const char* variable : {"WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM"}) {
        ::unsetenv(variable);  // they are about this process, not about the daemon
    }
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
        become_daemon(arguments, errors_in.get(), start.tied_to_us, parent);
    }
    const int error = errno;
    kept.empty() ? ::unsetenv("NOTIFY_SOCKET") : ::setenv("NOTIFY_SOCKET", kept.c_str(), 1);
    errors_in.reset();
    if (pid < 0) {
        return Error(Errc::io, "start daybookd: " + std::generic_category().message(error));
    }
    if (auto ready = wait_ready(pid, notify->get(), errors.get()); !ready) {
        return ready.error();
    }
    return DaemonProcess(pid);
}

Result<> DaemonProcess::stop(milliseconds grace) {
    const auto wait = [this](milliseconds timeout) {
        const auto deadline = steady_clock::now() + timeout;
        while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
            if (steady_clock::now() >= deadline) {
                return false;
            }
            ::poll(nullptr, 0, 10);
        }
        return true;
    };
    for (const milliseconds timeout : {grace, milliseconds(10000)}) {
        ::kill(pid_, SIGTERM);
        if (wait(timeout)) {
            return {};
        }
    }
    end_child(pid_);
    return Error(Errc::deadline, "daybookd did not end when told to, and was killed");
}

bool wait_ended(pid_t pid, milliseconds timeout) {
    const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!handle) {
        return errno == ESRCH;
    }
    const auto deadline = steady_clock::now() + timeout;
    while (steady_clock::now() < deadline && !interrupted()) {
        pollfd state = {handle.get(), POLLIN, 0};
        if (::poll(&state, 1, 250) > 0) {
            return true;
        }
    }
    return false;
}

}  // namespace daybook::cli
