// One connection of the control socket: token first, then requests and their answers, a JSON object
// a line.
//
// Lives on the I/O thread, which only frames: a request is handed on, its answer comes back from
// any thread through a Reply. Limits: ControlLimits. Whoever breaks the framing is told once and
// dropped.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "host/format/json.hpp"
#include "host/os/io_loop.hpp"
#include "host/os/unique_fd.hpp"
#include "host/surface/reply.hpp"

namespace daybook {

struct ControlLimits {
    std::size_t max_line = 1024UL * 1024;
    std::size_t max_token_line = 4096;        ///< before the token was right
    std::size_t max_backlog = 1024UL * 1024;  ///< bytes a slow reader of a stream may leave unread
    std::size_t max_unread = 32UL * 1024 * 1024;  ///< bytes of outcomes it may leave unread
    std::size_t max_in_flight = 16;
    std::size_t max_connections = 64;
    std::chrono::milliseconds token_deadline{10000};
    std::chrono::milliseconds wrong_token_delay{
        250};  ///< doubled by each wrong one of the last minute, up to 4 s
};

/// A request as it came: {"id":N,"do":"noun.verb","args":{…}}.
struct ControlRequest {
    std::string verb;
    Json args = Json::object();
};

/// Who is at the other end, for log and journal.
struct Peer {
    int pid = 0;
    unsigned uid = 0;
};

class ControlConnection : public std::enable_shared_from_this<ControlConnection> {
  public:
    /// What a connection asks of its server. All [io].
    struct Owner {
        std::function<bool(std::string_view token)> is_right;
        std::function<std::chrono::milliseconds(const Peer&)>
            note_wrong_token;  ///< returns how long to wait
        std::function<void(ControlRequest, std::shared_ptr<Reply>)> take;
        std::function<void(std::uint64_t number)> ended;
    };

    ControlConnection(IoLoop& loop,
                      UniqueFd socket,
                      Peer peer,
                      std::uint64_t number,
                      const ControlLimits& limits,
                      const Owner& owner);

    void start();
    /// Tells every open request that the host stops, writes what the socket takes, and closes.
    void stop(const Error& why);
    [[nodiscard]] bool is_trusted() const noexcept { return trusted_; }
    /// One error line (id null), then closed.
    void refuse(const Error& why);

  private:
    void on_readable();
    void on_writable();
    void take_lines();
    void take_token(std::string_view line);
    void take_request(std::string_view line);
    void queue(std::string line, std::size_t limit);
    void flush();
    void finish(std::uint64_t request);
    void on_end_of_input();
    void check_half_closed();
    void close();

    IoLoop& loop_;
    UniqueFd socket_;
    Peer peer_;
    std::uint64_t number_;
    const ControlLimits& limits_;
    const Owner& owner_;
    std::unique_ptr<Watch> readable_;
    std::unique_ptr<Watch> writable_;
    std::unique_ptr<Watch> timer_;
    std::string in_;
    std::string out_;
    std::size_t out_sent_ = 0;
    std::map<std::uint64_t, std::weak_ptr<Reply>> in_flight_;
    std::uint64_t next_request_ = 1;
    bool trusted_ = false;
    bool ending_ = false;       // nothing more is read; closed once everything is written
    bool half_closed_ = false;  // the other side writes no more, but may still read
    bool closed_ = false;
};

}  // namespace daybook
