// Tells the host that the start failed: which step, and a sentence. Also on stderr, which the host
// logs.
#pragma once

#include <string_view>
#include <unistd.h>
#include <utility>

#include <daybook/result.hpp>

#include "host/runner/host_link.hpp"

namespace daybook::runner {

void report_start_failure(HostLink& link, std::string_view step, const Error& error);

/// The value, or the end of the process with the host told why.
template <class T>
T need(HostLink& link, const char* step, int exit_code, Result<T> outcome) {
    if (!outcome) {
        report_start_failure(link, step, outcome.error());
        ::_exit(exit_code);
    }
    return *std::move(outcome);
}

}  // namespace daybook::runner
