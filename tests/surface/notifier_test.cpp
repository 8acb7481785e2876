#include <cstring>
#include <map>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/surface/service_notifier.hpp"
#include "tests/catch.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using daybook::test::TempFolder;

namespace {

ServiceNotifier notifier_with(std::map<std::string, std::string> variables) {
    return ServiceNotifier([all = std::move(variables)](const char* name) {
        const auto found = all.find(name);
        return found == all.end() ? std::string() : found->second;
    });
}

}  // namespace

TEST_CASE("lines go to the socket that the service manager names", "[surface]") {
    const TempFolder folder;
    const UniqueFd manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (folder / "notify").c_str(), sizeof address.sun_path - 1);
    REQUIRE(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) ==
            0);
    const auto notifier = notifier_with({{"NOTIFY_SOCKET", (folder / "notify").string()}});
    REQUIRE(notifier.send("READY=1\nSTATUS=2 desks"));
    char buffer[64] = {};
    const ssize_t got = ::recv(manager.get(), buffer, sizeof buffer, 0);
    CHECK(std::string(buffer, static_cast<std::size_t>(got)) == "READY=1\nSTATUS=2 desks");
}

TEST_CASE("nobody to tell is no failure", "[surface]") {
    CHECK_FALSE(notifier_with({}).send("READY=1"));
    CHECK_FALSE(notifier_with({{"NOTIFY_SOCKET", "relative"}}).send("READY=1"));
    CHECK_FALSE(notifier_with({{"NOTIFY_SOCKET", "/no/such/socket"}}).send("READY=1"));
    CHECK_FALSE(notifier_with({{"NOTIFY_SOCKET", "/" + std::string(200, 'x')}}).send("READY=1"));
}

TEST_CASE("the watchdog is fed at half its interval, by the process that is meant", "[surface]") {
    const auto interval = [](std::map<std::string, std::string> more) {
        more["NOTIFY_SOCKET"] = "@none";
        return notifier_with(std::move(more)).watchdog_interval().count();
    };
    CHECK(interval({}) == 0);
    CHECK(interval({{"WATCHDOG_USEC", "30000000"}}) == 15000000);
    CHECK(interval({{"WATCHDOG_USEC", "30000000"}, {"WATCHDOG_PID", std::to_string(::getpid())}}) ==
          15000000);
    CHECK(interval({{"WATCHDOG_USEC", "30000000"}, {"WATCHDOG_PID", "1"}}) == 0);
    CHECK(interval({{"WATCHDOG_USEC", "soon"}}) == 0);
}
