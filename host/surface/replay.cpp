#include "host/surface/replay.hpp"

#include <algorithm>
#include <vector>

#include "host/surface/host.hpp"

namespace daybook {
namespace {

constexpr std::chrono::hours kLongest{24 * 400};
constexpr std::chrono::milliseconds kLook{200};

/// Instants in (from, to] at which a desk's rollover falls due, in order.
std::vector<Timestamp> due_between(const std::vector<Desk*>& desks, Timestamp from, Timestamp to) {
    std::vector<Timestamp> due;
    for (const Desk* desk : desks) {
        const TimeOfDay configured = desk->config().rollover.value_or(
            desk->calendar().default_rollover().value_or(TimeOfDay{}));
        const DeskDate last = desk->zone().date_of(to).plus_days(1);
        for (DeskDate day = desk->zone().date_of(from).plus_days(-1); day <= last;
             day = day.plus_days(1)) {
            const auto at = desk->calendar().rollover_due(day, configured, desk->zone());
            if (at && *at > from && *at <= to) {
                due.push_back(*at);
            }
        }
    }
    std::sort(due.begin(), due.end());
    due.erase(std::unique(due.begin(), due.end()), due.end());
    return due;
}

Result<> wait_until_idle(Desk& desk, SteadyTime deadline, const std::stop_token& stop) {
    while (true) {
        const auto now = std::chrono::steady_clock::now();
        if (desk.wait_idle(std::min(deadline, now + kLook))) {
            return {};
        }
        if (stop.stop_requested()) {
            return Error(Errc::cancelled, "advance the clock: the host is stopping");
        }
        if (std::chrono::steady_clock::now() >= deadline) {
            const DeskStatus status = desk.status();
            return Error(Errc::deadline,
                         "advance the clock: desk " + desk.name() + " is " + status.state +
                             (status.reason.empty() ? "" : " (" + status.reason + ")"));
        }
    }
}

}  // namespace

Result<> advance_clock(Host& host,
                       Timestamp to,
                       std::chrono::milliseconds step_timeout,
                       const std::stop_token& stop) {
    ReplayedClock* clock = host.replayed();
    if (clock == nullptr) {
        return Error(
            Errc::unsupported,
            "advance the clock: this host runs on the real clock; host.replay_start in the "
            "configuration makes a replayed one");
    }
    const Timestamp from = clock->now();
    if (to < from) {
        return Error(Errc::invalid,
                     "advance the clock: it stands at " + to_rfc3339(from) +
                         " and never goes back to " + to_rfc3339(to));
    }
    if (to - from > kLongest) {
        return Error(Errc::invalid, "advance the clock: at most 400 days at once");
    }
    const auto desks = host.desks();
    std::vector<Timestamp> steps = due_between(desks, from, to);
    if (steps.empty() || steps.back() != to) {
        steps.push_back(to);
    }
    for (const Timestamp step : steps) {
        if (auto saved = host.save_replay_position(step); !saved) {
            return saved.error().during("advance the clock");
        }
        if (auto moved = clock->advance_to(step); !moved) {
            return moved;
        }
        for (Desk* desk : desks) {
            desk->check_clock();
        }
        const auto deadline = std::chrono::steady_clock::now() + step_timeout;
        for (Desk* desk : desks) {
            if (auto idle = wait_until_idle(*desk, deadline, stop); !idle) {
                return idle;
            }
        }
    }
    return {};
}

}  // namespace daybook
