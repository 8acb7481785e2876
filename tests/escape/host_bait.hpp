// The host as an attempt finds it: sockets that listen, signals that count, memory and limits that
// must stay as they are. What an attempt did is seen here, not believed.
#pragma once

#include <sched.h>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "host/os/unique_fd.hpp"
#include "tests/escape/world.hpp"

namespace daybook::escape {

/// One a process: it installs signal handlers and makes this process the reaper of its
/// grandchildren.
class HostBait {
  public:
    explicit HostBait(const EscapeWorld& world);

    [[nodiscard]] int port() const noexcept { return port_; }
    [[nodiscard]] std::string address() const;
    /// What changed since the last call, one word each: "signal", "memory", "connection",
    /// "datagram", "limits", "lock", "traced", "file" (outside the world). Puts it back.
    std::vector<std::string> evidence();
    /// Once the runner is reaped: "process" when it left children behind; ends and reaps them.
    static std::vector<std::string> foreign_children();

  private:
    [[nodiscard]] bool has_visitor() const;
    [[nodiscard]] bool has_datagram() const;
    bool limits_changed();
    [[nodiscard]] bool is_locked() const;

    const EscapeWorld& world_;
    UniqueFd abstract_, unix_, tcp_, udp_;
    int port_ = 0;
    int signals_ = 0;
    rlimit descriptors_{};
    int priority_ = 0;
    cpu_set_t processors_{};
};

}  // namespace daybook::escape
