#include "host/os/http_transfer.hpp"

#include <algorithm>
#include <sys/socket.h>

#include <daybook/version.h>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxHeadBytes = 64UL * 1024;
constexpr std::size_t kMaxHeadLines = 200;

struct UrlDeleter {
    void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
struct TextDeleter {
    void operator()(char* text) const noexcept { curl_free(text); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

Result<Url> parse_url(const std::string& url) {
    Url parsed(curl_url());
    const CURLUcode code = curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0);
    if (code != CURLUE_OK || url.find('\0') != std::string::npos) {
        return Error(Errc::invalid, "\"" + printable(url, 120) + "\": " + curl_url_strerror(code));
    }
    return parsed;
}

std::string part_of(const Url& url, CURLUPart part, unsigned flags = 0) {
    char* text = nullptr;
    if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) {
        return {};
    }
    const std::unique_ptr<char, TextDeleter> held(text);
    return text;
}

Result<HttpOrigin> origin_in(const Url& url, const std::string& written) {
    if (!part_of(url, CURLUPART_USER).empty() || !part_of(url, CURLUPART_PASSWORD).empty()) {
        return Error(Errc::invalid,
                     "\"" + printable(written.substr(0, written.find(':')), 20) +
                         "://…\": a user name or password does not belong in an address");
    }
    return HttpOrigin::parse(part_of(url, CURLUPART_SCHEME) + "://" + part_of(url, CURLUPART_HOST) +
                             ":" + part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT));
}

bool is_redirect(long status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return out;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.back() == '\r' || text.back() == '\n' || text.back() == ' ')) {
        text.remove_suffix(1);
    }
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    return text;
}

/// What a failed transfer is to its caller.
Errc class_of(CURLcode code, bool has_head) {
    switch (static_cast<int>(code)) {
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_CONNECT:
            return Errc::unavailable;
        case CURLE_OPERATION_TIMEDOUT:
            return has_head ? Errc::lost_connection : Errc::unavailable;
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_INVALIDCERTSTATUS:
            return Errc::refused;
        case CURLE_OUT_OF_MEMORY:
            return Errc::full;
        default:
            return Errc::lost_connection;
    }
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* transfer) noexcept {
    return static_cast<HttpTransfer*>(transfer)->take_header({data, size * count});
}
std::size_t on_body(char* data, std::size_t size, std::size_t count, void* transfer) noexcept {
    return static_cast<HttpTransfer*>(transfer)->take_body({data, size * count});
}
std::size_t on_upload(char* into, std::size_t size, std::size_t count, void* transfer) noexcept {
    return static_cast<HttpTransfer*>(transfer)->give_upload(into, size * count);
}
curl_socket_t on_open_socket(void* transfer, curlsocktype, curl_sockaddr* address) noexcept {
    return static_cast<HttpTransfer*>(transfer)->open_socket(*address);
}

}  // namespace

std::size_t HttpTransfer::take_header(std::string_view line) {
    last_byte = std::chrono::steady_clock::now();
    head_bytes += line.size();
    if (head_bytes > kMaxHeadBytes || ++head_lines > kMaxHeadLines) {
        failure = error(Errc::full,
                        "the head of its answer is over " + std::to_string(kMaxHeadBytes) +
                            " bytes or " + std::to_string(kMaxHeadLines) + " lines");
        return CURL_WRITEFUNC_ERROR;
    }
    if (head_whole) {
        return line.size();  // what follows a body is of no use to anybody
    }
    if (line.starts_with("HTTP/")) {
        head.headers.clear();
        return line.size();
    }
    const std::string_view text = trimmed(line);
    if (text.empty()) {
        finish_head();
        return line.size();
    }
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return line.size();
    }
    std::string name = lower(trimmed(text.substr(0, colon)));
    const std::string value(trimmed(text.substr(colon + 1)));
    const bool tells_secret = std::any_of(
        request.approved.begin(), request.approved.end(), [&](const HttpDestination& other) {
            return !other.secret.empty() && value.find(other.secret) != std::string::npos;
        });
    if (name != "set-cookie" && name != "set-cookie2" && !tells_secret) {
        head.headers.emplace_back(printable(name, 256), printable(value, kMaxHeadBytes));
    }
    return line.size();
}

void HttpTransfer::finish_head() {
    long status = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status < 200) {  // an interim answer; the real one follows
        head.headers.clear();
        return;
    }
    head_whole = true;
    char* next = nullptr;
    curl_easy_getinfo(easy.get(), CURLINFO_REDIRECT_URL, &next);
    const bool has_location =
        std::any_of(head.headers.begin(), head.headers.end(), [](const auto& header) {
            return header.first == "location";
        });
    if (is_redirect(status) && has_location) {
        redirects = true;
        return;
    }
    head.status = static_cast<int>(status);
    head.url = url;
    flow->set_head(head);
}

std::size_t HttpTransfer::take_body(std::string_view bytes) {
    last_byte = std::chrono::steady_clock::now();
    if (redirects) {
        return bytes.size();
    }
    body_bytes += bytes.size();
    if (body_bytes > request.max_bytes) {
        failure =
            error(Errc::full, "its answer is over " + std::to_string(request.max_bytes) + " bytes");
        return CURL_WRITEFUNC_ERROR;
    }
    receive_paused = flow->add_body(bytes);
    return bytes.size();
}

std::size_t HttpTransfer::give_upload(char* into, std::size_t room) {
    const auto bytes = flow->next_upload(room);
    if (!bytes) {
        upload_paused = true;
        return CURL_READFUNC_PAUSE;
    }
    last_byte = std::chrono::steady_clock::now();
    std::copy(bytes->begin(), bytes->end(), into);
    return bytes->size();
}

curl_socket_t HttpTransfer::open_socket(const curl_sockaddr& address) {
    sockaddr_storage storage{};
    std::copy_n(reinterpret_cast<const char*>(&address.addr),
                std::min<std::size_t>(address.addrlen, sizeof storage),
                reinterpret_cast<char*>(&storage));
    const std::string why = why_no_connection(
        to->origin, to->private_network, reinterpret_cast<const sockaddr&>(storage));
    if (!why.empty()) {
        address_refused = error(Errc::refused, why);
        return CURL_SOCKET_BAD;
    }
    return ::socket(address.family, address.socktype | SOCK_CLOEXEC, address.protocol);
}

void HttpTransfer::set_upload() {
    CURL* handle = easy.get();
    if (method == "GET" || method == "DELETE") {
        curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method.c_str());
        return;
    }
    if (method == "HEAD") {
        curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
        return;
    }
    curl_off_t bytes = -1;
    if (!request.body_follows) {
        bytes = static_cast<curl_off_t>(request.body.size());
    } else if (request.body_bytes) {
        bytes = static_cast<curl_off_t>(*request.body_bytes);
    }
    curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method.c_str());
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, &on_upload);
    curl_easy_setopt(handle, CURLOPT_READDATA, this);
    curl_easy_setopt(handle, CURLOPT_INFILESIZE_LARGE, bytes);
}

void HttpTransfer::set_options(const std::filesystem::path& authorities) {
    const long http_version = CURL_HTTP_VERSION_1_1;
    const long least_tls = CURL_SSLVERSION_TLSv1_2;
    CURL* handle = easy.get();
    curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
    curl_easy_setopt(handle, CURLOPT_PRIVATE, this);
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, reason.data());
    curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);  // never wait for a resolver that is stuck
    curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(handle, CURLOPT_PROXY, "");
    curl_easy_setopt(handle, CURLOPT_HTTP_VERSION, http_version);
    curl_easy_setopt(handle, CURLOPT_HTTP09_ALLOWED, 0L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(handle, CURLOPT_SSLVERSION, least_tls);
    if (!authorities.empty()) {
        curl_easy_setopt(handle, CURLOPT_CAINFO, authorities.c_str());
    }
    curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, request.connect.count());
    curl_easy_setopt(handle, CURLOPT_USERAGENT, "daybook/" DAYBOOK_VERSION_STRING);
    if (request.compressed) {
        curl_easy_setopt(handle, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
    }
    // A connection to a private address is never found by a request that may not go to one.
    if (to->private_network) {
        curl_easy_setopt(handle, CURLOPT_FORBID_REUSE, 1L);
    }
    curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &on_header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &on_body);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, &on_open_socket);
    curl_easy_setopt(handle, CURLOPT_OPENSOCKETDATA, this);
    set_upload();
}

Result<> HttpTransfer::prepare(const std::filesystem::path& authorities) {
    easy.reset(curl_easy_init());
    if (!easy) {
        return error(Errc::full, "no memory for the request");
    }
    curl_slist* lines = nullptr;
    const auto add = [&](const std::string& line) {
        if (curl_slist* longer = curl_slist_append(lines, line.c_str())) {
            lines = longer;
        }
    };
    for (const auto& [name, value] : request.headers) {
        add(value.empty() ? name + ";" : name + ": " + value);
    }
    add("Expect:");
    if (!to->secret.empty()) {
        add(to->secret_header + ": " + to->secret_prefix + to->secret);
    }
    headers.reset(lines);
    head = {};
    head_bytes = head_lines = 0;
    head_whole = upload_paused = receive_paused = false;
    failure.reset();
    address_refused.reset();
    set_options(authorities);
    return {};
}

Result<> HttpTransfer::redirect() {
    redirects = false;
    char* text = nullptr;
    long status = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_REDIRECT_URL, &text);
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    const std::string next = text != nullptr ? text : "";
    if (++hops > HttpClient::kMaxRedirects) {
        return error(
            Errc::refused,
            "it redirects more than " + std::to_string(HttpClient::kMaxRedirects) + " times");
    }
    const auto origin = origin_of(next);
    const auto& approved = request.approved;
    const auto found =
        origin ? std::find_if(approved.begin(),
                              approved.end(),
                              [&](const auto& other) { return other.origin == *origin; })
               : approved.end();
    if (found == approved.end()) {
        return error(Errc::refused,
                     "it redirects to " +
                         (origin ? origin->str() : "\"" + printable(next, 120) + "\"") +
                         ", which is not an approved origin");
    }
    const bool becomes_get = status == 303 ? method != "HEAD" : status <= 302 && method == "POST";
    if (becomes_get) {
        method = "GET";
    } else if (!flow->rewind_upload()) {
        return error(Errc::refused,
                     "it redirects a body that was streamed and cannot be sent again");
    }
    to = &*found;
    url = next;
    return {};
}

std::optional<Error> HttpTransfer::outcome(CURLcode code) const {
    if (failure) {
        return failure;
    }
    if (code == CURLE_OK && head_whole) {
        return std::nullopt;
    }
    if (address_refused && !head_whole) {
        return address_refused;
    }
    const bool tells = reason.front() != '\0';
    const std::string why = printable(tells ? reason.data() : curl_easy_strerror(code), 300);
    return error(class_of(code, head_whole), why);
}

Result<HttpOrigin> origin_of(const std::string& url) {
    auto parsed = parse_url(url);
    return parsed ? origin_in(*parsed, url) : Result<HttpOrigin>(parsed.error());
}

}  // namespace daybook
