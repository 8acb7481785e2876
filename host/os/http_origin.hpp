// Where an HTTP request may go: scheme, host and port, and which addresses a name may stand for.
//
// An origin is written by the owner. It is compared as text, part by part, after lower-casing; the
// address is looked at again when the connection is made, so that a name cannot be pointed at this
// machine afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

struct sockaddr;

namespace daybook {

struct HttpOrigin {
    std::string scheme;  ///< "http" or "https"
    std::string host;    ///< lower case; an IPv6 address without its brackets
    std::uint16_t port = 0;

    /// "https://api.example.com", "http://127.0.0.1:8080", with or without a path behind it.
    /// Errors: invalid (another scheme, a user name, an empty or odd host, port 0).
    static Result<HttpOrigin> parse(std::string_view url);
    /// "https://api.example.com", "http://[::1]:8080": the port only when it is not the scheme's.
    [[nodiscard]] std::string str() const;
    /// The host is written as an address, or as localhost.
    [[nodiscard]] bool names_loopback() const;
    [[nodiscard]] bool is_plain() const { return scheme == "http"; }

    friend bool operator==(const HttpOrigin&, const HttpOrigin&) = default;
};

enum class AddressKind {
    open,        ///< of the internet
    private_,    ///< 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7
    loopback,    ///< 127/8, ::1
    link_local,  ///< 169.254/16 (a cloud's metadata service), fe80::/10
    special,     ///< unspecified, multicast, reserved, not IP at all
};
/// IPv4 inside IPv6 (mapped, compatible, 6to4, NAT64) is judged as the IPv4 address.
[[nodiscard]] AddressKind kind_of(const sockaddr& address);

/// Whether a connection for that origin may go to the address; "" when it may, else why not.
/// A host that is itself an address goes to that address. A name may stand for an open address; for
/// a private one when the owner said `private_network`; `localhost` for a loopback one.
[[nodiscard]] std::string why_no_connection(const HttpOrigin& origin,
                                            bool private_network,
                                            const sockaddr& address);

}  // namespace daybook
