// One attempt in a fresh runner, and what became of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/escape/host_bait.hpp"
#include "tests/escape/world.hpp"

namespace daybook::escape {

/// How the runner is started.
struct TrialSettings {
    std::string profile = "pure";  ///< or scratch
    std::string landlock = "7";    ///< ABI at most: 7, 2, 1; absent = a kernel without it
    std::string gap;               ///< the wall left out by the runner with a gap; "" = none
};

class Trials {
  public:
    /// World and bait must outlive this.
    Trials(const EscapeWorld& world, HostBait& bait, TrialSettings settings);

    /// Makes the attempt. "worked" (then in brackets what was seen from outside), an errno's name,
    /// "killed" (no answer in time), "bad frame", "channel closed", "signal 11", "exit 3", or "no
    /// start: ..." with the reason.
    std::string verdict(const std::string& attempt);
    /// Name and clause of every attempt.
    std::vector<std::pair<std::string, std::string>> attempts();

  private:
    class Runner;

    const EscapeWorld& world_;
    HostBait& bait_;
    TrialSettings settings_;
};

}  // namespace daybook::escape
