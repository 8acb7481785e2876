// One program in a walled child: started through `daybook-runner --child`, its lines in and out,
// its end. It belongs to a desk, not to a call: calls attach to it one after the other.
//
// Pipes are watched on the I/O thread; a change is told to whoever listens. Bounds: kMaxInput bytes
// wait for its input, kMaxOutput bytes or kMaxLines lines of output wait to be taken, and beyond
// that it is read no further and blocks; its error output is logged at LineLimiter's rate and the
// newest lines are kept.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/config.hpp"
#include "host/os/clock.hpp"
#include "host/os/io_loop.hpp"
#include "host/os/process.hpp"

namespace daybook {

/// How a child is started, whatever the program.
struct ChildSettings {
    std::filesystem::path runner_program;  ///< daybook-runner
    std::filesystem::path state_dir;       ///< its own folder; there already
    std::filesystem::path probe_file;      ///< of the host's; it must not be able to read it
    std::uint64_t file_max_bytes = 0;
    Isolation isolation = Isolation::required;
    std::string zone;  ///< TZ
    std::chrono::milliseconds start_timeout{5000};
    std::chrono::milliseconds stop_grace{2000};
    int landlock_cap = 0;  ///< 0 = what the kernel has; tests lower it
};

enum class ChildState { starting, running, ended };
[[nodiscard]] std::string_view name_of(ChildState state) noexcept;

/// For `plugin list`.
struct ChildStatus {
    std::string program;
    ChildState state = ChildState::starting;
    int pid = -1;       ///< the program's
    int launcher = -1;  ///< the process that leads its group
    std::int64_t generation = 0;
    std::string walls;    ///< JSON, "" before it runs
    std::string reason;   ///< why it did not start, or how it ended
    bool is_own = false;  ///< of one call alone
};

/// Thread: [any] unless said.
struct ChildEvents {
    std::function<void(int level, const std::string& line)> on_log;
    /// started, ended, start_failed.
    std::function<void(const std::string& what, const ChildStatus& status)> on_lifecycle;
};

class ChildProgram {
  public:
    static constexpr std::size_t kMaxLine = 4UL << 20U;
    static constexpr std::size_t kMaxInput = 1UL << 20U;
    static constexpr std::size_t kMaxOutput = 4UL << 20U;
    static constexpr std::size_t kMaxLines = 8192;
    static constexpr std::size_t kErrorLines = 20;

    /// Starts it; whether its walls stand is told later. `arguments` stand behind the owner's,
    /// `environment` below theirs. Errors: io, not_found (daybook-runner).
    static Result<std::unique_ptr<ChildProgram>> start(IoLoop& loop,
                                                       const ProgramConfig& program,
                                                       const ChildSettings& settings,
                                                       const std::vector<std::string>& arguments,
                                                       const std::vector<std::string>& environment,
                                                       ChildEvents events,
                                                       std::int64_t generation);
    /// Ends it with everything that it started; no callback runs afterwards. Not from a callback.
    ~ChildProgram();
    ChildProgram(const ChildProgram&) = delete;
    ChildProgram& operator=(const ChildProgram&) = delete;
    ChildProgram(ChildProgram&&) = delete;
    ChildProgram& operator=(ChildProgram&&) = delete;

    /// `changed` runs on the I/O thread after each change and must only post. Returns an id.
    std::uint64_t listen(std::function<void()> changed);
    void unlisten(std::uint64_t id);

    /// nullopt while it starts; then whether its walls stand. Errors: refused, unavailable.
    [[nodiscard]] std::optional<Result<>> started() const;
    /// Takes the line and its end for the input; false = not now, its input is full. Errors:
    /// unavailable (ended, or its input is closed), invalid (a line end in it), full (over
    /// kMaxLine).
    Result<bool> offer(std::string_view line);
    struct Output {
        enum class Kind { line, cut, rest, ended };  ///< as DAYBOOK_PROCESS_LINE and following
        Kind kind = Kind::line;
        std::string text;
    };
    /// nullopt = nothing now.
    std::optional<Output> take();
    /// Closes the input when what was offered is written.
    void close_input();
    /// Sends it; SIGKILL goes to everything that it started too. Errors: unavailable (ended).
    Result<> signal(int number);
    struct End {
        ExitState exit;
        bool is_known = false;  ///< else the launcher ended first
    };
    /// nullopt while it runs.
    [[nodiscard]] std::optional<End> end() const;
    [[nodiscard]] std::vector<std::string> error_lines() const;
    /// Asks it to end: no more input, SIGTERM, and after stop_grace the end of the whole group.
    void stop();
    [[nodiscard]] ChildStatus status() const;

  private:
    struct Impl;
    explicit ChildProgram(std::shared_ptr<Impl> impl);
    std::shared_ptr<Impl> impl_;
};

}  // namespace daybook
