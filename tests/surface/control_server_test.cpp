#include "host/surface/control_server.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <vector>

#include "tests/catch.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using daybook::test::TempFolder;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

const std::string kToken(64, 'a');

/// A server on a loop of its own. "echo" answers with its arguments, "hold" keeps its reply,
/// "flood" streams events, "big" answers with a text of so many bytes.
class Served {
  public:
    explicit Served(const TempFolder& folder, ControlLimits limits = {})
        : path(folder / "control.sock") {
        limits.wrong_token_delay = milliseconds(1);
        ControlServer::Events events;
        events.take = [this](ControlRequest request, std::shared_ptr<Reply> reply) {
            take(std::move(request), std::move(reply));
        };
        events.on_wrong_token = [this](const Peer&, std::uint64_t) { ++wrong_tokens; };
        auto bound = ControlServer::bind(loop, path, kToken, std::move(events), limits);
        REQUIRE(bound);
        server = std::move(*bound);
        REQUIRE(server->listen());
        thread = std::thread([this] { loop.run(); });
    }
    ~Served() {
        held.clear();
        loop.stop();
        thread.join();
    }
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;
    Served(Served&&) = delete;
    Served& operator=(Served&&) = delete;

    void take(ControlRequest request, std::shared_ptr<Reply> reply) {
        if (request.verb == "echo") {
            reply->done(request.args);
        } else if (request.verb == "hold") {
            reply->on_gone([this] { ++gone; });
            const std::lock_guard guard(mutex);
            held.push_back(std::move(reply));
        } else if (request.verb == "flood") {
            const std::string text(1000, 'x');
            for (int i = 0; i < 5000; ++i) {
                reply->event(Json::object().set("event", "text").set("text", text));
            }
            reply->done(Json::object());
        } else if (request.verb == "big") {
            reply->done(Json(
                std::string(static_cast<std::size_t>(request.args["bytes"].as_integer()), 'y')));
        } else {
            reply->done(Error(Errc::not_found, "no such thing"));
        }
    }

    std::filesystem::path path;
    IoLoop loop;
    std::unique_ptr<ControlServer> server;
    std::thread thread;
    std::mutex mutex;  // guards held
    std::vector<std::shared_ptr<Reply>> held;
    std::atomic<int> gone{0};
    std::atomic<int> wrong_tokens{0};
};

class Asker {
  public:
    explicit Asker(const std::filesystem::path& path)
        : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        REQUIRE(::connect(socket_.get(),
                          reinterpret_cast<const sockaddr*>(&address),
                          sizeof address) == 0);
    }
    void show_token(const std::string& token = kToken) { send("{\"token\":\"" + token + "\"}\n"); }
    /// False: the other side has closed.
    bool send(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) {
                return false;
            }
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    void end_writing() { ::shutdown(socket_.get(), SHUT_WR); }
    void close() { socket_.reset(); }
    /// The next line as JSON; null when the other side has closed.
    Json line() {
        const auto deadline = steady_clock::now() + std::chrono::seconds(20);
        while (true) {
            if (const auto end = in_.find('\n'); end != std::string::npos) {
                auto json = Json::parse(in_.substr(0, end), JsonLimits{64UL << 20, 64, 64UL << 20});
                in_.erase(0, end + 1);
                REQUIRE(json);
                return *json;
            }
            pollfd ready = {socket_.get(), POLLIN, 0};
            REQUIRE(steady_clock::now() < deadline);
            if (::poll(&ready, 1, 1000) <= 0) {
                continue;
            }
            char buffer[65536];
            const ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
            if (got <= 0) {
                return {};
            }
            in_.append(buffer, static_cast<std::size_t>(got));
        }
    }

  private:
    UniqueFd socket_;
    std::string in_;
};

bool eventually(const std::function<bool()>& holds) {
    const auto deadline = steady_clock::now() + std::chrono::seconds(20);
    while (!holds()) {
        if (steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

}  // namespace

TEST_CASE("a request with the token is answered under its own id", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    Asker asker(served.path);
    asker.show_token();
    asker.send(
        "{\"id\":7,\"do\":\"echo\",\"args\":{\"a\":[1,\"zwei\"]}}\n\n{\"id\":\"x\",\"do\":"
        "\"other\"}\n");
    const Json first = asker.line();
    CHECK(first["id"].as_integer() == 7);
    CHECK(first["ok"].as_bool());
    CHECK(first["result"].dump() == "{\"a\":[1,\"zwei\"]}");
    const Json second = asker.line();
    CHECK(second["id"].as_string() == "x");
    CHECK_FALSE(second["ok"].as_bool(true));
    CHECK(second["error"]["code"].as_string() == "not_found");
    CHECK(second["error"]["exit"].as_integer() == 4);
}

TEST_CASE("the socket is its owner's alone", "[surface]") {
    const TempFolder folder;
    const Served served(folder);
    struct stat found = {};
    REQUIRE(::stat(served.path.c_str(), &found) == 0);
    CHECK((found.st_mode & 0777U) == 0600U);
}

TEST_CASE("without the right token nothing is served", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    const std::string first =
        GENERATE(as<std::string>{},
                 "{\"token\":\"" + std::string(64, 'b') + "\"}",
                 "{\"token\":\"" + std::string(63, 'a') + "\"}",
                 "{\"token\":\"\"}",
                 "{}",
                 "[]",
                 "{\"token\":\"" + std::string(64, 'a') + "\",\"do\":\"echo\"}",
                 "{\"id\":1,\"do\":\"echo\"}",
                 "garbage \x01\xff",
                 "");
    Asker asker(served.path);
    asker.send(first + "\n{\"id\":1,\"do\":\"echo\"}\n");
    const Json answer = asker.line();
    CHECK(answer["ok"].kind() == Json::Kind::boolean);
    CHECK_FALSE(answer["ok"].as_bool(true));
    CHECK(answer["error"]["code"].as_string() == "auth");
    CHECK_THAT(answer.dump(), !Catch::Contains(std::string(63, 'a')));
    CHECK(asker.line().is_null());
    CHECK(eventually([&] { return served.wrong_tokens.load() == 1; }));
}

TEST_CASE("wrong tokens are slowed and never keep the owner out", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    std::vector<std::unique_ptr<Asker>> guessers;
    for (int i = 0; i < 50; ++i) {
        guessers.push_back(std::make_unique<Asker>(served.path));
        guessers.back()->show_token(std::string(64, 'b'));
    }
    Asker owner(served.path);
    owner.show_token();
    const auto begun = steady_clock::now();
    owner.send("{\"id\":1,\"do\":\"echo\"}\n");
    CHECK(owner.line()["ok"].as_bool());
    CHECK(steady_clock::now() - begun < std::chrono::seconds(1));
    // The first is told soon, the twelfth waits 2 s: 1 ms doubled each time.
    CHECK(guessers.front()->line()["error"]["code"].as_string() == "auth");
    const auto told = steady_clock::now() - begun;
    CHECK(guessers[11]->line()["error"]["code"].as_string() == "auth");
    CHECK(steady_clock::now() - begun > told + milliseconds(500));
}

TEST_CASE("a line that is too long ends the connection with a sentence", "[surface]") {
    const TempFolder folder;
    ControlLimits limits;
    limits.max_line = 10000;
    Served served(folder, limits);
    SECTION("before the token") {
        Asker asker(served.path);
        asker.send(std::string(5000, 'x'));
        CHECK(asker.line()["error"]["code"].as_string() == "full");
        CHECK(asker.line().is_null());
    }
    SECTION("after the token, without an end") {
        Asker asker(served.path);
        asker.show_token();
        asker.send(std::string(20000, 'x'));
        CHECK(asker.line()["error"]["code"].as_string() == "full");
        CHECK(asker.line().is_null());
    }
    SECTION("after the token, exactly at the limit") {
        Asker asker(served.path);
        asker.show_token();
        std::string line = "{\"id\":1,\"do\":\"echo\",\"args\":{\"a\":\"\"}}";
        line.insert(line.size() - 3, std::string(10000 - line.size(), 'z'));
        asker.send(line + "\n");
        CHECK(asker.line()["ok"].as_bool());
    }
}

TEST_CASE("garbage gets an error and the connection goes on", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    const std::string garbage =
        GENERATE(as<std::string>{},
                 "nonsense",
                 "[1,2]",
                 "{\"id\":1}",
                 "{\"id\":[],\"do\":\"echo\"}",
                 "{\"id\":1,\"do\":\"echo\",\"args\":[]}",
                 "{\"id\":1,\"do\":\"echo\",\"args\":{},\"extra\":1}",
                 "{\"id\":1,\"id\":2,\"do\":\"echo\"}",
                 "{\"id\":1,\"do\":\"\\u0000\\ud800\"}",
                 std::string("{\"do\":") + std::string(100, '[') + std::string(100, ']') + "}",
                 std::string("\xff\xfe\x00\x01", 4));
    Asker asker(served.path);
    asker.show_token();
    asker.send(garbage + "\n{\"id\":9,\"do\":\"echo\"}\n");
    CHECK(asker.line()["error"]["code"].as_string() == "invalid");
    const Json after = asker.line();
    CHECK(after["id"].as_integer() == 9);
    CHECK(after["ok"].as_bool());
}

TEST_CASE("a request may come in pieces", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    Asker asker(served.path);
    const std::string all =
        "{\"token\":\"" + kToken + "\"}\n{\"id\":1,\"do\":\"echo\",\"args\":{\"a\":\"b\"}}\n";
    for (const char c : all) {
        asker.send(std::string(1, c));
    }
    CHECK(asker.line()["result"]["a"].as_string() == "b");
}

TEST_CASE("open requests of a connection are bounded", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    Asker asker(served.path);
    asker.show_token();
    for (int i = 1; i <= 17; ++i) {
        asker.send("{\"id\":" + std::to_string(i) + ",\"do\":\"hold\"}\n");
    }
    const Json refused = asker.line();
    CHECK(refused["id"].as_integer() == 17);
    CHECK(refused["error"]["code"].as_string() == "busy");
    {
        const std::lock_guard guard(served.mutex);
        REQUIRE(served.held.size() == 16);
        served.held.front()->done(Json::object());
    }
    CHECK(asker.line()["ok"].as_bool());
    asker.send("{\"id\":18,\"do\":\"echo\"}\n");
    CHECK(asker.line()["id"].as_integer() == 18);
}

TEST_CASE("connections are bounded, and who has no token makes room", "[surface]") {
    const TempFolder folder;
    ControlLimits limits;
    limits.max_connections = 4;
    Served served(folder, limits);
    std::vector<std::unique_ptr<Asker>> trusted;
    for (int i = 0; i < 3; ++i) {
        trusted.push_back(std::make_unique<Asker>(served.path));
        trusted.back()->show_token();
        trusted.back()->send("{\"id\":1,\"do\":\"echo\"}\n");
        CHECK(trusted.back()->line()["ok"].as_bool());
    }
    Asker silent(served.path);
    Asker fourth(served.path);
    CHECK(silent.line()["error"]["code"].as_string() == "busy");
    fourth.show_token();
    fourth.send("{\"id\":1,\"do\":\"echo\"}\n");
    CHECK(fourth.line()["ok"].as_bool());
    Asker fifth(served.path);
    CHECK(fifth.line()["error"]["code"].as_string() == "busy");
    CHECK(fifth.line().is_null());
    trusted.front()->close();
    CHECK(eventually([&] {
        Asker again(served.path);
        again.show_token();
        again.send("{\"id\":1,\"do\":\"echo\"}\n");
        return again.line()["ok"].as_bool();
    }));
}

TEST_CASE("a connection that shows no token in time is closed", "[surface]") {
    const TempFolder folder;
    ControlLimits limits;
    limits.token_deadline = milliseconds(20);
    Served served(folder, limits);
    Asker asker(served.path);
    CHECK(asker.line()["error"]["code"].as_string() == "deadline");
    CHECK(asker.line().is_null());
}

TEST_CASE("who does not read a stream is dropped, and the host goes on", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    Asker slow(served.path);
    slow.show_token();
    slow.send("{\"id\":1,\"do\":\"flood\"}\n");  // 5 MB of events, and nothing is read
    Asker other(served.path);
    other.show_token();
    other.send("{\"id\":2,\"do\":\"echo\"}\n");
    CHECK(other.line()["ok"].as_bool());
    bool complete = false;
    for (Json line = slow.line(); !line.is_null(); line = slow.line()) {
        complete = complete || line.has("ok");
    }
    CHECK_FALSE(complete);
}

TEST_CASE("a large outcome arrives whole at who reads", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    Asker asker(served.path);
    asker.show_token();
    asker.send("{\"id\":1,\"do\":\"big\",\"args\":{\"bytes\":6000000}}\n");
    CHECK(asker.line()["result"].as_string().size() == 6000000);
}

TEST_CASE("who has ended writing still gets the answers", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    Asker asker(served.path);
    asker.show_token();
    asker.send("{\"id\":1,\"do\":\"hold\"}\n");
    asker.end_writing();
    REQUIRE(eventually([&] {
        const std::lock_guard guard(served.mutex);
        return served.held.size() == 1;
    }));
    served.held.front()->done(Json("late"));
    CHECK(asker.line()["result"].as_string() == "late");
    CHECK(asker.line().is_null());
}

TEST_CASE("an open request learns that its asker has gone", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    Asker asker(served.path);
    asker.show_token();
    asker.send("{\"id\":1,\"do\":\"hold\"}\n");
    REQUIRE(eventually([&] {
        const std::lock_guard guard(served.mutex);
        return served.held.size() == 1;
    }));
    asker.close();
    CHECK(eventually([&] { return served.gone.load() == 1; }));
    served.held.front()->done(Json());  // too late, and harmless
}

TEST_CASE("a request that nobody answers is told so", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    Asker asker(served.path);
    asker.show_token();
    asker.send("{\"id\":1,\"do\":\"hold\"}\n");
    REQUIRE(eventually([&] {
        const std::lock_guard guard(served.mutex);
        return served.held.size() == 1;
    }));
    served.held.clear();
    CHECK(asker.line()["error"]["code"].as_string() == "cancelled");
}

TEST_CASE("at the end open requests are told why", "[surface]") {
    const TempFolder folder;
    Served served(folder);
    Asker asker(served.path);
    asker.show_token();
    asker.send("{\"id\":1,\"do\":\"hold\"}\n{\"id\":2,\"do\":\"hold\"}\n");
    REQUIRE(eventually([&] {
        const std::lock_guard guard(served.mutex);
        return served.held.size() == 2;
    }));
    served.server->stop(Error(Errc::unavailable, "the host stopped"));
    CHECK(asker.line()["error"]["message"].as_string() == "the host stopped");
    CHECK(asker.line()["error"]["code"].as_string() == "unavailable");
    CHECK(asker.line().is_null());
}

TEST_CASE("a stale socket is replaced, a living one and a foreign file are not", "[surface]") {
    const TempFolder folder;
    IoLoop loop;
    ControlServer::Events events;
    events.take = [](const ControlRequest&, const std::shared_ptr<Reply>&) {};
    SECTION("stale") {
        const UniqueFd left(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, (folder / "s").c_str(), sizeof address.sun_path - 1);
        REQUIRE(::bind(left.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
                0);
        CHECK(ControlServer::bind(loop, folder / "s", kToken, events));
    }
    SECTION("living") {
        auto first = ControlServer::bind(loop, folder / "s", kToken, events);
        REQUIRE(first);
        REQUIRE((*first)->listen());
        auto second = ControlServer::bind(loop, folder / "s", kToken, events);
        REQUIRE_FALSE(second);
        CHECK(second.error().code() == Errc::busy);
    }
    SECTION("a file") {
        folder.write("s", "mine");
        auto bound = ControlServer::bind(loop, folder / "s", kToken, events);
        REQUIRE_FALSE(bound);
        CHECK(bound.error().code() == Errc::refused);
        CHECK(folder.read("s") == "mine");
    }
}
