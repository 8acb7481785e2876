// A plugin that asks the kernel itself, behind a real daemon. Its own word counts for nothing: what
// changed, who was signalled and who was called is looked at from outside.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/os/unique_fd.hpp"
#include "tests/catch.hpp"
#include "tests/fault/attacked_home.hpp"

using namespace daybook;
using namespace daybook::test;
namespace fs = std::filesystem;

namespace {

/// Listens on a unix socket and a TCP port of the loopback, and takes nothing.
class Bait {
  public:
    explicit Bait(const fs::path& socket) : path_(socket.string()) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        REQUIRE(path_.copy(address.sun_path, sizeof address.sun_path - 1) == path_.size());
        REQUIRE(::bind(unix_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
                0);
        REQUIRE(::chmod(path_.c_str(), 0777) == 0);
        sockaddr_in inet{};
        inet.sin_family = AF_INET;
        inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t bytes = sizeof inet;
        REQUIRE(::bind(tcp_.get(), reinterpret_cast<const sockaddr*>(&inet), bytes) == 0);
        REQUIRE(::getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&inet), &bytes) == 0);
        REQUIRE(::bind(udp_.get(), reinterpret_cast<const sockaddr*>(&inet), sizeof inet) == 0);
        port_ = ntohs(inet.sin_port);
        REQUIRE((::listen(unix_.get(), 8) == 0 && ::listen(tcp_.get(), 8) == 0));
    }
    /// Whether anybody called since the last time.
    [[nodiscard]] bool was_called() const {
        bool called = false;
        for (const int fd : {unix_.get(), tcp_.get()}) {
            const UniqueFd caller(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC));
            called = called || caller.get() >= 0;
        }
        char byte = 0;
        return called || ::recv(udp_.get(), &byte, 1, MSG_DONTWAIT) >= 0;
    }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] int port() const { return port_; }

  private:
    static constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;
    std::string path_;
    UniqueFd unix_{::socket(AF_UNIX, SOCK_STREAM | kFlags, 0)};
    UniqueFd tcp_{::socket(AF_INET, SOCK_STREAM | kFlags, 0)};
    UniqueFd udp_{::socket(AF_INET, SOCK_DGRAM | kFlags, 0)};
    int port_ = 0;
};

/// Everything of the home that no call changes by itself, and the modules' folder of the build.
Picture world_of(const Home& home) {
    Picture all = picture_of(home.path());
    const std::string state = (home.path() / "state").string();
    std::erase_if(all, [&](const auto& item) {
        return item.first.starts_with(state + "/journal/") ||
               item.first.starts_with(state + "/log/") || item.first == state + "/log" ||
               item.first.starts_with(state + "/sessions/main");
    });
    return all;
}

/// System calls of another architecture.
bool is_foreign(const std::string& what) {
    return what == "int80" || what == "x32";
}

void attack(const Home& home, const Bait& bait) {
    const auto listed = call_tool(home, "attempts", Json::object());
    REQUIRE(listed);
    REQUIRE((*listed)["result"].items().size() >= 60);
    const Picture before = world_of(home);
    const auto attempt = [&](const std::string& what, const fs::path& other, int fd) {
        INFO(what << " other=" << other.string() << " fd=" << fd);
        const auto answer = call_tool(home,
                                      "attempt",
                                      Json::object()
                                          .set("what", what)
                                          .set("path", (workspace(home) / "Memory.md").string())
                                          .set("other", other.string())
                                          .set("socket", bait.path())
                                          .set("port", bait.port())
                                          .set("pid", static_cast<std::int64_t>(home.pid()))
                                          .set("fd", fd));
        if (answer) {
            CHECK((*answer)["result"]["ok"].as_bool() == (what == "read_own"));
        } else {
            INFO(answer.error().message());
            CHECK((is_foreign(what) && answer.error().code() == Errc::plugin_crashed));
            REQUIRE(request(home, "plugin.retry", Json::object().set("plugin", "hostile")));
        }
        CHECK_FALSE(bait.was_called());
        const std::string changed = difference(before, world_of(home));
        CHECK(changed == "");
    };
    const fs::path other = workspace(home, "other") / "Memory.md";
    for (const bool foreign : {false, true}) {  // those last: the kernel ends the process
        for (const Json& what : (*listed)["result"].items()) {
            if (is_foreign(what.as_string()) == foreign) {
                attempt(what.as_string(), other, 9);
            }
        }
    }
    const fs::path state = home.path() / "state";
    for (const fs::path& secret : {state / "keys/control.token",
                                   home.path() / "daybook.toml",
                                   state / "journal",
                                   repository(home) / "HEAD",
                                   home.path() / "run/daybook.sock"}) {
        attempt("read_other", secret, 9);
    }
    for (int fd = 4; fd < 40; ++fd) {
        attempt("inherited_fd", other, fd);
    }
    const auto constructed = call_tool(home, "constructor", Json::object());
    REQUIRE(constructed);
    for (const char* what : {"create", "socket", "fork", "kill"}) {
        INFO(what);
        CHECK((*constructed)["result"][what].as_integer() > 0);
    }
    CHECK_FALSE(fs::exists("/dev/shm/daybook-hostile"));
}

}  // namespace

TEST_CASE("no attempt of a hostile plugin succeeds behind a daemon", "[fault]") {
    const bool as_nobody = GENERATE(false, true);
    if (as_nobody && !is_root()) {
        return;  // the first round was an ordinary user's already
    }
    INFO((as_nobody ? "uid 65534" : "own uid"));
    const AsUser user(as_nobody ? kNobody : ::geteuid());
    Home home;
    home.write("daybook.toml",
               config_text("",
                           plugin_table("hostile") + desk_table("main", {"memory", "hostile"}) +
                               desk_table("other", {"memory"})));
    home.write("state/workspace/main/Memory.md", "main remembers\n");
    home.write("state/workspace/other/Memory.md", "other remembers\n");
    home.write("state/format", "1\n");
    const Bait bait((home.path() / "listener").string());
    home.start();
    attack(home, bait);
    // Nobody was signalled, and nothing of what a runner could reach of its host has changed: it
    // serves.
    const auto status = request(home, "status", Json::object());
    REQUIRE(status);
    CHECK((*status)["pid"].as_integer() == home.pid());
    CHECK(call_tool(home, "add_note", Json::object().set("text", "and the good plugin works")));
    home.stop();
}

TEST_CASE("the picture that is compared would show what the attempts try", "[fault]") {
    const TempFolder folder;
    folder.write("file", "text");
    const fs::path file = folder / "file";
    const Picture before = picture_of(folder.path());
    CHECK(difference(before, picture_of(folder.path())).empty());
    SECTION("a mode") {
        fs::permissions(file, fs::perms::owner_read);
    }
    SECTION("a link") {
        fs::create_hard_link(file, folder / "link");
    }
    SECTION("times") {
        REQUIRE(::utimensat(AT_FDCWD, file.c_str(), nullptr, 0) == 0);
    }
    SECTION("content") {
        folder.write("file", "tex.");
    }
    SECTION("a new name") {
        fs::create_symlink("/", folder / "link");
    }
    CHECK_FALSE(difference(before, picture_of(folder.path())).empty());
}
