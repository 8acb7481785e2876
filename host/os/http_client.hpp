// HTTP requests on the I/O thread: libcurl's multi interface behind a small door, so that one file
// compiles it.
//
// A request goes to an approved origin or not at all: its address is checked when the connection is
// made, a redirect is checked like a new request, certificates are always verified, and no proxy or
// .netrc of the environment counts. A secret is added here and is taken out of whatever the server
// says back. What the caller does not take is not read from the socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/clock.hpp"
#include "host/os/http_origin.hpp"
#include "host/os/io_loop.hpp"

namespace daybook {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// An origin that a request may reach, and the secret that only it is told.
struct HttpDestination {
    HttpOrigin origin;
    bool private_network = false;  ///< the owner's word: a name may stand for a private address
    std::string secret_header;     ///< "authorization"; "" = no secret
    std::string secret_prefix;     ///< "Bearer "
    std::string secret;
};

struct HttpRequest {
    std::string method = "GET";  ///< GET HEAD POST PUT PATCH DELETE
    std::string url;
    HttpHeaders headers;
    std::string body;
    bool body_follows = false;  ///< more comes with HttpExchange::offer; `body` is its beginning
    std::optional<std::uint64_t> body_bytes;  ///< of the whole body, when known and it follows
    std::vector<HttpDestination> approved;
    std::chrono::milliseconds connect{10'000};
    std::chrono::milliseconds first_byte{300'000};  ///< until the answer's head is whole
    std::chrono::milliseconds idle{120'000};        ///< without a byte, while the caller takes
    SteadyTime deadline = SteadyTime::max();        ///< of the whole exchange
    std::uint64_t max_bytes = 64UL << 20U;          ///< of the answer's body, once decoded
    bool compressed = false;                        ///< offer gzip and deflate
};

struct HttpHead {
    int status = 0;
    std::string url;      ///< after redirects
    HttpHeaders headers;  ///< names in lower case; without cookies
};

/// One request and its answer. Thread: [any].
/// Errors: refused (a rule: address, redirect, certificate), unavailable (no connection),
/// no_answer (no head in time), lost_connection (cut, garbage, silent in mid-answer), full (over a
/// bound), deadline, cancelled.
class HttpExchange {
  public:
    virtual ~HttpExchange() = default;
    /// nullopt: not there yet.
    [[nodiscard]] virtual std::optional<Result<HttpHead>> head() const = 0;
    /// Takes up to `max` bytes of the body; "" is its end; nullopt: none there yet. What arrived
    /// before an error comes before it.
    virtual std::optional<Result<std::string>> take(std::size_t max) = 0;
    /// More of the request's body. False: as much waits as may, offer it again later.
    virtual Result<bool> offer(std::string_view bytes, bool last) = 0;
    /// Closes the connection. No on_change comes after it has returned.
    virtual void cancel() = 0;
};

class HttpClient {
  public:
    /// Exchanges that may be out at once on this host.
    static constexpr std::size_t kMaxExchanges = 256;
    static constexpr std::size_t kMaxWaiting =
        256UL * 1024;  ///< of an upload, before offer() says no
    static constexpr std::size_t kMaxRedirects = 5;

    /// `authorities`: a file of certificates to trust instead of the system's; empty = the
    /// system's.
    explicit HttpClient(IoLoop& loop, std::filesystem::path authorities = {});
    /// Cancels what is out.
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;
    HttpClient(HttpClient&&) = delete;
    HttpClient& operator=(HttpClient&&) = delete;

    /// Starts a request. `on_change` is called on the I/O thread whenever head(), take() or offer()
    /// may answer otherwise than before; it must only post. Errors: invalid (method, url), refused
    /// (origin not approved; plain http to another machine), busy. Thread: [any].
    Result<std::unique_ptr<HttpExchange>> start(HttpRequest request,
                                                std::function<void()> on_change);
    /// Exchanges that are out. Thread: [any].
    [[nodiscard]] std::size_t running() const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

/// The origin of a URL as the client would connect to it. Errors: invalid. Thread: [any].
Result<HttpOrigin> origin_of(const std::string& url);

}  // namespace daybook
