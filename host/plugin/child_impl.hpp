// The inside of ChildProgram; for its own .cpp files only.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "host/os/unique_fd.hpp"
#include "host/plugin/channel.hpp"
#include "host/plugin/child_program.hpp"
#include "host/plugin/line_limiter.hpp"

namespace daybook {

/// What a program has written and nobody has taken yet, cut into lines.
class ChildOutput {
  public:
    void add(std::string_view bytes);
    void finish();  ///< no more comes
    [[nodiscard]] bool is_full() const noexcept;
    /// nullopt = nothing now.
    std::optional<ChildProgram::Output> take();

  private:
    void push(ChildProgram::Output::Kind kind);

    std::deque<ChildProgram::Output> lines_;
    std::size_t bytes_ = 0;
    std::string partial_;
    bool is_skipping_ = false;  ///< the rest of a line that was cut
    bool is_over_ = false;
};

struct ChildProgram::Impl : std::enable_shared_from_this<ChildProgram::Impl> {
    Impl(IoLoop& loop_, ChildEvents events_) : loop(loop_), events(std::move(events_)) {}

    IoLoop& loop;
    const ChildEvents events;
    std::chrono::milliseconds stop_grace{};

    mutable std::mutex mutex;  // guards all below; listeners and events are called without it
    bool closed = false;
    ChildStatus status;
    std::optional<Error> failure;  ///< why it did not start
    std::optional<ChildProcess> child;
    UniqueFd channel, input, output_fd, errors;
    channel::Assembler assembler;
    std::string to_write;
    std::size_t written = 0;
    bool input_closed = false;  ///< nothing more is taken
    ChildOutput output;
    LineSplitter splitter;
    LineLimiter limiter;
    std::deque<std::string> error_lines;
    std::optional<End> reported;  ///< what the launcher said
    std::optional<End> ended;
    std::map<std::uint64_t, std::function<void()>> listeners;
    std::uint64_t next_listener = 1;
    std::unique_ptr<Watch> channel_watch, exit_watch, output_watch, error_watch, input_watch;
    std::unique_ptr<Watch> start_timer, stop_timer;

    /// A callback of the loop that runs `task` under the mutex, if it is still there, and then
    /// tells the listeners.
    std::function<void()> guarded(void (Impl::*task)());
    void watch_all(std::chrono::milliseconds start_timeout);
    // All of these under the mutex. [io] but for write_input(), watch_output().
    void on_channel();
    bool read_message();
    void on_exit();
    void on_output();
    void on_errors();
    void on_start_timeout();
    void on_stop_timeout();
    void write_input();
    void watch_output();
    void kill();
    void log(int level, const std::string& line);

    struct News {
        std::string lifecycle;
        std::vector<std::pair<int, std::string>> lines;
    };
    News news;  ///< to be told once the mutex is free
    void tell(std::unique_lock<std::mutex>& lock);
};

}  // namespace daybook
