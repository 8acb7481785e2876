#include "host/surface/control_connection.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace daybook {
namespace {

constexpr std::size_t kReadBytes = 64UL * 1024;
constexpr std::chrono::seconds kHalfClosedCheck{1};

/// Reads a request's envelope. Errors: invalid.
Result<ControlRequest> read_request(const Json& line) {
    for (const auto& [key, value] : line.members()) {
        if (key != "id" && key != "do" && key != "args") {
            return Error(Errc::invalid,
                         "request: unknown member; it has \"id\", \"do\" and \"args\" only");
        }
    }
    const Json& id = line["id"];
    if (!id.is_null() && !id.is_string() && id.kind() != Json::Kind::integer) {
        return Error(Errc::invalid, "request: \"id\" is a number or a text");
    }
    ControlRequest request;
    request.verb = line["do"].as_string();
    if (request.verb.empty()) {
        return Error(Errc::invalid, "request: \"do\" is missing, such as \"desk.list\"");
    }
    if (line.has("args")) {
        if (!line["args"].is_object()) {
            return Error(Errc::invalid, "request: \"args\" is an object");
        }
        request.args = line["args"];
    }
    return request;
}

}  // namespace

ControlConnection::ControlConnection(IoLoop& loop,
                                     UniqueFd socket,
                                     Peer peer,
                                     std::uint64_t number,
                                     const ControlLimits& limits,
                                     const Owner& owner)
    : loop_(loop),
      socket_(std::move(socket)),
      peer_(peer),
      number_(number),
      limits_(limits),
      owner_(owner) {}

void ControlConnection::start() {
    const std::weak_ptr<ControlConnection> weak = weak_from_this();
    readable_ = loop_.watch(socket_.get(), IoLoop::Ready::read, [weak] {
        if (const auto self = weak.lock()) {
            self->on_readable();
        }
    });
    timer_ = loop_.after(limits_.token_deadline, [weak] {
        if (const auto self = weak.lock(); self && !self->trusted_) {
            self->refuse(
                Error(Errc::deadline, "no token came; the first line is {\"token\":\"…\"}"));
        }
    });
}

void ControlConnection::on_readable() {
    if (ending_ || closed_) {
        return;
    }
    const std::size_t before = in_.size();
    in_.resize(before + kReadBytes);
    const ssize_t got = ::recv(socket_.get(), in_.data() + before, kReadBytes, MSG_DONTWAIT);
    const int error = errno;
    in_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
    if (got == 0) {
        on_end_of_input();
        return;
    }
    if (got < 0) {
        if (error != EAGAIN && error != EINTR) {
            close();
        }
        return;
    }
    take_lines();
}

void ControlConnection::take_lines() {
    std::size_t start = 0;
    while (!ending_ && !closed_) {
        const std::size_t end = in_.find('\n', start);
        const std::size_t limit = trusted_ ? limits_.max_line : limits_.max_token_line;
        const std::size_t length = (end == std::string::npos ? in_.size() : end) - start;
        if (length > limit) {
            refuse(Error(Errc::full,
                         "request: a line is at most " + std::to_string(limit) + " bytes"));
            return;
        }
        if (end == std::string::npos) {
            break;
        }
        const std::string line = in_.substr(start, length);
        start = end + 1;
        if (!trusted_) {
            take_token(line);
        } else if (line.find_first_not_of(" \t\r") != std::string::npos) {
            take_request(line);
        }
    }
    in_.erase(0, start);
    if (in_.empty() && in_.capacity() > kReadBytes) {
        in_.shrink_to_fit();  // an idle connection keeps no large buffer
    }
}

void ControlConnection::take_token(std::string_view line) {
    auto json = Json::parse(line, JsonLimits{limits_.max_token_line, 4, limits_.max_token_line});
    const bool right =
        json && json->members().size() == 1 && owner_.is_right((*json)["token"].as_string());
    if (right) {
        trusted_ = true;
        timer_.reset();
        return;
    }
    // Told late, so that guessing is slow; only this connection waits.
    ending_ = true;
    readable_.reset();
    const std::weak_ptr<ControlConnection> weak = weak_from_this();
    timer_ = loop_.after(owner_.note_wrong_token(peer_), [weak] {
        if (const auto self = weak.lock()) {
            self->refuse(
                Error(Errc::auth,
                      "the token is wrong: the first line is {\"token\":\"…\"} with the text of "
                      "keys/control.token"));
        }
    });
}

void ControlConnection::take_request(std::string_view line) {
    auto json = Json::parse(line, JsonLimits{limits_.max_line, 64, 256UL * 1024});
    if (!json || !json->is_object()) {
        queue(error_line(Json(),
                         json ? Error(Errc::invalid, "request: a line is one JSON object")
                              : json.error().during("request")),
              limits_.max_unread);
        return;
    }
    auto request = read_request(*json);
    if (!request) {
        queue(error_line((*json)["id"], request.error()), limits_.max_unread);
        return;
    }
    if (in_flight_.size() >= limits_.max_in_flight) {
        queue(error_line((*json)["id"],
                         Error(Errc::busy,
                               "request: " + std::to_string(limits_.max_in_flight) +
                                   " requests of this connection are open; wait for an answer")),
              limits_.max_unread);
        return;
    }
    const std::uint64_t number = next_request_++;
    const std::weak_ptr<ControlConnection> weak = weak_from_this();
    IoLoop& loop = loop_;
    auto reply =
        std::make_shared<Reply>((*json)["id"], [weak, number, &loop](std::string text, bool last) {
            loop.post([weak, number, last, line_text = std::move(text)]() mutable {
                const auto self = weak.lock();
                if (!self || self->closed_) {
                    return;
                }
                self->queue(std::move(line_text),
                            last ? self->limits_.max_unread : self->limits_.max_backlog);
                if (last) {
                    self->finish(number);
                }
            });
        });
    in_flight_.emplace(number, reply);
    owner_.take(std::move(*request), std::move(reply));
}

void ControlConnection::queue(std::string line, std::size_t limit) {
    if (closed_) {
        return;
    }
    if (out_.size() - out_sent_ > limit) {
        close();  // it does not read what it asked for
        return;
    }
    out_ += line;
    out_ += '\n';
    flush();
}

void ControlConnection::flush() {
    while (out_sent_ < out_.size()) {
        const ssize_t sent = ::send(socket_.get(),
                                    out_.data() + out_sent_,
                                    out_.size() - out_sent_,
                                    MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent > 0) {
            out_sent_ += static_cast<std::size_t>(sent);
        } else if (sent < 0 && errno == EINTR) {
            continue;
        } else if (sent < 0 && errno == EAGAIN) {
            if (!writable_) {
                const std::weak_ptr<ControlConnection> weak = weak_from_this();
                writable_ = loop_.watch(socket_.get(), IoLoop::Ready::write, [weak] {
                    if (const auto self = weak.lock()) {
                        self->on_writable();
                    }
                });
            }
            if (out_sent_ > kReadBytes) {
                out_.erase(0, std::exchange(out_sent_, 0));
            }
            return;
        } else {
            close();
            return;
        }
    }
    out_ = std::string();
    out_sent_ = 0;
    writable_.reset();
    if (ending_ || (half_closed_ && in_flight_.empty())) {
        close();
    }
}

void ControlConnection::on_writable() {
    if (!closed_) {
        flush();
    }
}

void ControlConnection::finish(std::uint64_t request) {
    in_flight_.erase(request);
    if (half_closed_ && in_flight_.empty() && out_.empty()) {
        close();
    }
}

/// The other side has closed, or writes no more and still reads (`printf … | nc`): then its answers
/// go out first.
void ControlConnection::on_end_of_input() {
    readable_.reset();
    half_closed_ = true;
    check_half_closed();
}

void ControlConnection::check_half_closed() {
    if (closed_) {
        return;
    }
    pollfd state = {socket_.get(), 0, 0};
    const bool gone = ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
    if (gone || !trusted_ || (in_flight_.empty() && out_.empty())) {
        close();
        return;
    }
    const std::weak_ptr<ControlConnection> weak = weak_from_this();
    timer_ = loop_.after(kHalfClosedCheck, [weak] {
        if (const auto self = weak.lock()) {
            self->check_half_closed();
        }
    });
}

void ControlConnection::refuse(const Error& why) {
    ending_ = true;
    readable_.reset();
    queue(error_line(Json(), why), limits_.max_unread);
}

void ControlConnection::stop(const Error& why) {
    readable_.reset();
    const auto open = std::exchange(in_flight_, {});
    for (const auto& [number, weak] : open) {
        if (const auto reply = weak.lock()) {
            reply->done(why);
        }
    }
    // The lines come through the loop; this runs after them.
    loop_.post([self = shared_from_this()] {
        if (!self->closed_) {
            self->flush();
            self->close();
        }
    });
}

void ControlConnection::close() {
    if (closed_) {
        return;
    }
    closed_ = true;
    const auto self = shared_from_this();  // the owner lets go of us below
    readable_.reset();
    writable_.reset();
    timer_.reset();
    socket_.reset();
    for (const auto& [number, weak] : std::exchange(in_flight_, {})) {
        if (const auto reply = weak.lock()) {
            reply->abandon();
        }
    }
    owner_.ended(number_);
}

}  // namespace daybook
