// Tells systemd how the service stands: one datagram to $NOTIFY_SOCKET. Never blocks, never fails
// the caller.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "host/os/unique_fd.hpp"

namespace daybook {

class ServiceNotifier {
  public:
    /// `variable` reads the environment ("" = unset). Without NOTIFY_SOCKET nothing is ever sent.
    explicit ServiceNotifier(const std::function<std::string(const char*)>& variable);

    /// Sends lines such as "READY=1\nSTATUS=2 desks". False: there is nobody to tell, or the buffer
    /// was full.
    bool send(std::string_view lines) const;
    /// How often "WATCHDOG=1" is due (half of what was asked for); zero = never.
    [[nodiscard]] std::chrono::microseconds watchdog_interval() const noexcept { return interval_; }

  private:
    std::string address_;
    UniqueFd socket_;
    std::chrono::microseconds interval_{0};
};

}  // namespace daybook
