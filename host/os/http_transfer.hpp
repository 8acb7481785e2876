// One HTTP exchange as libcurl works on it; for the files of HttpClient only, which are the only
// ones that compile libcurl. Guarded by the client's mutex. Thread: [io].
//
// A handle is never ended inside one of its own callbacks: what a callback decides is written down
// here and done when libcurl has returned.
#pragma once

#include <array>
#include <cstdint>
#include <curl/curl.h>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/os/http_client.hpp"
#include "host/os/http_flow.hpp"

namespace daybook {

struct EasyDeleter {
    void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
};
struct ListDeleter {
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;
using List = std::unique_ptr<curl_slist, ListDeleter>;

struct HttpTransfer {
    std::uint64_t id = 0;
    std::shared_ptr<HttpFlow> flow;
    HttpRequest request;
    const HttpDestination* to = nullptr;  ///< of request.approved: where this hop goes
    std::string url;                      ///< of this hop
    std::string method;
    std::size_t hops = 0;
    Easy easy;
    List headers;
    std::array<char, CURL_ERROR_SIZE> reason{};
    std::unique_ptr<Watch> timer;
    SteadyTime begun{};
    SteadyTime last_byte{};

    // What its callbacks decided.
    HttpHead head;
    std::size_t head_bytes = 0, head_lines = 0;
    bool head_whole = false;
    bool redirects = false;
    std::uint64_t body_bytes = 0;
    std::optional<Error> failure;
    std::optional<Error> address_refused;  ///< of one of its addresses; another may have done
    bool upload_paused = false;
    bool receive_paused = false;

    [[nodiscard]] Error error(Errc code, const std::string& what) const {
        const std::string where = to != nullptr ? to->origin.str() : url;
        return Error(code, request.method + " " + where + ": " + what);
    }
    std::size_t take_header(std::string_view line);
    void finish_head();
    std::size_t take_body(std::string_view bytes);
    std::size_t give_upload(char* into, std::size_t room);
    curl_socket_t open_socket(const curl_sockaddr& address);

    /// A fresh handle for this hop. Errors: full.
    Result<> prepare(const std::filesystem::path& authorities);
    /// After the head of a redirect: this is now the next hop; prepare() it. Errors: refused.
    Result<> redirect();
    /// How it ended; nullopt: well.
    [[nodiscard]] std::optional<Error> outcome(CURLcode code) const;

  private:
    void set_options(const std::filesystem::path& authorities);
    void set_upload();
};

}  // namespace daybook
