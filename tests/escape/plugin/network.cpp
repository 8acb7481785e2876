// The network, and sockets of the machine.
#include <algorithm>
#include <array>
#include <cstdint>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

constexpr int kMptcp = 262;

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

const sockaddr* generic(const void* address) {
    return static_cast<const sockaddr*>(address);
}

/// Runs `act` with a new socket, which stays open.
template <class Act>
Outcome with_socket(int family, int type, int protocol, const Act& act) {
    const int fd = ::socket(family, type, protocol);
    return fd < 0 ? Outcome{errno, {}} : act(fd);
}

Outcome connect_inet(const Target& target, int protocol) {
    return with_socket(AF_INET, SOCK_STREAM, protocol, [&](int fd) {
        const sockaddr_in address = loopback(target.port);
        return tried(::connect(fd, generic(&address), sizeof address));
    });
}

/// `name` begins with a zero byte for an abstract socket.
Outcome connect_unix(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::copy_n(name.data(), std::min(name.size(), sizeof address.sun_path - 1), address.sun_path);
    return with_socket(AF_UNIX, SOCK_STREAM, 0, [&](int fd) {
        return tried(
            ::connect(fd,
                      generic(&address),
                      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())));
    });
}

Outcome send_datagram(const Target& target) {
    return with_socket(AF_INET, SOCK_DGRAM, 0, [&](int fd) {
        const sockaddr_in address = loopback(target.port);
        return tried(::sendto(fd, "hostile", 7, 0, generic(&address), sizeof address));
    });
}

Outcome fast_open(const Target& target) {
    return with_socket(AF_INET, SOCK_STREAM, 0, [&](int fd) {
        const sockaddr_in address = loopback(target.port);
        return tried(::sendto(fd, "hostile", 7, MSG_FASTOPEN, generic(&address), sizeof address));
    });
}

/// Hands the host descriptors over the channel, as if it had asked for them.
Outcome pass_descriptors(const Target&) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) {
        return {errno, {}};
    }
    std::array<char, 16> frame{};  // not a frame of the protocol either: the host ends the runner
    iovec bytes{frame.data(), frame.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::copy_n(reinterpret_cast<const char*>(pipe.data()),
                sizeof(int),
                reinterpret_cast<char*>(CMSG_DATA(header)));
    return tried(::sendmsg(3, &message, 0));
}

constexpr Attempt kAttempts[] = {
    {"n01_abstract_unix",
     "connect to an abstract unix socket of the host",
     [](const Target& t) {
         return connect_unix(std::string(1, '\0') + "daybook-escape-" + std::to_string(t.pid));
     }},
    {"n02_pathname_unix",
     "connect to a unix socket by its path",
     [](const Target& t) { return connect_unix(t.root + "/socket"); }},
    {"n03_tcp_connect", "connect over TCP", [](const Target& t) { return connect_inet(t, 0); }},
    {"n04_tcp_bind",
     "bind a TCP port",
     [](const Target&) {
         return with_socket(AF_INET, SOCK_STREAM, 0, [](int fd) {
             const sockaddr_in address = loopback(0);
             return tried(::bind(fd, generic(&address), sizeof address));
         });
     }},
    {"n05_udp_send", "send a UDP datagram", &send_datagram},
    {"n06_mptcp",
     "connect over MPTCP, past the TCP rules",
     [](const Target& t) { return connect_inet(t, kMptcp); }},
    {"n07_tcp_fast_open", "connect by sending with TCP Fast Open", &fast_open},
    {"n08_listen_autobind",
     "listen without binding",
     [](const Target&) {
         return with_socket(AF_INET, SOCK_STREAM, 0, [](int fd) { return tried(::listen(fd, 1)); });
     }},
    {"n09_netlink",
     "ask the kernel for the routes",
     [](const Target&) {
         return with_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, [](int) { return Outcome{}; });
     }},
    {"x85_socketpair",
     "make a socket pair",
     [](const Target&) {
         std::array<int, 2> pair{};
         return tried(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()));
     }},
    {"x86_listen_channel",
     "listen on the channel's descriptor",
     [](const Target&) { return tried(::listen(3, 1)); }},
    {"x87_connect_channel",
     "connect the channel's descriptor elsewhere",
     [](const Target& t) {
         sockaddr_un address{};
         address.sun_family = AF_UNIX;
         const std::string name = t.root + "/socket";
         std::copy_n(
             name.data(), std::min(name.size(), sizeof address.sun_path - 1), address.sun_path);
         return tried(::connect(3, generic(&address), sizeof address));
     }},
    {"x88_raw_socket",
     "open a raw socket",
     [](const Target&) {
         return with_socket(AF_PACKET, SOCK_RAW, 0, [](int) { return Outcome{}; });
     }},
    {"x89_pass_descriptor", "pass a descriptor to the host over the channel", &pass_descriptors},
};

}  // namespace

std::span<const Attempt> network_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
