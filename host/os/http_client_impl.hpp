// The inside of HttpClient; for its own .cpp files only.
//
// Everything of libcurl belongs to `mutex`, which the I/O thread holds while it works and nobody
// waits for but the destructor.
#pragma once

#include <atomic>
#include <cstdint>
#include <curl/curl.h>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "host/os/http_transfer.hpp"

namespace daybook {

struct HttpClient::Impl : std::enable_shared_from_this<HttpClient::Impl> {
    Impl(IoLoop& loop_, std::filesystem::path authorities_)
        : loop(loop_), authorities(std::move(authorities_)) {}

    IoLoop& loop;
    const std::filesystem::path authorities;
    std::atomic<std::size_t> out{0};
    std::atomic<std::uint64_t> next_id{1};

    std::mutex mutex;  // guards everything below
    bool closed = false;
    CURLM* multi = nullptr;
    bool is_initialised = false;
    std::map<std::uint64_t, std::unique_ptr<HttpTransfer>> transfers;
    struct Socket {
        std::unique_ptr<Watch> read, write;
    };
    std::map<curl_socket_t, Socket> sockets;
    std::unique_ptr<Watch> timer;

    /// Runs `task` on the I/O thread under the mutex, unless the client has gone.
    template <class Task>
    [[nodiscard]] std::function<void()> guarded(Task task) {
        return [weak = weak_from_this(), task] {
            if (const auto self = weak.lock()) {
                const std::lock_guard guard(self->mutex);
                if (!self->closed) {
                    task(*self);
                }
            }
        };
    }

    void close();
    bool open_multi();
    void add(std::unique_ptr<HttpTransfer> transfer);
    Result<> start_hop(HttpTransfer& transfer);
    Result<> follow(HttpTransfer& transfer);
    void act(curl_socket_t socket, int events);
    void settle();
    void finish(std::uint64_t id, CURLcode code);
    void end(std::uint64_t id, std::optional<Error> error);
    void look(std::uint64_t id);
    void check_time(std::uint64_t id);
    void watch_socket(curl_socket_t socket, int what);
    void set_timer(long milliseconds);
};

}  // namespace daybook
