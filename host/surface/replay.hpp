// Moves a replayed clock, step by step, so that nothing that falls due on the way is skipped.
#pragma once

#include <chrono>
#include <stop_token>

#include <daybook/result.hpp>

#include "host/os/clock.hpp"

namespace daybook {

class Host;

/// Advances to `to`, stopping at each rollover that is due on the way and waiting there until the
/// desks are idle. The position is durable before the clock stands there. Thread: a job's. Errors:
/// unsupported (the clock is real), invalid (earlier than now, over 400 days), deadline (a desk
/// does not get idle: says which), cancelled (the host stops), io.
Result<> advance_clock(Host& host,
                       Timestamp to,
                       std::chrono::milliseconds step_timeout,
                       const std::stop_token& stop);

}  // namespace daybook
