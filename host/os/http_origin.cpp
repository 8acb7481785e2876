#include "host/os/http_origin.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxHost = 253;
constexpr std::uint16_t kPlainPort = 80;
constexpr std::uint16_t kSecurePort = 443;

Error bad(std::string_view url, const std::string& why) {
    return Error(Errc::invalid, "\"" + printable(url, 120) + "\": " + why);
}

bool is_host_name(std::string_view host) {
    return !host.empty() && host.size() <= kMaxHost && host.front() != '.' && host.back() != '.' &&
           host.find("..") == std::string_view::npos &&
           std::all_of(host.begin(), host.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                      c == '_';
           });
}

using Bytes = std::array<std::uint8_t, 16>;

std::optional<Bytes> v6_of(std::string_view text) {
    Bytes bytes{};
    return ::inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) == 1
               ? std::optional(bytes)
               : std::nullopt;
}

std::optional<std::uint32_t> v4_of(std::string_view text) {
    in_addr address{};
    return ::inet_pton(AF_INET, std::string(text).c_str(), &address) == 1
               ? std::optional(ntohl(address.s_addr))
               : std::nullopt;
}

bool is_in(std::uint32_t address, std::uint32_t network, unsigned bits) {
    return bits == 0 || (address >> (32U - bits)) == (network >> (32U - bits));
}

AddressKind kind_of_v4(std::uint32_t address) {
    if (is_in(address, 0x7f000000U, 8)) {
        return AddressKind::loopback;
    }
    if (is_in(address, 0xa9fe0000U, 16)) {
        return AddressKind::link_local;
    }
    if (is_in(address, 0x0a000000U, 8) || is_in(address, 0xac100000U, 12) ||
        is_in(address, 0xc0a80000U, 16) || is_in(address, 0x64400000U, 10)) {
        return AddressKind::private_;
    }
    // This network, protocol assignments and documentation, benchmarks, multicast and reserved.
    const bool is_special = is_in(address, 0x00000000U, 8) || is_in(address, 0xc0000000U, 24) ||
                            is_in(address, 0xc6120000U, 15) || address >= 0xe0000000U;
    return is_special ? AddressKind::special : AddressKind::open;
}

std::uint32_t v4_at(const Bytes& bytes, std::size_t at) {
    return (std::uint32_t{bytes[at]} << 24U) | (std::uint32_t{bytes[at + 1]} << 16U) |
           (std::uint32_t{bytes[at + 2]} << 8U) | std::uint32_t{bytes[at + 3]};
}

AddressKind kind_of_v6(const Bytes& bytes) {
    const auto zeros = [&](std::size_t count) {
        return std::all_of(bytes.begin(),
                           bytes.begin() + static_cast<std::ptrdiff_t>(count),
                           [](std::uint8_t byte) { return byte == 0; });
    };
    if (zeros(15)) {
        return bytes[15] == 1 ? AddressKind::loopback : AddressKind::special;
    }
    if (zeros(10) && bytes[10] == 0xff && bytes[11] == 0xff) {
        return kind_of_v4(v4_at(bytes, 12));
    }
    if (zeros(12)) {
        return kind_of_v4(v4_at(bytes, 12));
    }
    if (bytes[0] == 0x20 && bytes[1] == 0x02) {  // 6to4
        return kind_of_v4(v4_at(bytes, 2));
    }
    if (bytes[0] == 0x00 && bytes[1] == 0x64 && bytes[2] == 0xff && bytes[3] == 0x9b) {  // NAT64
        return kind_of_v4(v4_at(bytes, 12));
    }
    if (bytes[0] == 0xfe && (bytes[1] & 0xc0U) == 0x80U) {
        return AddressKind::link_local;
    }
    if ((bytes[0] & 0xfeU) == 0xfcU || (bytes[0] == 0xfe && (bytes[1] & 0xc0U) == 0xc0U)) {
        return AddressKind::private_;
    }
    return (bytes[0] & 0xe0U) == 0x20U ? AddressKind::open : AddressKind::special;
}

std::string text_of(const sockaddr& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.sa_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address, sizeof v4);
        ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    } else if (address.sa_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, &address, sizeof v6);
        ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    }
    return text.data();
}

bool is_address(std::string_view host) {
    return v4_of(host).has_value() || v6_of(host).has_value();
}

bool is_localhost(std::string_view host) {
    return host == "localhost" || host.ends_with(".localhost");
}

Result<std::uint16_t> port_in(std::string_view url, std::string_view text, std::uint16_t usual) {
    if (text.empty()) {
        return usual;
    }
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size() || port == 0) {
        return bad(url, "a port is a number from 1 to 65535");
    }
    return port;
}

}  // namespace

Result<HttpOrigin> HttpOrigin::parse(std::string_view url) {
    HttpOrigin origin;
    const std::size_t colon = url.find("://");
    std::string lower(url.substr(0, std::min(url.size(), url.find_first_of("/?#", colon + 3))));
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    origin.scheme = colon == std::string_view::npos ? "" : lower.substr(0, colon);
    if (origin.scheme != "http" && origin.scheme != "https") {
        return bad(url, "expected http:// or https://");
    }
    std::string_view rest = std::string_view(lower).substr(colon + 3);
    if (rest.find('@') != std::string_view::npos) {
        return bad(url, "a user name or password does not belong in an address");
    }
    std::string_view port;
    if (rest.starts_with('[')) {
        const std::size_t end = rest.find(']');
        if (end == std::string_view::npos || !v6_of(rest.substr(1, end - 1))) {
            return bad(url, "expected an IPv6 address between the brackets");
        }
        origin.host = rest.substr(1, end - 1);
        port = rest.substr(end + 1);
        if (!port.empty() && port.front() != ':') {
            return bad(url, "expected a port behind the brackets");
        }
    } else {
        const std::size_t end = std::min(rest.size(), rest.find(':'));
        origin.host = rest.substr(0, end);
        port = rest.substr(end);
        if (!is_host_name(origin.host)) {
            return bad(url, "expected a host of letters, digits, '-' and '.'");
        }
    }
    if (port == ":") {
        return bad(url, "a port is a number from 1 to 65535");
    }
    auto number = port_in(url,
                          port.substr(std::min<std::size_t>(1, port.size())),
                          origin.is_plain() ? kPlainPort : kSecurePort);
    if (!number) {
        return number.error();
    }
    origin.port = *number;
    return origin;
}

std::string HttpOrigin::str() const {
    const std::string shown = host.find(':') == std::string::npos ? host : "[" + host + "]";
    const bool usual = port == (is_plain() ? kPlainPort : kSecurePort);
    return scheme + "://" + shown + (usual ? "" : ":" + std::to_string(port));
}

bool HttpOrigin::names_loopback() const {
    if (const auto v4 = v4_of(host)) {
        return kind_of_v4(*v4) == AddressKind::loopback;
    }
    if (const auto v6 = v6_of(host)) {
        return kind_of_v6(*v6) == AddressKind::loopback;
    }
    return is_localhost(host);
}

AddressKind kind_of(const sockaddr& address) {
    if (address.sa_family == AF_INET) {
        sockaddr_in v4{};
        std::memcpy(&v4, &address, sizeof v4);
        return kind_of_v4(ntohl(v4.sin_addr.s_addr));
    }
    if (address.sa_family == AF_INET6) {
        sockaddr_in6 v6{};
        std::memcpy(&v6, &address, sizeof v6);
        Bytes bytes{};
        std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
        return kind_of_v6(bytes);
    }
    return AddressKind::special;
}

std::string why_no_connection(const HttpOrigin& origin,
                              bool private_network,
                              const sockaddr& address) {
    const AddressKind kind = kind_of(address);
    const std::string where = origin.host + " stands for " + text_of(address) + ", ";
    if (is_address(origin.host)) {
        // The owner wrote this very address; the resolver can only have copied it.
        return kind == AddressKind::special ? where + "which no server has" : "";
    }
    if (is_localhost(origin.host)) {
        return kind == AddressKind::loopback ? "" : where + "which is not this machine";
    }
    switch (kind) {
        case AddressKind::open:
            return "";
        case AddressKind::private_:
            return private_network ? ""
                                   : where +
                                         "which is in a private network: say private_network = "
                                         "true beside the address if that is meant";
        case AddressKind::loopback:
            return where + "which is this machine: write the address itself if that is meant";
        case AddressKind::link_local:
            return where + "which is a link-local address";
        case AddressKind::special:
            break;
    }
    return where + "which no server has";
}

}  // namespace daybook
