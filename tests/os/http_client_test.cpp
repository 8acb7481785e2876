// The HTTP client against servers that behave and servers that do not.
#include "host/os/http_client.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "tests/os/http_bench.hpp"

using namespace daybook;
using namespace daybook::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

TEST_CASE("a request is answered: status, headers, body; cookies stay out", "[os]") {
    HttpServer server([](HttpPeer& peer) {
        peer.answer("429 Too Many Requests",
                    "Retry-After: 7\r\nSet-Cookie: id=1\r\nX-Odd: a b\r\n",
                    "slow down: " + peer.body);
    });
    HttpBench bench;
    auto request = HttpBench::request(server.origin() + "/v1?x=1");
    request.method = "POST";
    request.headers = {{"content-type", "application/json"}};
    request.body = R"({"a":1})";
    Fetch fetch = must(bench.start(std::move(request)));
    const HttpHead head = must(fetch.head());
    CHECK(head.status == 429);
    CHECK(header(head, "retry-after") == "7");
    CHECK(header(head, "x-odd") == "a b");
    CHECK(header(head, "set-cookie").empty());
    CHECK(must(fetch.body()) == R"(slow down: {"a":1})");
    const std::string asked = server.heads().front();
    CHECK_THAT(asked, Contains("POST /v1?x=1 HTTP/1.1"));
    CHECK_THAT(asked, Contains("content-type: application/json"));
    CHECK_THAT(asked, !Contains("Expect"));
    CHECK(bench.client.running() == 0);
}

TEST_CASE("an event stream arrives as it is sent, however it is cut", "[os]") {
    const std::vector<std::string> pieces{
        "da", "ta: {\"a\":\"\xe2", "\x82\xac\"}\r", "\n\r\nda", "ta: 2\n\n"};
    HttpServer* self = nullptr;
    HttpServer server([&](HttpPeer& peer) {
        peer.begin_chunks();
        for (const std::string& piece : pieces) {
            peer.chunk(piece);
            peer.rest(3ms);
        }
        self->mark();
        peer.rest(100ms);
        peer.end_chunks();
    });
    self = &server;
    HttpBench bench;
    Fetch fetch = must(bench.start(HttpBench::request(server.origin())));
    std::string expected;
    for (const std::string& piece : pieces) {
        expected += piece;
    }
    std::string all;
    while (all.size() < expected.size()) {
        all += must(fetch.next(3));  // before the stream has ended
    }
    CHECK(all == expected);
    CHECK(must(fetch.body()).empty());
}

TEST_CASE("a cancelled exchange closes its connection", "[os]") {
    HttpServer* self = nullptr;
    HttpServer server([&](HttpPeer& peer) {
        peer.begin_chunks();
        peer.chunk("data: 1\n\n");
        if (peer.wait_for_close()) {
            self->mark();
        }
    });
    self = &server;
    HttpBench bench;
    Fetch fetch = must(bench.start(HttpBench::request(server.origin())));
    CHECK(must(fetch.next()) == "data: 1\n\n");
    fetch.exchange->cancel();
    CHECK(server.wait_for_marks(1));
    CHECK(fetch.next().error().code() == Errc::cancelled);

    Fetch dropped = must(bench.start(HttpBench::request(server.origin())));
    must(dropped.head());
    dropped.exchange.reset();
    CHECK(server.wait_for_marks(2));
}

TEST_CASE("what the caller does not take is not read", "[os]") {
    std::atomic<std::size_t> sent{0};
    constexpr std::size_t kAll = 64UL << 20U;
    HttpServer server([&](HttpPeer& peer) {
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kAll) + "\r\n\r\n");
        const std::string piece(64UL * 1024, 'x');
        for (std::size_t i = 0; i < kAll / piece.size() && peer.send(piece); ++i) {
            sent = peer.sent();
        }
    });
    HttpBench bench;
    auto request = HttpBench::request(server.origin());
    request.idle = 200ms;  // does not run while the caller is the one who waits
    Fetch fetch = must(bench.start(std::move(request)));
    must(fetch.head());
    std::size_t before = 1;
    while (sent != before) {  // until the server is stuck
        before = sent;
        std::this_thread::sleep_for(400ms);
    }
    CHECK(sent < kAll / 2);
    CHECK(must(fetch.body()).size() == kAll);
}

TEST_CASE("a streamed body is sent as it is given", "[os]") {
    HttpServer server([](HttpPeer& peer) {
        std::string body = peer.take_pending();
        while (body.find("0\r\n\r\n") == std::string::npos) {
            const std::string more = peer.receive();
            if (more.empty()) {
                return;
            }
            body += more;
        }
        peer.answer("200 OK", "", body);
    });
    HttpBench bench;
    auto request = HttpBench::request(server.origin());
    request.method = "PUT";
    request.body = "abc";
    request.body_follows = true;
    Fetch fetch = must(bench.start(std::move(request)));
    REQUIRE(fetch.give("defg", false));
    REQUIRE(fetch.give(std::string(300'000, 'z'), false));
    REQUIRE(fetch.give("", true));
    CHECK(must(fetch.head()).status == 200);
    const std::string body = must(fetch.body());
    CHECK_THAT(body, Contains("abc"));
    CHECK(static_cast<std::size_t>(std::count(body.begin(), body.end(), 'z')) == 300'000);
    CHECK(fetch.exchange->offer("more", true));  // over: nobody reads it, and that is no error
}

TEST_CASE("many streams at once are fine", "[os]") {
    HttpServer server([](HttpPeer& peer) {
        peer.begin_chunks();
        for (int i = 0; i < 20; ++i) {
            peer.chunk("data: " + std::to_string(i) + "\n\n");
            peer.rest(1ms);
        }
        peer.end_chunks();
    });
    HttpBench bench;
    std::vector<Fetch> fetches;
    for (int i = 0; i < 50; ++i) {
        fetches.push_back(must(bench.start(HttpBench::request(server.origin()))));
    }
    for (Fetch& fetch : fetches) {
        CHECK_THAT(must(fetch.body()), Contains("data: 19"));
    }
}

TEST_CASE("the client may go while exchanges are out", "[os]") {
    HttpServer server([](HttpPeer& peer) {
        peer.begin_chunks();
        peer.wait_for_close();
    });
    Fetch fetch;
    {
        HttpBench bench;
        fetch = must(bench.start(HttpBench::request(server.origin())));
        must(fetch.head());
    }
    CHECK(fetch.next().error().code() == Errc::cancelled);
    fetch.exchange->cancel();
}
