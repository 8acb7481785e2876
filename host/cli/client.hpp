// A connection to the host's control socket: blocking, one request at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/unique_fd.hpp"
#include "host/surface/places.hpp"

namespace daybook::cli {

class Client {
  public:
    /// Reads the token, connects, checks that the other end is the owner of the token or root, and
    /// shows it the token. Errors: unavailable (no host runs there), auth (the token cannot be
    /// read), io.
    static Result<Client> connect(const Places& places);

    /// Sends a request and waits for its outcome; `on_event` gets the events of a stream.
    /// Errors: the host's own; lost_connection (the host ended); cancelled (interrupted from the
    /// keyboard).
    Result<Json> call(std::string_view verb,
                      const Json& args,
                      const std::function<void(const Json& event)>& on_event = {});
    /// Waits until the host has closed the connection. False: interrupted.
    bool wait_closed();

  private:
    explicit Client(UniqueFd socket) : socket_(std::move(socket)) {}
    Result<> send_line(std::string line);
    Result<std::string> read_line();

    UniqueFd socket_;
    std::string in_;
    std::int64_t next_id_ = 1;
};

/// The code of a name that came from the host; `internal` for an unknown one.
[[nodiscard]] Errc code_of(std::string_view name) noexcept;

/// What to do about an error of connect(), for Output::fail; "" for others.
[[nodiscard]] std::string connect_hint(const Error& error, const Places& places);

}  // namespace daybook::cli
