// When a plugin that ended unasked may be started again: at once, then after 0.25 s doubling to 60
// s with jitter; five crashes in ten minutes open the breaker. Once the owner lets an open one try
// again it is half open: one answered call closes it, one crash opens it. Pure: the time comes from
// the caller. Thread: the owner's.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <random>

#include "host/os/clock.hpp"

namespace daybook {

struct RestartLimits {
    std::chrono::milliseconds first_delay{
        250};  ///< after the second crash; the first restart is at once
    std::chrono::milliseconds longest_delay{60000};
    std::size_t breaker_crashes = 5;
    std::chrono::seconds window{600};
    bool breaker = true;
};

class RestartPolicy {
  public:
    RestartPolicy(RestartLimits limits, std::uint64_t seed) : limits_(limits), random_(seed) {}

    struct Verdict {
        bool breaker_opens = false;
        std::chrono::milliseconds delay{0};
    };
    /// Notes a crash and says when the next start may be.
    Verdict record_crash(SteadyTime now);
    void forget() {
        crashes_.clear();
        open_ = half_open_ = false;
    }
    /// The owner's word: the next start may be at once. What was open is half open from now on.
    void try_again();
    /// A call was answered: what was half open is closed.
    void record_answer();
    [[nodiscard]] bool is_half_open() const noexcept { return half_open_; }
    /// Crashes within the window at the last record.
    [[nodiscard]] std::size_t recent() const noexcept { return crashes_.size(); }
    [[nodiscard]] const RestartLimits& limits() const noexcept { return limits_; }

  private:
    RestartLimits limits_;
    std::mt19937_64 random_;
    bool open_ = false;
    bool half_open_ = false;
    std::deque<SteadyTime> crashes_;  // within the window, oldest first; at most kMostRemembered
};

}  // namespace daybook
