// Where a request may go, what it may carry, and how a server that misbehaves is told.
#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <vector>
#include <zlib.h>

#include "tests/os/http_bench.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using namespace daybook::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

std::string gzip(const std::string& text) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(compressBound(text.size()) + 64, '\0');
    std::vector<Bytef> in(text.begin(), text.end());
    stream.next_in = in.data();
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

Error error_of(HttpBench& bench, HttpRequest request) {
    auto fetch = bench.start(std::move(request));
    if (!fetch) {
        return fetch.error();
    }
    const auto body = fetch->body();
    return body ? Error(Errc::ok, "no error") : body.error();
}

}  // namespace

TEST_CASE("an origin that is not approved is not reached", "[os]") {
    HttpServer server([](HttpPeer& peer) { peer.answer("200 OK", "", "x"); });
    HttpBench bench;
    auto request = HttpBench::request("https://api.example.com/");
    request.url = server.origin();
    const Error error = error_of(bench, request);
    CHECK(error.code() == Errc::refused);
    CHECK_THAT(error.message(), Contains(server.origin() + " is not an approved origin"));
    request.approved.clear();
    CHECK_THAT(error_of(bench, request).message(), Contains("approved: none"));
    CHECK(server.heads().empty());
}

TEST_CASE("plain http leaves this machine only on the owner's word", "[os]") {
    HttpBench bench;
    const Error error = error_of(bench, HttpBench::request("http://192.0.2.1:8080/"));
    CHECK(error.code() == Errc::refused);
    CHECK_THAT(error.message(), Contains("plain http goes to this machine only"));
}

TEST_CASE("S01: an approved name that resolves to this machine is refused", "[os]") {
    // ip6-localhost and the host's own name stand for loopback in most /etc/hosts; a name that does
    // not resolve here at all is unavailable, which is no connection either.
    HttpServer server([](HttpPeer& peer) { peer.answer("200 OK", "", "x"); });
    std::array<char, 256> name{};
    REQUIRE(::gethostname(name.data(), name.size() - 1) == 0);
    HttpBench bench;
    for (const std::string& host : {std::string(name.data()), std::string("ip6-localhost")}) {
        auto request =
            HttpBench::request("http://" + host + ":" + std::to_string(server.port()) + "/");
        request.approved.front().private_network = true;
        const Error error = error_of(bench, request);
        INFO(error.message());
        CHECK((error.code() == Errc::refused || error.code() == Errc::unavailable));
    }
    CHECK(server.heads().empty());
}

TEST_CASE("a redirect is followed to approved origins, each with its own secret", "[os]") {
    HttpServer second([](HttpPeer& peer) { peer.answer("200 OK", "", "arrived " + peer.body); });
    HttpServer first([&](HttpPeer& peer) {
        peer.answer(peer.asks_for("/again") ? "307 Temporary Redirect" : "302 Found",
                    "Location: " + second.origin() + "/there\r\n",
                    "moved");
    });
    HttpBench bench;
    auto request = HttpBench::request(first.origin());
    request.method = "POST";
    request.body = "text";
    request.approved.front().secret_header = "authorization";
    request.approved.front().secret_prefix = "Bearer ";
    request.approved.front().secret = "key-one-123";

    const Error refused = error_of(bench, request);
    CHECK(refused.code() == Errc::refused);
    CHECK_THAT(refused.message(), Contains("redirects to " + second.origin()));
    CHECK(second.heads().empty());

    request.approved.push_back(
        {must(origin_of(second.origin())), false, "x-api-key", "", "key-two-456"});
    Fetch fetch = must(bench.start(request));
    CHECK(must(fetch.head()).url == second.origin() + "/there");
    CHECK(must(fetch.body()) == "arrived ");  // 302 makes a GET of a POST
    CHECK_THAT(first.heads().back(), Contains("authorization: Bearer key-one-123"));
    CHECK_THAT(second.heads().back(), Contains("GET /there"));
    CHECK_THAT(second.heads().back(), Contains("x-api-key: key-two-456"));
    CHECK_THAT(second.heads().back(), !Contains("key-one"));

    request.url = first.origin() + "/again";
    CHECK(must(must(bench.start(request)).body()) == "arrived text");
}

TEST_CASE("a redirect loop ends", "[os]") {
    HttpServer server(
        [](HttpPeer& peer) { peer.answer("302 Found", "Location: /round\r\n", "x"); });
    HttpBench bench;
    const Error error = error_of(bench, HttpBench::request(server.origin()));
    CHECK(error.code() == Errc::refused);
    CHECK_THAT(error.message(), Contains("redirects more than 5 times"));
    CHECK(server.heads().size() == 6);
}

TEST_CASE("a secret that a server says back is taken out, also across a cut", "[os]") {
    const std::string secret = "sk-abcabcd-1";
    HttpServer server([&](HttpPeer& peer) {
        peer.begin_chunks("X-Key: Bearer " + secret + "\r\n");
        peer.chunk("you sent sk-abcsk-abcab");
        peer.rest(5ms);
        peer.chunk("cd-1 and sk-abcabcd-1, sk-abc");
        peer.end_chunks();
    });
    HttpBench bench;
    auto request = HttpBench::request(server.origin());
    request.approved.front().secret_header = "authorization";
    request.approved.front().secret = secret;
    Fetch fetch = must(bench.start(std::move(request)));
    CHECK(header(must(fetch.head()), "x-key").empty());
    CHECK(must(fetch.body()) == "you sent sk-abc*** and ***, sk-abc");
}

TEST_CASE("each way of a server to fail is told in its class", "[os]") {
    HttpServer server([](HttpPeer& peer) {
        if (peer.asks_for("/silent")) {
            peer.wait_for_close();
        } else if (peer.asks_for("/stall")) {
            peer.begin_chunks();
            peer.chunk("half");
            peer.wait_for_close();
        } else if (peer.asks_for("/cut")) {
            peer.begin_chunks();
            peer.send("40\r\nnot as much as");
            peer.head += "close-after";
        } else if (peer.asks_for("/drip-head")) {
            peer.send("HTTP/1.1 200 OK\r\n");
            while (peer.send("X") && !peer.stopping()) {
                peer.rest(5ms);
            }
        } else if (peer.asks_for("/head-flood")) {
            peer.send("HTTP/1.1 200 OK\r\n");
            for (int i = 0; i < 5000 && peer.send("X-" + std::to_string(i) + ": y\r\n"); ++i) {
            }
            peer.wait_for_close();
        } else if (peer.asks_for("/garbage")) {
            peer.send("220 smtp.example ESMTP\r\n");
            peer.head += "close-after";
        } else if (peer.asks_for("/flood")) {
            peer.begin_chunks();
            const std::string piece(64UL * 1024, 'x');
            for (int i = 0; i < 16384 && peer.chunk(piece); ++i) {
            }
        }
    });
    HttpBench bench;
    const auto ask = [&](const std::string& path) {
        auto request = HttpBench::request(server.origin() + path);
        request.first_byte = 150ms;
        request.idle = 150ms;
        request.max_bytes = 4UL << 20U;
        return error_of(bench, std::move(request));
    };
    const std::vector<std::array<std::string, 3>> cases{
        {"/silent", "no_answer", "no answer within 150 ms"},
        {"/drip-head", "no_answer", "no answer within"},
        {"/stall", "lost_connection", "fell silent in the middle"},
        {"/cut", "lost_connection", ""},
        {"/garbage", "lost_connection", ""},
        {"/head-flood", "full", "the head of its answer"},
        {"/flood", "full", "over 4194304 bytes"}};
    for (const auto& [path, code, text] : cases) {
        const Error error = ask(path);
        INFO(path << ": " << error.message());
        CHECK(name_of(error.code()) == code);
        CHECK_THAT(error.message(), Contains(text));
        CHECK_THAT(error.message(), Contains("GET " + server.origin()));
    }
    auto late = HttpBench::request(server.origin() + "/stall");
    late.deadline = std::chrono::steady_clock::now() + 100ms;
    CHECK(error_of(bench, std::move(late)).code() == Errc::deadline);
    const int port = server.port();
    auto closed = HttpBench::request("http://127.0.0.1:1/");
    CHECK(error_of(bench, std::move(closed)).code() == Errc::unavailable);
    auto no_tls = HttpBench::request("https://127.0.0.1:" + std::to_string(port) + "/garbage");
    no_tls.connect = 200ms;
    CHECK(error_of(bench, std::move(no_tls)).code() == Errc::unavailable);
}

TEST_CASE("a small answer that decodes to a large one is cut at the bound", "[os]") {
    const std::string bomb = gzip(std::string(20UL << 20U, 'a'));
    REQUIRE(bomb.size() < 100'000);
    HttpServer server([&](HttpPeer& peer) {
        peer.answer(
            "200 OK", "Content-Encoding: gzip\r\n", peer.asks_for("/small") ? gzip("hello") : bomb);
    });
    HttpBench bench;
    auto request = HttpBench::request(server.origin());
    request.compressed = true;
    request.max_bytes = 1UL << 20U;
    CHECK(error_of(bench, request).code() == Errc::full);
    request.url += "/small";
    CHECK(must(must(bench.start(request)).body()) == "hello");
}

TEST_CASE("the environment's proxy does not count", "[os]") {
    HttpServer server([](HttpPeer& peer) { peer.answer("200 OK", "", "direct"); });
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    ::setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    HttpBench bench;
    CHECK(must(must(bench.start(HttpBench::request(server.origin()))).body()) == "direct");
    ::unsetenv("http_proxy");
    ::unsetenv("ALL_PROXY");
}

TEST_CASE("a certificate is accepted from a known authority and for its own name only", "[os]") {
    TempFolder folder;
    const std::string make = "cd '" + folder.path().string() +
                             "' && openssl req -x509 -newkey ec -pkeyopt "
                             "ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem "
                             "-days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost "
                             ">/dev/null 2>&1";
    if (std::system(make.c_str()) != 0) {
        WARN("skipped: no openssl program to make a certificate with");
        return;
    }
    int port = 0;
    {
        HttpServer free_port([](HttpPeer&) {});
        port = free_port.port();
    }
    const std::string key = (folder / "key.pem").string();
    const std::string certificate = (folder / "cert.pem").string();
    const std::string at = std::to_string(port);
    const pid_t server = ::fork();
    if (server == 0) {
        ::close(1);
        ::close(2);
        ::execlp("openssl",
                 "openssl",
                 "s_server",
                 "-quiet",
                 "-accept",
                 at.c_str(),
                 "-key",
                 key.c_str(),
                 "-cert",
                 certificate.c_str(),
                 "-www",
                 nullptr);
        ::_exit(1);
    }
    const std::string url = "https://localhost:" + at + "/";
    HttpBench strict;
    HttpBench trusting(folder / "cert.pem");
    Error answer(Errc::unavailable, "not started");
    for (int i = 0; i < 200 && answer.code() == Errc::unavailable; ++i) {
        std::this_thread::sleep_for(20ms);
        answer = error_of(trusting, HttpBench::request(url));
    }
    CHECK(answer.code() == Errc::ok);
    const Error unknown = error_of(strict, HttpBench::request(url));
    INFO(unknown.message());
    CHECK(unknown.code() == Errc::refused);
    CHECK(error_of(trusting, HttpBench::request("https://127.0.0.1:" + at + "/")).code() ==
          Errc::refused);
    ::kill(server, SIGKILL);
    ::waitpid(server, nullptr, 0);
}
