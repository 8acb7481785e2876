// The control socket: a unix socket of mode 0600 whose peers are the owner or root, and who know
// the token.
//
// Bound before the desks open and listening after, so that who connects is served at once. Thread:
// made and stopped on [main]; everything else on [io].
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <daybook/result.hpp>

#include "host/os/io_loop.hpp"
#include "host/os/unique_fd.hpp"
#include "host/surface/control_connection.hpp"

namespace daybook {

class ControlServer {
  public:
    struct Events {
        /// A request of a trusted peer. Must not block.
        std::function<void(ControlRequest, std::shared_ptr<Reply>)> take;
        /// A wrong token, at most one call in ten seconds; `count` since the last.
        std::function<void(const Peer&, std::uint64_t count)> on_wrong_token;
    };

    /// Binds the socket; a stale one at that place is removed. Changes the process's umask for a
    /// moment: call before other threads make files. Errors: busy (another host answers there),
    /// refused (something else has that name), io.
    static Result<std::unique_ptr<ControlServer>> bind(IoLoop& loop,
                                                       const std::filesystem::path& path,
                                                       std::string token,
                                                       Events events,
                                                       const ControlLimits& limits = {});
    ~ControlServer();  ///< removes the socket's file; the loop must have ended, or stop() have run
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;
    ControlServer(ControlServer&&) = delete;
    ControlServer& operator=(ControlServer&&) = delete;

    /// From now on connections are taken. Errors: io.
    Result<> listen();
    /// No new connections; every open request is told `why`, then all are closed. Thread: [any];
    /// returns at once.
    void stop(Error why);
    [[nodiscard]] std::size_t connections() const noexcept {
        return connections_.size();
    }  ///< [io]

  private:
    ControlServer(IoLoop& loop,
                  std::filesystem::path path,
                  UniqueFd socket,
                  std::string token,
                  Events events,
                  const ControlLimits& limits);
    void accept_all();
    void take_connection(UniqueFd socket);
    bool make_room();
    std::chrono::milliseconds note_wrong_token(const Peer& peer);

    IoLoop& loop_;
    std::filesystem::path path_;
    UniqueFd socket_;
    std::string token_;
    Events events_;
    ControlLimits limits_;
    ControlConnection::Owner owner_;
    std::unique_ptr<Watch> acceptable_;
    std::unique_ptr<Watch>
        pause_;  // runs out when accepting may go on after the process ran out of descriptors
    std::map<std::uint64_t, std::shared_ptr<ControlConnection>> connections_;
    std::uint64_t next_number_ = 1;
    std::deque<std::chrono::steady_clock::time_point> wrong_tokens_;  // of the last minute
    std::chrono::steady_clock::time_point last_told_{};
    std::uint64_t untold_ = 0;
};

}  // namespace daybook
