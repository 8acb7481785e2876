// Lines that a plugin prints or logs: cut, made printable, and at most so many in a while. What is
// over the rate is counted and said in one line, so that a plugin cannot fill the host's log or
// memory. Thread: the owner's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "host/os/clock.hpp"

namespace daybook {

class LineLimiter {
  public:
    static constexpr std::uint64_t kMaxLines = 200;
    static constexpr std::chrono::seconds kWindow{10};

    /// Whether a line may pass now. `skipped` becomes the number of lines dropped in the window
    /// that has just ended, 0 = none or not ended: to be said before the line.
    bool admit(SteadyTime now, std::uint64_t& skipped);

  private:
    SteadyTime window_start_{};
    std::uint64_t lines_ = 0;
    std::uint64_t dropped_ = 0;
};

/// Cuts a stream of bytes into lines.
class LineSplitter {
  public:
    static constexpr std::size_t kMaxLine = 1000;  ///< bytes; the rest of a longer line is dropped

    /// Calls `on_line` with each whole line, printable and without its newline; empty lines are
    /// left out.
    void take(std::string_view bytes, const std::function<void(std::string)>& on_line);
    /// The last line when it has no newline.
    void flush(const std::function<void(std::string)>& on_line);

  private:
    std::string line_;
};

}  // namespace daybook
