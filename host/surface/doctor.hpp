// `daybook doctor`: looks at everything that a host stands on, and says of each whether it is well
// and what to do.
#pragma once

#include <stop_token>

#include <daybook/result.hpp>

#include "host/format/json.hpp"

namespace daybook {

class Host;

/// {"checks":[{"name","state":"ok"|"warn"|"bad","text","todo"}],"ok":n,"warn":n,"bad":n}. Starts
/// runners to prove their walls and to ask the models whether they are ready. Never fails as a
/// whole but when the host stops (cancelled). Thread: a job's.
Result<Json> examine(Host& host, const std::stop_token& stop);

}  // namespace daybook
