// The only file that compiles spdlog. Its registry is not used: loggers are made and passed.
#include "host/surface/log.hpp"

#include <exception>
#include <vector>

#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "host/os/desk_path.hpp"
#include "host/surface/state_folder.hpp"

namespace daybook {
namespace {

constexpr std::size_t kFileBytes = 5UL * 1024 * 1024;
constexpr std::size_t kFiles = 5;
constexpr std::size_t kMaxLine = 4096;

spdlog::level::level_enum spd(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warn:
            return spdlog::level::warn;
        case LogLevel::error:
            break;
    }
    return spdlog::level::err;
}

std::string_view priority(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return "<7>";
        case LogLevel::info:
            return "<6>";
        case LogLevel::warn:
            return "<4>";
        case LogLevel::error:
            break;
    }
    return "<3>";
}

}  // namespace

struct Log::Impl {
    Impl(spdlog::sink_ptr sink, LogLevel level, bool with_priorities)
        : logger("daybookd", std::move(sink)), priorities(with_priorities) {
        logger.set_level(spd(level));
        logger.flush_on(spdlog::level::info);
        logger.set_pattern(priorities ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %l %v");
        // A log that cannot be written (disk full) must not stop the host, nor print a line a
        // second.
        logger.set_error_handler([](const std::string&) {});
    }
    spdlog::logger logger;
    bool priorities;
};

LogLevel log_level_of(std::string_view name) noexcept {
    return name == "debug"   ? LogLevel::debug
           : name == "warn"  ? LogLevel::warn
           : name == "error" ? LogLevel::error
                             : LogLevel::info;
}

Log::Log(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Log::~Log() = default;

Result<std::unique_ptr<Log>> Log::to_file(const std::filesystem::path& folder, LogLevel level) {
    if (auto made = make_private_folders(folder); !made) {
        return made.error();
    }
    try {
        auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
            (folder / "daybookd.log").string(), kFileBytes, kFiles - 1);
        return std::unique_ptr<Log>(
            new Log(std::make_unique<Impl>(std::move(sink), level, /*with_priorities=*/false)));
    } catch (const std::exception& error) {
        return Error(Errc::io, "open the log in " + folder.string() + ": " + error.what());
    }
}

std::unique_ptr<Log> Log::to_stderr(LogLevel level, bool priorities) {
    auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    return std::unique_ptr<Log>(
        new Log(std::make_unique<Impl>(std::move(sink), level, priorities)));
}

void Log::write(LogLevel level, std::string_view line) {
    // A line is one line: text of a plugin or a file name may not start another.
    std::string text(impl_->priorities ? priority(level) : std::string_view());
    text += printable(line, kMaxLine);
    impl_->logger.log(spd(level), spdlog::string_view_t(text.data(), text.size()));
}

void Log::set_level(LogLevel level) {
    impl_->logger.set_level(spd(level));
}

}  // namespace daybook
