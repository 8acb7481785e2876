// The parts of the whole path that are measured, and what they share.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "bench/report.hpp"

namespace daybook::bench {

struct Options {
    int rounds = 21;
    bool smoke = false;  ///< small sizes, so that the whole takes seconds
    bool with_git =
        false;  ///< git must be there: without the flag its rows are left out when it is not
};

// Each prints its rows. Errors: what kept it from measuring; a figure is never one.
/// Checkpoint and write through the gate, against a plain durable write and against git.
Result<> measure_writes(const Options& options, Report& report);
/// A plugin call through the wall against a bare socket pair.
Result<> measure_calls(const Options& options, Report& report);
/// Start and memory of runners.
Result<> measure_runners(const Options& options, Report& report);
/// From the daemon's start to its first answer.
Result<> measure_daemon(const Options& options, Report& report);

class Stopwatch {
  public:
    [[nodiscard]] double milliseconds() const {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun_)
            .count();
    }
    [[nodiscard]] double microseconds() const { return milliseconds() * 1000.0; }

  private:
    std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

/// One of those that take turns in a round.
struct Contender {
    std::string name;
    std::function<Result<double>()> run;  ///< does it once; only the part that counts is timed
    Samples samples;
};

/// A round runs every contender once, beginning with another one each time; `settle` comes before
/// each, untimed. One round more than asked for is run: the first is a warm-up and is thrown away.
Result<> interleave(std::vector<Contender>& contenders,
                    int rounds,
                    const std::function<void()>& settle);

}  // namespace daybook::bench
