// The walls: every attempt of the hostile plugin fails, seen from outside, as root and as an
// ordinary user, with the newest Landlock and with the ABIs of older kernels.
#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <memory>
#include <netinet/in.h>
#include <signal.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <daybook/json.hpp>

#include "host/format/json.hpp"
#include "tests/catch.hpp"
#include "tests/runner/runner_driver.hpp"

using namespace daybook;        // NOLINT(google-build-using-namespace)
using namespace daybook::test;  // NOLINT(google-build-using-namespace)

namespace {

std::atomic<int> signals_seen =
    0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a signal handler's

/// What the hostile plugin would like to reach: sockets that listen, a file that is open for
/// writing, this process.
class Bait {
  public:
    explicit Bait(const World& world) : path_((world.folder() / "listener").string()) {
        struct sigaction action {};
        action.sa_handler = [](int) { ++signals_seen; };
        ::sigaction(SIGUSR1, &action, nullptr);
        sockaddr_un local{};
        local.sun_family = AF_UNIX;
        REQUIRE(path_.size() < sizeof local.sun_path);
        std::copy(path_.begin(), path_.end(), local.sun_path);
        unix_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        REQUIRE(::bind(unix_.get(), reinterpret_cast<const sockaddr*>(&local), sizeof local) == 0);
        REQUIRE(::listen(unix_.get(), 4) == 0);
        tcp_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::bind(tcp_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
                0);
        REQUIRE(::listen(tcp_.get(), 4) == 0);
        socklen_t bytes = sizeof address;
        REQUIRE(::getsockname(tcp_.get(), reinterpret_cast<sockaddr*>(&address), &bytes) == 0);
        port_ = ntohs(address.sin_port);
        leak_.reset(::open(world.memory().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
        REQUIRE(leak_);
    }

    [[nodiscard]] int leaked_fd() const { return leak_.get(); }
    [[nodiscard]] std::string arguments(const World& world, const std::string& what) const {
        return json::ObjectWriter()
            .add("what", what)
            .add("path", world.memory().string())
            .add("other", what == "read_key" ? world.key().string() : world.other().string())
            .add("socket", path_)
            .add("pid", ::getpid())
            .add("port", port_)
            .add("fd", 9)
            .str();
    }

  private:
    std::string path_;
    UniqueFd unix_, tcp_, leak_;
    int port_ = 0;
};

bool is_killer(const std::string& what) {
    return what == "int80" || what == "x32";
}

/// What would stop or cripple this very process where nothing forbids it.
bool hurts_the_test(const std::string& what) {
    constexpr const char* kActs[] = {
        "ptrace", "process_vm_writev", "host_limit", "host_priority", "host_affinity"};
    return std::find(std::begin(kActs), std::end(kActs), what) != std::end(kActs);
}

std::vector<std::string> all_attempts(RunnerDriver& runner) {
    std::vector<std::string> names;
    const auto listed = runner.call("attempts", "{}");
    REQUIRE(listed.has_value());
    auto json = Json::parse(listed->text);
    REQUIRE(json);
    for (const Json& name : json->items()) {
        names.push_back(name.as_string());
    }
    return names;
}

/// Tries everything in one runner; returns the names of the attempts that succeeded.
std::vector<std::string> successes(const World& world, const StartOptions& start) {
    const Bait bait(world);
    StartOptions options = start;
    options.leaked_fd = bait.leaked_fd();
    auto runner = std::make_unique<RunnerDriver>(world, "hostile", options);
    REQUIRE(runner->open().empty());
    std::vector<std::string> succeeded;
    for (const std::string& what : all_attempts(*runner)) {
        if (is_killer(what) || (options.isolation == "off" && hurts_the_test(what))) {
            continue;
        }
        const std::string before = world.snapshot();
        const int signals_before = signals_seen;
        const auto ended = runner->call("attempt", bait.arguments(world, what));
        INFO(what);
        if (!ended.has_value()) {  // it became another program, or crashed: both are an effect
            succeeded.push_back(what + "!");
            runner = std::make_unique<RunnerDriver>(world, "hostile", options);
            REQUIRE(runner->open().empty());
            continue;
        }
        REQUIRE(ended->ok);
        const bool changed = world.snapshot() != before || signals_seen != signals_before;
        if (ended->text == R"({"ok":true})" || changed) {
            succeeded.push_back(what + (changed ? "*" : ""));
            world.restore();
        }
    }
    return succeeded;
}

void check_walls(const StartOptions& options) {
    const World world;
    CHECK(successes(world, options) == std::vector<std::string>{"read_own"});
}

std::vector<bool> users() {
    return ::geteuid() == 0 ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

}  // namespace

TEST_CASE("no attempt of a hostile plugin succeeds, as root and as an ordinary user", "[runner]") {
    for (const bool as_nobody : users()) {
        INFO((as_nobody ? "uid 65534" : "own uid"));
        check_walls({.as_nobody = as_nobody});
    }
}

TEST_CASE("the walls hold with the Landlock of older kernels", "[runner]") {
    for (const char* cap : {"1", "2", "7"}) {
        for (const bool as_nobody : users()) {
            INFO("Landlock ABI " << cap << (as_nobody ? ", uid 65534" : ", own uid"));
            check_walls({.arguments = {"--landlock-cap", cap}, .as_nobody = as_nobody});
        }
    }
}

TEST_CASE("without Landlock nothing but reading gets through", "[runner]") {
    for (const bool as_nobody : users()) {
        const World world;
        for (const auto& what : successes(
                 world,
                 {.isolation = "seccomp-only", .as_nobody = as_nobody, .absent_calls = {444}})) {
            INFO(what << (as_nobody ? ", uid 65534" : ", own uid"));
            CHECK((what.rfind("read_", 0) == 0 || what == "list_root"));
        }
    }
}

TEST_CASE("without walls the same attempts do succeed", "[runner]") {
    // Proof that the attempts are real: what the walls must stop works when there are none.
    const World world;
    const auto succeeded = successes(world, {.isolation = "off"});
    const auto has = [&](const std::string& what) {
        return std::any_of(succeeded.begin(), succeeded.end(), [&](const auto& one) {
            return one.rfind(what, 0) == 0;
        });
    };
    for (const char* what : {"open_write",
                             "o_trunc*",
                             "create",
                             "chmod*",
                             "fork",
                             "kill*",
                             "connect",
                             "connect_unix",
                             "udp",
                             "read_other",
                             "read_key",
                             "list_root",
                             "memfd",
                             "socketpair",
                             "flock"}) {
        INFO(what);
        CHECK(has(what));
    }
    CHECK_FALSE(has("inherited_fd"));  // closed at start, walls or none
    CHECK_FALSE(has("setuid"));        // capabilities are dropped, walls or none
    CHECK(succeeded.size() >= 30);
}

TEST_CASE("system calls of another architecture end the process", "[runner]") {
    const World world;
    const Bait bait(world);
    for (const char* what : {"int80", "x32"}) {
        RunnerDriver runner(world, "hostile");
        REQUIRE(runner.open().empty());
        INFO(what);
        const auto ended = runner.call("attempt", bait.arguments(world, what));
        if (ended.has_value()) {  // a kernel without those tables refuses them itself
            CHECK(ended->text != R"({"ok":true})");
        } else {
            CHECK((runner.wait_end() == -SIGSYS || runner.wait_end() == -SIGSEGV));
        }
    }
}

TEST_CASE("the walls stand before a module's constructors run", "[runner]") {
    const World world;
    RunnerDriver runner(world, "hostile");
    REQUIRE(runner.open().empty());
    const auto ended = runner.call("constructor", "{}");
    REQUIRE(ended.has_value());
    auto found = Json::parse(ended->text);
    REQUIRE(found);
    for (const char* what : {"create", "socket", "fork", "kill"}) {
        INFO(what);
        CHECK((*found)[what].as_integer(0) > 0);
    }
    CHECK_FALSE(std::filesystem::exists(world.module("hostile").string() + ".hostile-was-here"));
}

TEST_CASE("the runner dies with its host", "[runner]") {
    const World world;
    int end = 0;
    {
        RunnerDriver runner(world, "hang");
        REQUIRE(runner.open().empty());
        runner.start_call("tool", "hang", "{}");
        runner.close_channel();  // what the host's end looks like from the runner
        end = runner.wait_end();
    }
    CHECK(end == 0);
}

TEST_CASE("a runner is small and ready at once", "[runner]") {
    const World world;
    RunnerDriver runner(world, "plain_c");
    REQUIRE(runner.open().empty());
    // Counts, not milliseconds: a walled process has two threads, and no library of the host.
    const std::string text = contents_of("/proc/" + std::to_string(runner.pid()) + "/maps");
    CHECK(text.find("libgit2") == std::string::npos);
    CHECK(text.find("libdate") == std::string::npos);
    CHECK(text.find("libstdc++") == std::string::npos);
    if (::geteuid() == 0) {
        CHECK(text.find("plain_c.so") != std::string::npos);
    }
}
