#include "host/os/process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr int kChannelInChild = 3;
/// Descriptors of ours that the child's 0–3 are made of are first moved above them, so that no dup2
/// hits another's source.
constexpr int kFirstSafeFd = 10;

Error failed(const std::string& program, std::string_view step, int error) {
    return Error(error == ENOENT ? Errc::not_found : Errc::io,
                 "start " + printable(program, 255) + ": " + std::string(step) +
                     std::generic_category().message(error));
}

/// The two C objects of posix_spawn, freed together.
class SpawnSetup {
  public:
    SpawnSetup() {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawnattr_init(&attributes_);
    }
    ~SpawnSetup() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;
    SpawnSetup(SpawnSetup&&) = delete;
    SpawnSetup& operator=(SpawnSetup&&) = delete;

    /// 0 or an errno.
    int prepare(int input, int output, int errors, int channel, bool own_session) {
        sigset_t all;
        sigset_t none;
        sigfillset(&all);
        sigemptyset(&none);
        int error = input < 0
                        ? ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0)
                        : ::posix_spawn_file_actions_adddup2(&actions_, input, 0);
        const auto then = [&](int outcome) { error = error != 0 ? error : outcome; };
        then(::posix_spawn_file_actions_adddup2(&actions_, output, 1));
        then(::posix_spawn_file_actions_adddup2(&actions_, errors, 2));
        if (channel >= 0) {
            then(::posix_spawn_file_actions_adddup2(&actions_, channel, kChannelInChild));
        }
        // Everything of ours is close-on-exec; this also covers what a library opened without it.
        then(::posix_spawn_file_actions_addclosefrom_np(
            &actions_, channel >= 0 ? kChannelInChild + 1 : kChannelInChild));
        then(::posix_spawn_file_actions_addchdir_np(&actions_, "/"));
        then(::posix_spawnattr_setsigdefault(&attributes_, &all));
        then(::posix_spawnattr_setsigmask(&attributes_, &none));
        const int flags =
            POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (own_session ? POSIX_SPAWN_SETSID : 0);
        then(::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags)));
        return error;
    }

    [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
    [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

  private:
    posix_spawn_file_actions_t actions_ = {};
    posix_spawnattr_t attributes_ = {};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (std::string& text : texts) {
        out.push_back(text.data());
    }
    out.push_back(nullptr);
    return out;
}

UniqueFd moved_up(int fd) {
    return UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstSafeFd));
}

}  // namespace

std::string ExitState::str() const {
    if (signal == 0) {
        return "exit code " + std::to_string(code);
    }
    const char* name = ::sigabbrev_np(signal);
    std::string text = "signal " + std::to_string(signal);
    if (name != nullptr) {
        text.append(" (SIG").append(name).append(")");
    }
    return text;
}

Result<ChildProcess> ChildProcess::spawn(const SpawnRequest& request) {
    int pipe_ends[2] = {-1, -1};
    if (::pipe2(pipe_ends, O_CLOEXEC) != 0) {
        return failed(request.program, "make a pipe: ", errno);
    }
    ChildProcess child;
    child.output_.reset(pipe_ends[0]);
    const UniqueFd low_end(pipe_ends[1]);
    const auto moved = [](int fd) { return fd >= 0 ? moved_up(fd) : UniqueFd(); };
    const bool has_pipes = request.input >= 0;
    const UniqueFd input = moved(request.input);
    const UniqueFd output = moved_up(has_pipes ? request.output : low_end.get());
    const UniqueFd errors = moved(has_pipes ? request.errors : output.get());
    const UniqueFd channel = moved(request.channel);
    if (!output || !errors || (has_pipes && !input) || (request.channel >= 0 && !channel)) {
        return failed(request.program, "prepare its descriptors: ", errno);
    }
    // Only our end: the flag belongs to the open description, and the child's writes shall block as
    // usual.
    if (::fcntl(child.output_.get(), F_SETFL, O_NONBLOCK) != 0) {
        return failed(request.program, "prepare its output: ", errno);
    }
    SpawnSetup setup;
    if (const int error = setup.prepare(
            input.get(), output.get(), errors.get(), channel.get(), request.own_session);
        error != 0) {
        return failed(request.program, "prepare: ", error);
    }
    std::vector<std::string> arguments = {request.program};
    arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
    std::vector<std::string> environment = request.environment;
    const int error = ::posix_spawn(&child.pid_,
                                    request.program.c_str(),
                                    setup.actions(),
                                    setup.attributes(),
                                    pointers(arguments).data(),
                                    pointers(environment).data());
    if (error != 0) {
        child.pid_ = -1;
        return failed(request.program, "", error);
    }
    child.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, child.pid_, 0)));
    if (!child.pidfd_) {
        const int reason = errno;
        ::kill(child.pid_, SIGKILL);  // not reaped yet: the number is still its own
        while (::waitpid(child.pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
        return failed(request.program, "open its process descriptor: ", reason);
    }
    return child;
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
    if (this != &other) {
        ChildProcess ended(std::move(*this));
        pid_ = std::exchange(other.pid_, -1);
        pidfd_ = std::move(other.pidfd_);
        output_ = std::move(other.output_);
        exit_ = std::exchange(other.exit_, std::nullopt);
    }
    return *this;
}

ChildProcess::~ChildProcess() {
    if (!pidfd_ || exit_) {
        return;
    }
    kill();
    // A watch makes the pidfd non-blocking, and then waitid answers EAGAIN until the child is gone.
    pollfd ended{pidfd_.get(), POLLIN, 0};
    while (::poll(&ended, 1, -1) < 0 && errno == EINTR) {
    }
    siginfo_t found = {};
    while (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &found, WEXITED) != 0 &&
           errno == EINTR) {
    }
}

void ChildProcess::kill() noexcept {
    if (pidfd_ && !exit_) {
        ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
    }
}

void ChildProcess::kill_group() noexcept {
    if (pid_ > 0 && !exit_) {
        ::kill(-pid_, SIGKILL);
    }
}

std::optional<ExitState> ChildProcess::try_wait() noexcept {
    if (exit_ || !pidfd_) {
        return exit_;
    }
    siginfo_t found = {};
    int outcome = 0;
    do {
        outcome = ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &found, WEXITED | WNOHANG);
    } while (outcome != 0 && errno == EINTR);
    if (outcome != 0) {
        exit_ = ExitState{};  // somebody else collected it: ended, how is unknown
        return exit_;
    }
    if (found.si_pid == 0) {
        return std::nullopt;
    }
    ExitState state;
    if (found.si_code == CLD_EXITED) {
        state.code = found.si_status;
    } else {
        state.signal = found.si_status;
    }
    exit_ = state;
    return exit_;
}

}  // namespace daybook
