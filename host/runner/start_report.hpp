// Tells the host that the start failed: which step, and a sentence. Also on stderr, which the host
// logs.
#pragma once

#include <string_view>

#include <daybook/result.hpp>

#include "host/runner/host_link.hpp"

namespace daybook::runner {

void report_start_failure(HostLink& link, std::string_view step, const Error& error);

}  // namespace daybook::runner
