// Origins as the owner writes them, and the addresses that they may stand for.
#include "host/os/http_origin.hpp"

#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <netinet/in.h>
#include <string>
#include <utility>

#include "host/os/http_client.hpp"
#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;

namespace {

struct Address {
    sockaddr_storage bytes{};
    explicit Address(const std::string& text) {
        sockaddr_in v4{};
        sockaddr_in6 v6{};
        if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
            v4.sin_family = AF_INET;
            std::memcpy(&bytes, &v4, sizeof v4);
        } else {
            REQUIRE(::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1);
            v6.sin6_family = AF_INET6;
            std::memcpy(&bytes, &v6, sizeof v6);
        }
    }
    [[nodiscard]] const sockaddr& get() const { return reinterpret_cast<const sockaddr&>(bytes); }
};

bool may_connect(const std::string& origin, bool private_network, const std::string& address) {
    return why_no_connection(
               must(HttpOrigin::parse(origin)), private_network, Address(address).get())
        .empty();
}

}  // namespace

TEST_CASE("an origin is read part by part and told in its shortest form", "[os]") {
    CHECK(must(HttpOrigin::parse("https://API.Example.com/v1?x#y")).str() ==
          "https://api.example.com");
    CHECK(must(HttpOrigin::parse("https://api.example.com:443")).str() ==
          "https://api.example.com");
    CHECK(must(HttpOrigin::parse("http://127.0.0.1:8080/")).str() == "http://127.0.0.1:8080");
    CHECK(must(HttpOrigin::parse("http://[::1]:8080")).str() == "http://[::1]:8080");
    CHECK(must(HttpOrigin::parse("http://gpu-box")).port == 80);
}

TEST_CASE("what is no plain origin is refused", "[os]") {
    for (const char* text : {"",
                             "api.example.com",
                             "ftp://x",
                             "file:///etc/passwd",
                             "https://",
                             "https://user@x",
                             "https://user:pass@x",
                             "https://good.example\\@evil.example",
                             "https://x:",
                             "https://x:0",
                             "https://x:65536",
                             "https://x:8a",
                             "https://x..y",
                             "https://x.",
                             "https://x%2e",
                             "https://b\xc3\xbc"
                             "cher.example",
                             "https://[::1",
                             "https://[zz]",
                             "https://[::1]x"}) {
        INFO(text);
        CHECK_FALSE(HttpOrigin::parse(text));
    }
}

TEST_CASE("a request's origin is what would be connected to", "[os]") {
    CHECK(must(origin_of("https://a.example/x@b.example")).host == "a.example");
    CHECK(must(origin_of("http://2130706433/")).host == "127.0.0.1");
    CHECK_FALSE(origin_of("https://user:secret@a.example/"));
    CHECK_FALSE(origin_of("gopher://a.example/"));
    const auto error = origin_of("https://user:secret@a.example/").error();
    CHECK(error.message().find("secret") == std::string::npos);
}

TEST_CASE("S01: a name may not be pointed at this machine or its network", "[os]") {
    CHECK(may_connect("https://api.example.com", false, "93.184.216.34"));
    CHECK(may_connect("https://api.example.com", false, "2606:2800:220:1::1"));
    for (const char* address : {"127.0.0.1",
                                "127.9.9.9",
                                "::1",
                                "::ffff:127.0.0.1",
                                "0.0.0.0",
                                "::",
                                "169.254.169.254",
                                "::ffff:169.254.169.254",
                                "64:ff9b::a9fe:a9fe",
                                "2002:7f00:1::",
                                "fe80::1",
                                "224.0.0.1",
                                "255.255.255.255",
                                "ff02::1"}) {
        INFO(address);
        CHECK_FALSE(may_connect("https://api.example.com", false, address));
        CHECK_FALSE(may_connect("https://api.example.com", true, address));
    }
    for (const char* address :
         {"10.1.2.3", "172.31.0.1", "192.168.1.5", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1"}) {
        INFO(address);
        CHECK_FALSE(may_connect("https://api.example.com", false, address));
        CHECK(may_connect("https://gpu-box", true, address));
    }
}

TEST_CASE("an address that the owner wrote is that address", "[os]") {
    CHECK(may_connect("http://127.0.0.1:8080", false, "127.0.0.1"));
    CHECK(may_connect("http://[::1]:8080", false, "::1"));
    CHECK(may_connect("http://192.168.1.5", false, "192.168.1.5"));
    CHECK(may_connect("http://localhost:11434", false, "127.0.0.1"));
    CHECK_FALSE(may_connect("http://localhost:11434", false, "93.184.216.34"));
    CHECK(must(HttpOrigin::parse("http://localhost")).names_loopback());
    CHECK(must(HttpOrigin::parse("http://127.8.8.8")).names_loopback());
    CHECK_FALSE(must(HttpOrigin::parse("http://localhost.example.com")).names_loopback());
}
