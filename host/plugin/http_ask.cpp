#include "host/plugin/http_ask.hpp"

#include <algorithm>
#include <array>

#include "host/format/json.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxHeaders = 64;
constexpr std::size_t kMaxHeaderBytes = 16UL * 1024;
constexpr std::int64_t kMaxMilliseconds = 3'600'000;
constexpr std::int64_t kMaxAnswer = 256LL << 20;
constexpr std::int64_t kMaxUpload = 1LL << 30;

/// Headers that the host alone sets: where the request goes, who asks, and how it is framed.
constexpr std::array<std::string_view, 18> kHostsOwn{"accept-encoding",
                                                     "authorization",
                                                     "api-key",
                                                     "connection",
                                                     "content-length",
                                                     "cookie",
                                                     "expect",
                                                     "forwarded",
                                                     "host",
                                                     "keep-alive",
                                                     "te",
                                                     "trailer",
                                                     "transfer-encoding",
                                                     "upgrade",
                                                     "user-agent",
                                                     "via",
                                                     "x-api-key",
                                                     "x-goog-api-key"};
constexpr std::array<std::string_view, 11> kMembers{"method",
                                                    "url",
                                                    "headers",
                                                    "connect_ms",
                                                    "first_byte_ms",
                                                    "idle_ms",
                                                    "max_bytes",
                                                    "compressed",
                                                    "body_follows",
                                                    "body_bytes",
                                                    "credential_header"};

Error invalid(const std::string& what) {
    return Error(Errc::invalid, "http request: " + what);
}

bool is_token(std::string_view text) {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return !text.empty() && text.size() <= 128 &&
           std::all_of(text.begin(), text.end(), [&](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      kMarks.find(c) != std::string_view::npos;
           });
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return out;
}

Result<> read_headers(const Json& headers, HttpRequest& request) {
    if (!headers.is_null() && !headers.is_object()) {
        return invalid("headers: wanted an object of texts");
    }
    for (const auto& [name, value] : headers.members()) {
        if (!is_token(name) || !value.is_string()) {
            return invalid("header \"" + printable(name, 60) + "\": wanted a name and a text");
        }
        const std::string lowered = lower(name);
        if (lowered.starts_with("proxy-") ||
            std::find(kHostsOwn.begin(), kHostsOwn.end(), lowered) != kHostsOwn.end()) {
            return Error(Errc::refused,
                         "http request: header " + lowered + " is the host's to set; leave it out");
        }
        const std::string& text = value.as_string();
        const bool is_line = std::none_of(text.begin(), text.end(), [](char c) {
            return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
        });
        if (!is_line || text.size() > kMaxHeaderBytes) {
            return invalid("header " + lowered + ": wanted one line of at most " +
                           std::to_string(kMaxHeaderBytes) + " bytes");
        }
        if (request.headers.size() >= kMaxHeaders) {
            return invalid("more than " + std::to_string(kMaxHeaders) + " headers");
        }
        request.headers.emplace_back(name, text);
    }
    return {};
}

/// A whole number from `low` to `high`, or `value` when the member is not there.
Result<std::int64_t> number_of(
    const Json& json, const char* member, std::int64_t low, std::int64_t high, std::int64_t value) {
    if (json[member].is_null()) {
        return value;
    }
    const std::int64_t number = json[member].as_integer(low - 1);
    if (number < low || number > high) {
        return invalid(std::string(member) + ": wanted a number from " + std::to_string(low) +
                       " to " + std::to_string(high));
    }
    return number;
}

Result<> read_bounds(const Json& json, HttpRequest& request) {
    for (const auto& [member, time] :
         std::initializer_list<std::pair<const char*, std::chrono::milliseconds*>>{
             {"connect_ms", &request.connect},
             {"first_byte_ms", &request.first_byte},
             {"idle_ms", &request.idle}}) {
        auto number = number_of(json, member, 1, kMaxMilliseconds, time->count());
        if (!number) {
            return number.error();
        }
        *time = std::chrono::milliseconds(*number);
    }
    auto answer =
        number_of(json, "max_bytes", 1, kMaxAnswer, static_cast<std::int64_t>(request.max_bytes));
    auto upload = number_of(json, "body_bytes", 0, kMaxUpload, -1);
    if (!answer || !upload) {
        return !answer ? answer.error() : upload.error();
    }
    request.max_bytes = static_cast<std::uint64_t>(*answer);
    if (*upload >= 0) {
        request.body_bytes = static_cast<std::uint64_t>(*upload);
    }
    for (const auto& [member, flag] : std::initializer_list<std::pair<const char*, bool*>>{
             {"compressed", &request.compressed}, {"body_follows", &request.body_follows}}) {
        const Json& value = json[member];
        if (!value.is_null() && value.kind() != Json::Kind::boolean) {
            return invalid(std::string(member) + ": wanted true or false");
        }
        *flag = !value.is_null() && value.as_bool();
    }
    return {};
}

/// Where the key of that origin goes: as the owner says, else as the plugin asks.
Result<HttpDestination> destination_of(const OriginConfig& origin,
                                       const std::string& asked,
                                       const CredentialReader& credential) {
    auto parsed = HttpOrigin::parse(origin.url);
    if (!parsed) {
        return parsed.error();
    }
    HttpDestination to{*parsed, origin.private_network, "", "", ""};
    if (origin.credential.empty()) {
        return to;
    }
    auto secret = credential(origin.credential);
    if (!secret) {
        return secret.error();
    }
    to.secret = *std::move(secret);
    to.secret_header = !origin.credential_header.empty() ? origin.credential_header : asked;
    to.secret_prefix = to.secret_header == "authorization" ? "Bearer " : "";
    return to;
}

}  // namespace

Result<HttpRequest> read_http_ask(std::string_view request_json,
                                  const std::string& body,
                                  const std::vector<OriginConfig>& origins,
                                  const CredentialReader& credential) {
    const auto json = Json::parse(request_json);
    if (!json || !json->is_object()) {
        return invalid("wanted a JSON object" + (json ? "" : ": " + json.error().message()));
    }
    for (const auto& [name, value] : json->members()) {
        if (std::find(kMembers.begin(), kMembers.end(), name) == kMembers.end()) {
            return invalid("there is no member \"" + printable(name, 60) + "\"");
        }
    }
    if (!(*json)["url"].is_string()) {
        return invalid("url: wanted a text");
    }
    HttpRequest request;
    request.url = (*json)["url"].as_string();
    request.method = (*json)["method"].is_null() ? "GET" : (*json)["method"].as_string();
    request.body = body;
    if (auto headers = read_headers((*json)["headers"], request); !headers) {
        return headers.error();
    }
    if (auto bounds = read_bounds(*json, request); !bounds) {
        return bounds.error();
    }
    const Json& header = (*json)["credential_header"];
    const std::string asked = header.is_null() ? "authorization" : lower(header.as_string());
    if (std::find(kCredentialHeaders.begin(), kCredentialHeaders.end(), asked) ==
        kCredentialHeaders.end()) {
        return invalid(
            "credential_header: wanted authorization, x-api-key, api-key or "
            "x-goog-api-key");
    }
    for (const OriginConfig& origin : origins) {
        auto to = destination_of(origin, asked, credential);
        if (!to) {
            return to.error();
        }
        request.approved.push_back(std::move(*to));
    }
    return request;
}

std::string head_json(const HttpHead& head) {
    Json headers = Json::object();
    for (const auto& [name, value] : head.headers) {
        const Json& before = headers[name];
        headers.set(name, before.is_null() ? value : before.as_string() + ", " + value);
    }
    return Json::object()
        .set("status", head.status)
        .set("url", head.url)
        .set("headers", std::move(headers))
        .dump();
}

}  // namespace daybook
