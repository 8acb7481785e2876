// http/1 through whole desks: a tool and a model backend in the real runner, a server on loopback.
#include <fstream>
#include <sstream>
#include <string>

#include "host/os/http_client.hpp"
#include "host/os/key_files.hpp"
#include "tests/support/http_server.hpp"
#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

/// A desk with the fetcher, whose plugin may reach the server, and a client.
struct HttpDesk {
    HttpServer& server;
    DeskBench bench;
    LinuxOs os;
    std::unique_ptr<HttpClient> client;
    std::unique_ptr<KeyFiles> keys;

    explicit HttpDesk(HttpServer& served) : server(served) {
        bench.desk_config.plugins = {"fetcher"};
        bench.config.plugins["fetcher"].name = "fetcher";
        bench.config.plugins["fetcher"].origins = {{server.origin(), "", "", false}};
        std::filesystem::create_directories(bench.folder / "keys");
        keys = std::make_unique<KeyFiles>(os, bench.folder / "keys");
    }
    ~HttpDesk() {
        bench.desk.reset();  // before the client that its calls use
        client.reset();
        bench.close();
    }
    HttpDesk(const HttpDesk&) = delete;
    HttpDesk& operator=(const HttpDesk&) = delete;
    HttpDesk(HttpDesk&&) = delete;
    HttpDesk& operator=(HttpDesk&&) = delete;

    Desk& open() {
        bench.open();
        bench.desk.reset();  // once more, now that there is a loop for the client
        client = std::make_unique<HttpClient>(bench.io->loop);
        bench.services->http = client.get();
        bench.services->keys = keys.get();
        bench.desk = must(Desk::open(*bench.services, bench.desk_config));
        bench.desk->listen([this](const Json& event) { bench.events.take(event); });
        return *bench.desk;
    }
    Json fetch(const std::string& arguments, const std::string& tool = "fetch") {
        const auto answer = bench.call_tool(tool, arguments);
        if (!answer.result) {
            return Json::object()
                .set("error", name_of(answer.result.error().code()))
                .set("message", answer.result.error().message());
        }
        return must(Json::parse(*answer.result));
    }
    std::string url(const std::string& path = "/") const { return server.origin() + path; }
    void add_asker() {
        ModelConfig model;
        model.name = "asker";
        model.plugin = "fetcher";
        model.url = server.origin() + "/v1";
        bench.config.models["asker"] = model;
        bench.desk_config.models = {"asker"};
    }
    /// All bytes of the home but for keys/.
    std::string everything() const {
        std::string all = bench.log();
        for (const auto& entry :
             std::filesystem::recursive_directory_iterator(bench.folder.path())) {
            if (entry.is_regular_file() &&
                entry.path().parent_path() != bench.folder.path() / "keys") {
                std::ostringstream text;
                text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
                all += text.str();
            }
        }
        return all;
    }
};

std::string with_url(const std::string& url, const std::string& more = "") {
    return R"({"url":")" + url + "\"" + more + "}";
}

}  // namespace

TEST_CASE("a tool reaches its plugin's origins, as an effect of the desk", "[turn]") {
    HttpServer server([](HttpPeer& peer) {
        peer.answer("429 Too Many Requests", "Retry-After: 7\r\n", "later");
    });
    HttpDesk desk(server);
    desk.open();
    const Json answer = desk.fetch(with_url(desk.url()));
    CHECK(answer["status"].as_integer() == 429);
    CHECK(answer["retry_after"].as_string() == "7");
    CHECK(answer["text"].as_string() == "later");
    CHECK(desk.bench.records("effect_intent").size() == 1);
    CHECK(desk.bench.records("effect_outcome").size() == 1);
}

TEST_CASE("a tool reaches nothing else, and sets no header of the host's", "[turn]") {
    HttpServer server([](HttpPeer& peer) { peer.answer("200 OK", "", "x"); });
    HttpServer other([](HttpPeer& peer) { peer.answer("200 OK", "", "x"); });
    HttpDesk desk(server);
    desk.open();
    const auto refused = [&](const std::string& arguments) {
        const Json answer = desk.fetch(arguments);
        return answer["error"].as_string() + ": " + answer["message"].as_string();
    };
    CHECK_THAT(refused(with_url(other.origin())),
               Contains("refused: ") && Contains("not an approved origin"));
    CHECK_THAT(refused(with_url("file:///etc/passwd")), Contains("invalid"));
    for (const char* name : {"Host",
                             "Authorization",
                             "connection",
                             "Content-Length",
                             "x-api-key",
                             "Transfer-Encoding",
                             "proxy-authorization",
                             "Cookie"}) {
        CHECK_THAT(
            refused(with_url(desk.url(), std::string(R"(,"value":"x","header":")") + name + "\"")),
            Contains("is the host's to set"));
    }
    CHECK_THAT(refused(with_url(desk.url(), R"(,"header":"x-a","value":"b\r\nHost: evil")")),
               Contains("one line"));
    CHECK(server.heads().empty());
    CHECK(other.heads().empty());
}

TEST_CASE("the host adds the credential; nothing else ever holds it", "[turn]") {
    const std::string secret = "sk-test-0123456789abcdef";
    HttpServer server(
        [&](HttpPeer& peer) { peer.answer("401 Unauthorized", "", "bad key " + secret); });
    HttpDesk desk(server);
    desk.bench.config.plugins["fetcher"].origins = {{server.origin(), "venue", "", false}};
    desk.open();
    const Json missing = desk.fetch(with_url(desk.url()));
    CHECK(missing["error"].as_string() == "auth");
    CHECK_THAT(missing["message"].as_string(), Contains("daybook key set venue"));

    REQUIRE(desk.keys->set("venue", secret + "\n"));
    CHECK(desk.fetch(with_url(desk.url()))["text"].as_string() == "bad key ***");
    CHECK_THAT(server.heads().back(), Contains("authorization: Bearer " + secret));
    desk.fetch(with_url(desk.url(), R"(,"credential_header":"x-api-key")"));
    CHECK_THAT(server.heads().back(), Contains("x-api-key: " + secret) && !Contains("Bearer"));
    desk.bench.settle();
    CHECK_THAT(desk.everything(), !Contains(secret));
}

TEST_CASE("a deadline and an end close what a call has open", "[turn]") {
    HttpServer* self = nullptr;
    HttpServer server([&](HttpPeer& peer) {
        peer.begin_chunks();
        if (peer.wait_for_close()) {
            self->mark();
        }
    });
    self = &server;
    HttpDesk desk(server);
    desk.bench.config.host.call_timeout = std::chrono::milliseconds(700);
    desk.open();
    CHECK(desk.fetch(with_url(desk.url()), "leave_open")["exchange"].as_integer() == 1);
    CHECK(server.wait_for_marks(1));
    const Json late = desk.fetch(with_url(desk.url()));  // waits for a body that never comes
    CHECK(late["error"].as_string() == "deadline");
    CHECK(server.wait_for_marks(2));
    CHECK(desk.client->running() == 0);
    const Json next = desk.fetch(with_url("http://127.0.0.1:1/"));  // the runner is well
    CHECK(next["error"].as_string() == "refused");
}

TEST_CASE("a large answer passes whole through the channel", "[turn]") {
    constexpr std::size_t kAll = 12UL << 20U;
    HttpServer server([](HttpPeer& peer) { peer.answer("200 OK", "", std::string(kAll, 'x')); });
    HttpDesk desk(server);
    desk.open();
    CHECK(desk.fetch(with_url(desk.url()), "count_bytes")["bytes"].as_integer() ==
          static_cast<std::int64_t>(kAll));
}

TEST_CASE("a model's turn streams from its own server, and only from there", "[turn]") {
    HttpServer server([](HttpPeer& peer) {
        peer.begin_chunks();
        for (const char* piece : {"data: {\"del",
                                  "ta\":\"Hello \"}\r\n\r",
                                  "\n: ping\r\ndata: {\"delta\":\"wor",
                                  "ld\"}\n\nda",
                                  "ta: [DONE]\n\n"}) {
            peer.chunk(piece);
            peer.rest(std::chrono::milliseconds(2));
        }
        peer.end_chunks();
    });
    HttpDesk desk(server);
    desk.add_asker();
    desk.bench.config.plugins["fetcher"].origins.clear();
    desk.bench.config.models["asker"].credential = "model-key";
    REQUIRE(desk.keys->set("model-key", "mk-1"));
    desk.open();
    const Json end = desk.bench.say("hello?");
    INFO(end.dump());
    CHECK(end["outcome"].as_string() == "completed");
    CHECK_THAT(server.heads().back(),
               Contains("POST /v1/chat ") && Contains("authorization: Bearer mk-1"));
    bool answered = false;
    for (const Json& event : desk.bench.events.all("text")) {
        answered = answered || event.dump().find("Hello") != std::string::npos;
    }
    CHECK(answered);
    CHECK(desk.bench.records("effect_intent").empty());
    // The same plugin's tools have no origin of the model's.
    CHECK(desk.fetch(with_url(desk.url()))["error"].as_string() == "refused");
}
