// Walled children for a test: a desk's folder, the puppet, and waiting for what it says.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "host/plugin/child_programs.hpp"
#include "tests/catch.hpp"
#include "tests/support/io_thread.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

namespace daybook::test {

inline ProgramConfig puppet() {
    ProgramConfig program;
    program.name = "puppet";
    program.path = std::string(DAYBOOK_BUILD_DIR) + "/tests/programs/puppet";
    return program;
}

/// One attached program; waits for what comes from it.
class Talk {
  public:
    explicit Talk(ChildPrograms::Attachment attachment) : program(std::move(attachment)) {
        listener_ = program->listen([this] {
            const std::lock_guard lock(mutex_);
            ++changes_;
            changed_.notify_all();
        });
    }
    ~Talk() { program->unlisten(listener_); }
    Talk(const Talk&) = delete;
    Talk& operator=(const Talk&) = delete;
    Talk(Talk&&) = delete;
    Talk& operator=(Talk&&) = delete;

    /// Waits until `found()` gives something.
    template <class Found>
    auto until(const Found& found) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        std::unique_lock lock(mutex_);
        for (;;) {
            const auto seen = changes_;
            lock.unlock();
            auto value = found();
            if (value || std::chrono::steady_clock::now() >= deadline) {
                return value;
            }
            lock.lock();
            changed_.wait_until(lock, deadline, [&] { return changes_ != seen; });
        }
    }
    Result<> started() {
        const auto outcome = until([&] { return program->started(); });
        REQUIRE(outcome);
        return *outcome;
    }
    ChildProgram::Output next() {
        auto output = until([&] { return program->take(); });
        REQUIRE(output);
        return *output;
    }
    std::string line() { return next().text; }
    std::string ask(const std::string& line_) {
        REQUIRE(must(program->offer(line_)));
        return line();
    }
    ChildProgram::End end() {
        const auto end = until([&] { return program->end(); });
        REQUIRE(end);
        return *end;
    }

    ChildPrograms::Attachment program;

  private:
    std::mutex mutex_;  // guards changes_
    std::condition_variable changed_;
    std::uint64_t changes_ = 0;
    std::uint64_t listener_ = 0;
};

class ChildBench {
  public:
    ChildBench() {
        folder.write("desk/Memory.md", "what the desk knows\n");
        folder.write("keys/key", "sk-secret\n");
        settings.home = folder.path();
        settings.desk = "main";
        settings.bounds.max_bytes = 64UL << 20U;
        settings.child.runner_program =
            std::string(DAYBOOK_BUILD_DIR) + "/libexec/daybook/daybook-runner";
        settings.child.probe_file = folder / "desk/Memory.md";
        settings.child.zone = "Asia/Kolkata";
        settings.child.stop_grace = std::chrono::milliseconds(200);
        settings.on_log = [this](const std::string&, int, const std::string& line) {
            const std::lock_guard lock(mutex_);
            log_.push_back(line);
        };
    }
    ChildPrograms& children() {
        if (!children_) {
            children_ = std::make_unique<ChildPrograms>(io.loop, settings);
        }
        return *children_;
    }
    Result<ChildPrograms::Attachment> attach(const ProgramConfig& program = puppet(),
                                             const ChildPrograms::Ask& ask = {}) {
        return children().attach("starter", program, ask);
    }
    std::vector<std::string> log() const {
        const std::lock_guard lock(mutex_);
        return log_;
    }
    std::filesystem::path own(const std::string& program = "puppet") const {
        return folder / ("scratch/starter/main/child/" + program);
    }

    TempFolder folder;
    ChildrenSettings settings;

  private:
    mutable std::mutex mutex_;  // guards log_
    std::vector<std::string> log_;

  public:
    IoThread io;

  private:
    std::unique_ptr<ChildPrograms> children_;
};

/// Its state letter in /proc, or "" when there is no such process: a zombie has ended.
inline bool has_ended(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const auto at = text.rfind(") ");
    return at == std::string::npos || text[at + 2] == 'Z' || text[at + 2] == 'X';
}

/// Whether it ends in time; it need not be a child of ours.
inline bool ends(pid_t pid) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!has_ended(pid)) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        ::usleep(2000);
    }
    return true;
}

}  // namespace daybook::test
