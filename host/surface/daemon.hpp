// The daemon's life: start, serve, stop. What main.cpp has built is borrowed.
#pragma once

#include <string>

#include <daybook/result.hpp>

#include "host/format/config.hpp"
#include "host/surface/places.hpp"

namespace daybook {

struct DaemonOptions {
    PlaceOptions places;
    bool foreground = false;  ///< the log goes to stderr
};

/// Runs until a signal or the owner ends it. Thread: [main], which becomes the I/O thread.
/// Errors: whatever keeps the host from serving at all, in one sentence that says what to do.
Result<> run_daemon(const DaemonOptions& options);

}  // namespace daybook
