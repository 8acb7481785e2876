#include "tests/escape/host_bait.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <sstream>
#include <stdexcept>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace daybook::escape {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a signal handler's
std::atomic<int> signals_seen = 0;
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): what others must not change
volatile char bait = 'o';

void must(bool held, const char* what) {
    if (!held) {
        throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
    }
}

UniqueFd unix_listener(const std::string& name) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    must(name.size() < sizeof address.sun_path, "name a socket");
    std::copy(name.begin(), name.end(), address.sun_path);
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    must(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), bytes) == 0, "bind");
    must(::listen(fd.get(), 8) == 0, "listen");
    return fd;
}

/// Bound on loopback; port 0 = the kernel's choice, which is stored.
UniqueFd inet_socket(int type, int& port) {
    UniqueFd fd(::socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    must(::bind(fd.get(), generic, sizeof address) == 0, "bind a port");
    socklen_t bytes = sizeof address;
    must(::getsockname(fd.get(), generic, &bytes) == 0, "name a port");
    port = ntohs(address.sin_port);
    return fd;
}

bool is_traced() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("TracerPid:")) {
            return line.find_first_of("123456789") != std::string::npos;
        }
    }
    return false;
}

std::vector<pid_t> living_children() {
    std::vector<pid_t> children;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        std::ifstream stat(entry.path() / "stat");
        std::string text;
        std::getline(stat, text);
        // pid (name) state parent: the name may hold anything
        const auto behind_name = text.rfind(')');
        if (behind_name == std::string::npos) {
            continue;
        }
        std::istringstream rest(text.substr(behind_name + 1));
        std::string state;
        pid_t parent = 0;
        if (rest >> state >> parent && parent == ::getpid()) {
            children.push_back(static_cast<pid_t>(std::stol(text)));
        }
    }
    return children;
}

}  // namespace

HostBait::HostBait(const EscapeWorld& world) : world_(world) {
    struct sigaction action {};
    action.sa_handler = [](int) { ++signals_seen; };
    for (const int signal : {SIGUSR1, SIGIO}) {
        must(::sigaction(signal, &action, nullptr) == 0, "handle a signal");
    }
    must(::prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL) == 0, "become a reaper");
    abstract_ =
        unix_listener(std::string(1, '\0') + "daybook-escape-" + std::to_string(::getpid()));
    unix_ = unix_listener(world.at("socket"));
    tcp_ = inet_socket(SOCK_STREAM, port_);
    must(::listen(tcp_.get(), 8) == 0, "listen");
    udp_ = inet_socket(SOCK_DGRAM, port_);
    must(::getrlimit(RLIMIT_NOFILE, &descriptors_) == 0, "read the limits");
    priority_ = ::getpriority(PRIO_PROCESS, 0);
    must(::sched_getaffinity(0, sizeof processors_, &processors_) == 0, "read the affinity");
}

std::string HostBait::address() const {
    return std::to_string(reinterpret_cast<std::uintptr_t>(&bait));
}

bool HostBait::has_visitor() const {
    bool seen = false;
    for (const UniqueFd* one : {&abstract_, &unix_, &tcp_}) {
        for (;;) {
            const UniqueFd visitor(::accept4(one->get(), nullptr, nullptr, SOCK_CLOEXEC));
            if (!visitor) {
                break;
            }
            seen = true;
        }
    }
    return seen;
}

bool HostBait::has_datagram() const {
    bool seen = false;
    char byte = 0;
    while (::recv(udp_.get(), &byte, 1, MSG_DONTWAIT) >= 0) {
        seen = true;
    }
    return seen;
}

bool HostBait::limits_changed() {
    rlimit descriptors{};
    cpu_set_t processors{};
    must(::getrlimit(RLIMIT_NOFILE, &descriptors) == 0, "read the limits");
    must(::sched_getaffinity(0, sizeof processors, &processors) == 0, "read the affinity");
    const bool changed = descriptors.rlim_cur != descriptors_.rlim_cur ||
                         descriptors.rlim_max != descriptors_.rlim_max ||
                         ::getpriority(PRIO_PROCESS, 0) != priority_ ||
                         ::sched_getscheduler(0) != SCHED_OTHER ||
                         !CPU_EQUAL(&processors, &processors_);
    if (changed) {  // an ordinary user cannot undo all of it: then what is left is the new normal
        const sched_param none{};
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &descriptors_));
        static_cast<void>(::setpriority(PRIO_PROCESS, 0, priority_));
        static_cast<void>(::sched_setscheduler(0, SCHED_OTHER, &none));
        static_cast<void>(::sched_setaffinity(0, sizeof processors_, &processors_));
        must(::getrlimit(RLIMIT_NOFILE, &descriptors_) == 0, "read the limits");
        priority_ = ::getpriority(PRIO_PROCESS, 0);
    }
    return changed;
}

bool HostBait::is_locked() const {
    const UniqueFd fd(::open(world_.at("desk/Memory.md").c_str(), O_RDONLY | O_CLOEXEC));
    return fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::vector<std::string> HostBait::evidence() {
    std::vector<std::string> found;
    const auto note = [&](bool holds, const char* word) {
        if (holds) {
            found.emplace_back(word);
        }
    };
    note(signals_seen != signals_, "signal");
    signals_ = signals_seen;
    note(bait != 'o', "memory");
    bait = 'o';
    note(has_visitor(), "connection");
    note(has_datagram(), "datagram");
    note(limits_changed(), "limits");
    note(is_locked(), "lock");
    note(is_traced(), "traced");
    bool has_file = false;
    for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm"}) {
        const std::string path =
            std::string(folder) + "/daybook-escape-" + std::to_string(::getpid());
        has_file = ::unlink(path.c_str()) == 0 || has_file;
    }
    note(has_file, "file");
    return found;
}

std::vector<std::string> HostBait::foreign_children() {
    bool seen = false;
    // An ended child's own children come here one after another, until there are none.
    while (::waitpid(-1, nullptr, WNOHANG) >= 0) {
        seen = true;
        for (const pid_t child : living_children()) {
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
        }
    }
    return seen ? std::vector<std::string>{"process"} : std::vector<std::string>{};
}

}  // namespace daybook::escape
