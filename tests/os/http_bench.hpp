// A client on an I/O thread of its own, and requests to a server of the test's.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "host/os/http_client.hpp"
#include "tests/catch.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/io_thread.hpp"
#include "tests/support/must.hpp"

namespace daybook::test {

/// Wakes a test when an exchange changes. Outlives the exchange.
class Bell {
  public:
    std::function<void()> ring() {
        return [this] {
            const std::lock_guard guard(mutex_);
            ++rung_;
            changed_.notify_all();
        };
    }
    /// Waits until `done` holds, looking again after each ring.
    bool wait(const std::function<bool()>& done) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (true) {
            int before = 0;
            {
                const std::lock_guard guard(mutex_);
                before = rung_;
            }
            if (done()) {
                return true;
            }
            std::unique_lock guard(mutex_);
            if (!changed_.wait_until(guard, end, [&] { return rung_ != before; })) {
                return false;
            }
        }
    }

  private:
    std::mutex mutex_;  // guards rung_
    std::condition_variable changed_;
    int rung_ = 0;
};

/// An exchange that a test waits for.
struct Fetch {
    std::unique_ptr<Bell> bell = std::make_unique<Bell>();
    std::unique_ptr<HttpExchange> exchange;

    Result<HttpHead> head() {
        std::optional<Result<HttpHead>> found;
        if (!bell->wait([&] { return (found = exchange->head()).has_value(); })) {
            return Error(Errc::internal, "no head in the test's patience");
        }
        return *found;
    }
    Result<std::string> next(std::size_t max = 1U << 20U) {
        std::optional<Result<std::string>> found;
        if (!bell->wait([&] { return (found = exchange->take(max)).has_value(); })) {
            return Error(Errc::internal, "no body in the test's patience");
        }
        return *found;
    }
    Result<std::string> body() {
        std::string all;
        while (true) {
            auto piece = next();
            if (!piece) {
                return piece.error();
            }
            if (piece->empty()) {
                return all;
            }
            all += *piece;
        }
    }
    Result<> give(std::string_view bytes, bool last) {
        std::optional<Error> error;
        const bool given = bell->wait([&] {
            const auto offered = exchange->offer(bytes, last);
            if (!offered) {
                error = offered.error();
            }
            return !offered || *offered;
        });
        return error ? Result<>(*error)
                     : (given ? Result<>() : Result<>(Error(Errc::internal, "not taken in time")));
    }
};

struct HttpBench {
    IoThread io;
    HttpClient client;

    explicit HttpBench(std::filesystem::path authorities = {})
        : client(io.loop, std::move(authorities)) {}

    static HttpRequest request(const std::string& url) {
        HttpRequest out;
        out.url = url;
        out.approved.push_back({must(origin_of(url)), false, "", "", ""});
        return out;
    }
    Result<Fetch> start(HttpRequest request) {
        Fetch fetch;
        auto started = client.start(std::move(request), fetch.bell->ring());
        if (!started) {
            return started.error();
        }
        fetch.exchange = std::move(*started);
        return fetch;
    }
};

inline std::string header(const HttpHead& head, const std::string& name) {
    for (const auto& [each, value] : head.headers) {
        if (each == name) {
            return value;
        }
    }
    return {};
}

}  // namespace daybook::test
