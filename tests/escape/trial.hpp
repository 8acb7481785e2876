// One attempt in a fresh runner, and what became of it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/escape/host_bait.hpp"
#include "tests/escape/world.hpp"

namespace daybook::escape {

/// How the runner is started.
struct TrialSettings {
    std::string profile = "pure";  ///< scratch; child, or child-net with a port granted
    std::string landlock = "7";    ///< ABI at most: 7, 2, 1; absent = a kernel without it
    std::string gap;               ///< the wall left out by the runner with a gap; "" = none
};

/// What was started for one attempt: a runner, or a walled child.
class TrialSubject {
  public:
    TrialSubject() = default;
    virtual ~TrialSubject() = default;
    TrialSubject(const TrialSubject&) = delete;
    TrialSubject& operator=(const TrialSubject&) = delete;
    TrialSubject(TrialSubject&&) = delete;
    TrialSubject& operator=(TrialSubject&&) = delete;

    /// "" when it is open for calls, else the reason.
    virtual std::string open() = 0;
    /// The answer; nullopt when there is none, and then `failed()` says why.
    virtual std::optional<std::string> attempt(const std::string& arguments,
                                               std::chrono::milliseconds patience) = 0;
    /// Why there is no answer: "killed", "bad frame", "channel closed", "program", "failed: ...".
    [[nodiscard]] virtual const std::string& failed() const noexcept = 0;
    /// Ends and reaps it; "signal 11" or "exit 3" when it had ended by itself, else "".
    virtual std::string end() = 0;
    virtual void kill_now() = 0;
};

/// The attempts as a program behind the walls of `daybook-runner --child`.
std::unique_ptr<TrialSubject> start_child(const EscapeWorld& world, const TrialSettings& settings);

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
