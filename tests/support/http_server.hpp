// A server on loopback for tests: one function answers every request on a raw connection, so that a
// test can send whatever a server should not.
#pragma once

#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace daybook::test {

/// One connection, as the answering function sees it. Thread: the connection's own.
class HttpPeer {
  public:
    HttpPeer(int fd, const std::atomic<bool>& stopping) : fd_(fd), stopping_(stopping) {}

    std::string head;  ///< request line and headers of the current request
    std::string body;  ///< of the current request, when it has a Content-Length

    [[nodiscard]] bool asks_for(std::string_view target) const {
        return head.find(" " + std::string(target) + " ") != std::string::npos;
    }
    /// False when the client has gone.
    bool send(std::string_view bytes) {
        while (!bytes.empty() && !stopping_) {
            pollfd waiting{fd_, POLLOUT, 0};
            if (::poll(&waiting, 1, 20) == 0) {
                continue;
            }
            const ssize_t sent =
                ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno != EAGAIN) {
                return false;
            }
            bytes.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
            sent_ += sent > 0 ? static_cast<std::size_t>(sent) : 0;
        }
        return bytes.empty();
    }
    void answer(std::string_view status, std::string_view headers, std::string_view text) {
        send("HTTP/1.1 " + std::string(status) + "\r\n" + std::string(headers) +
             "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + std::string(text));
    }
    void begin_chunks(std::string_view headers = "") {
        send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + std::string(headers) +
             "Transfer-Encoding: chunked\r\n\r\n");
    }
    bool chunk(std::string_view text) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        std::string size;
        for (std::size_t left = text.size(); left != 0; left /= 16) {
            size.insert(size.begin(), kDigits[left % 16]);
        }
        return send((size.empty() ? "0" : size) + "\r\n" + std::string(text) + "\r\n");
    }
    void end_chunks() { send("0\r\n\r\n"); }
    /// Some bytes as they come; "" when the client has closed or the server stops.
    std::string receive() {
        std::string buffer(65536, '\0');
        while (!stopping_) {
            pollfd waiting{fd_, POLLIN, 0};
            if (::poll(&waiting, 1, 20) == 0) {
                continue;
            }
            const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
            if (got < 0 && errno == EAGAIN) {
                continue;
            }
            buffer.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
            return buffer;
        }
        return {};
    }
    /// Waits until the client closes. False: the server stops first.
    bool wait_for_close() {
        while (!receive().empty()) {
        }
        return !stopping_;
    }
    /// Waits for `time`, or less when the server stops.
    void rest(std::chrono::milliseconds time) {
        const auto end = std::chrono::steady_clock::now() + time;
        while (!stopping_ && std::chrono::steady_clock::now() < end) {
            pollfd nothing{-1, 0, 0};
            ::poll(&nothing, 1, 2);
        }
    }
    [[nodiscard]] std::size_t sent() const { return sent_; }
    [[nodiscard]] bool stopping() const { return stopping_; }

    /// Reads the next request; false when there is none.
    bool read_request() {
        std::string& all = pending_;
        std::size_t end = all.find("\r\n\r\n");
        while (end == std::string::npos) {
            const std::string more = receive();
            if (more.empty()) {
                return false;
            }
            all += more;
            end = all.find("\r\n\r\n");
        }
        head = all.substr(0, end + 2);
        all.erase(0, end + 4);
        body.clear();
        const std::size_t at = head.find("Content-Length: ");
        const std::size_t length = at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
        while (all.size() < length) {
            const std::string more = receive();
            if (more.empty()) {
                return false;
            }
            all += more;
        }
        body = all.substr(0, length);
        all.erase(0, length);
        return true;
    }

    /// Bytes behind the head that no Content-Length claimed.
    std::string take_pending() { return std::exchange(pending_, {}); }

  private:
    int fd_;
    const std::atomic<bool>& stopping_;
    std::string pending_;
    std::size_t sent_ = 0;
};

class HttpServer {
  public:
    using Answer = std::function<void(HttpPeer&)>;

    explicit HttpServer(Answer answer) : answer_(std::move(answer)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (listener_ < 0 ||
            ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
            ::listen(listener_, 128) != 0 ||
            ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
            throw std::runtime_error("listen on loopback");
        }
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] { accept(); });
    }
    ~HttpServer() {
        stopping_ = true;
        acceptor_.join();
        for (std::thread& connection : connections_) {
            connection.join();
        }
        ::close(listener_);
    }
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    HttpServer(HttpServer&&) = delete;
    HttpServer& operator=(HttpServer&&) = delete;

    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] std::string origin() const { return "http://127.0.0.1:" + std::to_string(port_); }
    /// Heads of the requests so far.
    std::vector<std::string> heads() const {
        const std::lock_guard guard(mutex_);
        return heads_;
    }
    /// For an answer to tell its test that something happened.
    void mark() {
        const std::lock_guard guard(mutex_);
        ++marks_;
        marked_.notify_all();
    }
    bool wait_for_marks(int count) {
        std::unique_lock guard(mutex_);
        return marked_.wait_for(guard, std::chrono::seconds(20), [&] { return marks_ >= count; });
    }

  private:
    void accept() {
        while (!stopping_) {
            pollfd waiting{listener_, POLLIN, 0};
            if (::poll(&waiting, 1, 20) <= 0) {
                continue;
            }
            const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            if (fd >= 0) {
                connections_.emplace_back([this, fd] { serve(fd); });
            }
        }
    }
    void serve(int fd) {
        HttpPeer peer(fd, stopping_);
        while (peer.read_request()) {
            {
                const std::lock_guard guard(mutex_);
                heads_.push_back(peer.head);
            }
            answer_(peer);
            if (peer.head.find("close-after") != std::string::npos) {
                break;
            }
        }
        ::close(fd);
    }

    Answer answer_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> stopping_{false};
    std::thread acceptor_;
    std::list<std::thread> connections_;  // the acceptor's
    mutable std::mutex mutex_;            // guards heads_ and marks_
    std::condition_variable marked_;
    std::vector<std::string> heads_;
    int marks_ = 0;
};

}  // namespace daybook::test
