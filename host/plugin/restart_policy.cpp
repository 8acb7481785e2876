#include "host/plugin/restart_policy.hpp"

#include <algorithm>

namespace daybook {
namespace {

constexpr std::size_t kMostRemembered = 64;  // 2^62 first delays is beyond any longest delay

}  // namespace

RestartPolicy::Verdict RestartPolicy::record_crash(SteadyTime now) {
    crashes_.push_back(now);
    while (crashes_.size() > kMostRemembered || now - crashes_.front() > limits_.window) {
        crashes_.pop_front();
    }
    if (limits_.breaker && (half_open_ || crashes_.size() >= limits_.breaker_crashes)) {
        open_ = true;
        half_open_ = false;
        return {true, std::chrono::milliseconds(0)};
    }
    if (crashes_.size() < 2) {
        return {};
    }
    auto delay = limits_.first_delay;
    for (std::size_t i = 2; i < crashes_.size() && delay < limits_.longest_delay; ++i) {
        delay *= 2;
    }
    delay = std::min(delay, limits_.longest_delay);
    // A fifth to either side, so that the runners of many desks do not come back in step.
    std::uniform_int_distribution<std::int64_t> jitter(-delay.count() / 5, delay.count() / 5);
    return {false, delay + std::chrono::milliseconds(jitter(random_))};
}

void RestartPolicy::try_again() {
    if (open_) {
        open_ = false;
        half_open_ = true;
    } else if (!half_open_) {
        crashes_.clear();
    }
}

void RestartPolicy::record_answer() {
    if (half_open_) {
        half_open_ = false;
        crashes_.clear();
    }
}

}  // namespace daybook
