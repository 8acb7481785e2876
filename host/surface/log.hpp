// The operator's log: spdlog behind a door, so that one file compiles it. The log may be lost;
// facts go to the journal.
//
// One event a line, `key=value` pairs after the sentence. Two sinks: a rotating file (5 MiB, five
// of them), or stderr with journald's `<N>` priorities. Thread: [any].
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

namespace daybook {

enum class LogLevel { debug, info, warn, error };
/// "debug" … "error"; info for any other word.
[[nodiscard]] LogLevel log_level_of(std::string_view name) noexcept;

class Log {
  public:
    /// Lines to daybookd.log in the folder, which is made when missing. Errors: io.
    static Result<std::unique_ptr<Log>> to_file(const std::filesystem::path& folder,
                                                LogLevel level);
    /// Lines to stderr; with `priorities` in the form `<6>sentence` that journald reads.
    static std::unique_ptr<Log> to_stderr(LogLevel level, bool priorities);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;
    Log(Log&&) = delete;
    Log& operator=(Log&&) = delete;

    void write(LogLevel level, std::string_view line);
    void debug(std::string_view line) { write(LogLevel::debug, line); }
    void info(std::string_view line) { write(LogLevel::info, line); }
    void warn(std::string_view line) { write(LogLevel::warn, line); }
    void error(std::string_view line) { write(LogLevel::error, line); }
    void set_level(LogLevel level);

  private:
    struct Impl;
    explicit Log(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace daybook
