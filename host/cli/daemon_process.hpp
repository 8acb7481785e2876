// Starts daybookd and waits until it says that it serves.
#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>

#include <daybook/result.hpp>

#include "host/os/unique_fd.hpp"
#include "host/surface/places.hpp"

namespace daybook::cli {

struct DaemonStart {
    Places places;
    PlaceOptions options;     ///< the flags that are handed on
    bool tied_to_us = false;  ///< ends when this process ends
};

/// A daemon that this process started.
class DaemonProcess {
  public:
    /// Waits for its READY=1. The daemon is in a session of its own: a Ctrl-C in the terminal is
    /// not for it. Errors: the daemon's own sentence with its exit code's meaning; deadline (60 s);
    /// cancelled (interrupted).
    static Result<DaemonProcess> start(const DaemonStart& start);

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    /// SIGTERM, and a second one after the grace; waits for the end. Errors: deadline.
    Result<> stop(std::chrono::milliseconds grace);

  private:
    explicit DaemonProcess(pid_t pid) : pid_(pid) {}
    pid_t pid_ = -1;
};

/// Waits until a process that need not be our child has ended. False at the deadline or when
/// interrupted.
bool wait_ended(pid_t pid, std::chrono::milliseconds timeout);

}  // namespace daybook::cli
