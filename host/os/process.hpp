// Starting and ending child processes. Thread: [io] only for spawn: PR_SET_PDEATHSIG is tied to the
// thread that spawned, so children come from the one thread that lives as long as the host.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/unique_fd.hpp"

namespace daybook {

struct ExitState {
    int code = -1;   ///< exit code, -1 when ended by a signal
    int signal = 0;  ///< signal number, 0 when it exited
    /// "exit code 3", "signal 11 (SIGSEGV)".
    [[nodiscard]] std::string str() const;
};

struct SpawnRequest {
    std::string program;                   ///< absolute path
    std::vector<std::string> arguments;    ///< without argv[0]
    std::vector<std::string> environment;  ///< "NAME=value"; nothing is inherited
    int channel =
        -1;  ///< becomes descriptor 3 of the child; the caller keeps and closes its own copy
    /// Pipe ends that become 0, 1 and 2 of the child, all three or none (then as spawn() says). The
    /// caller keeps and closes its own copies.
    int input = -1, output = -1, errors = -1;
    bool own_session = false;  ///< it leads a session and process group of its own from the start
};

/// A running child, known by pidfd. Kills and reaps it when it goes.
class ChildProcess {
  public:
    /// posix_spawn with stdin from the null device, stdout and stderr as pipes, working directory
    /// "/". Errors: not_found (program), io.
    static Result<ChildProcess> spawn(const SpawnRequest& request);
    ChildProcess(ChildProcess&&) noexcept = default;
    ChildProcess& operator=(ChildProcess&&) noexcept;
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ~ChildProcess();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] int pidfd() const noexcept {
        return pidfd_.get();
    }  ///< readable when the child has ended
    [[nodiscard]] int output() const noexcept {
        return output_.get();
    }  ///< stdout and stderr together, non-blocking
    /// SIGKILL through the pidfd; harmless when it has ended.
    void kill() noexcept;
    /// SIGKILL for everything in the group that it leads (SpawnRequest::own_session). Before
    /// try_wait() has collected it: until then the group's number is its own.
    void kill_group() noexcept;
    /// Collects the state when the child has ended; nullopt while it runs.
    std::optional<ExitState> try_wait() noexcept;

  private:
    ChildProcess() = default;
    pid_t pid_ = -1;
    UniqueFd pidfd_;
    UniqueFd output_;
    std::optional<ExitState> exit_;
};

}  // namespace daybook
