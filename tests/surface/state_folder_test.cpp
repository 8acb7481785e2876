#include "host/surface/state_folder.hpp"

#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "host/surface/control_token.hpp"
#include "tests/catch.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using daybook::test::TempFolder;

namespace {

mode_t mode_of(const std::filesystem::path& path) {
    struct stat found = {};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    return found.st_mode & 07777U;
}

}  // namespace

TEST_CASE("a fresh state folder gets its number and its folders", "[surface]") {
    const TempFolder folder;
    LinuxOs os;
    const mode_t mask = ::umask(0077);
    auto state = StateFolder::open(os, folder / "deep/er/state");
    ::umask(mask);
    REQUIRE(state);
    CHECK(folder.read("deep/er/state/format") == "1\n");
    CHECK(mode_of(folder / "deep/er/state") == 0700);
    CHECK(mode_of(folder / "deep/er/state/keys") == 0700);
    // The owner edits it, also where a service's user holds it.
    CHECK(mode_of(folder / "deep/er/state/workspace") == 0770);
    CHECK(folder.read("deep/er/state/run/host.lock") == std::to_string(::getpid()) + "\n");
}

TEST_CASE("a lock that a killed host still holds for an instant is waited for", "[surface]") {
    const TempFolder folder;
    LinuxOs os;
    REQUIRE(StateFolder::open(os, folder / "state"));
    UniqueFd held(::open((folder / "state/run/host.lock").c_str(), O_RDWR | O_CLOEXEC));
    REQUIRE(os.lock(held.get()));
    std::thread ending([&held] {
        std::this_thread::sleep_for(std::chrono::milliseconds(60));  // the instant itself
        held.reset();
    });
    CHECK(StateFolder::open(os, folder / "state"));
    ending.join();
}

TEST_CASE("a second host is refused while the first one lives", "[surface]") {
    const TempFolder folder;
    LinuxOs os;
    {
        auto first = StateFolder::open(os, folder / "state");
        REQUIRE(first);
        auto second = StateFolder::open(os, folder / "state");
        REQUIRE_FALSE(second);
        CHECK(second.error().code() == Errc::busy);
        CHECK_THAT(second.error().message(),
                   Catch::Contains("process " + std::to_string(::getpid())));
    }
    CHECK(StateFolder::open(os, folder / "state"));
}

TEST_CASE("M34: a lock file that is left is no lock, even with this process's own number in it",
          "[surface]") {
    const TempFolder folder;
    LinuxOs os;
    REQUIRE(StateFolder::open(os, folder / "state"));
    for (const std::string& left : {std::to_string(::getpid()), std::string("1"), std::string()}) {
        INFO(left);
        folder.write("state/run/host.lock", left + "\n");
        CHECK(StateFolder::open(os, folder / "state"));
    }
}

TEST_CASE("a newer home is refused with a sentence and left as it is", "[surface]") {
    const TempFolder folder;
    LinuxOs os;
    folder.write("state/format", "2\n");
    auto state = StateFolder::open(os, folder / "state");
    REQUIRE_FALSE(state);
    CHECK(state.error().code() == Errc::unsupported);
    CHECK_THAT(state.error().message(), Catch::Contains("format 2"));
    CHECK_THAT(state.error().message(), Catch::Contains("newer daybook"));
    CHECK(folder.read("state/format") == "2\n");
    CHECK_FALSE(std::filesystem::exists(folder / "state/run"));
}

TEST_CASE("a folder with files but no number is not taken for a home", "[surface]") {
    const TempFolder folder;
    LinuxOs os;
    folder.write("state/holiday.jpg", "…");
    auto state = StateFolder::open(os, folder / "state");
    REQUIRE_FALSE(state);
    CHECK(state.error().code() == Errc::corrupt);
    CHECK(folder.read("state/holiday.jpg") == "…");
    CHECK_FALSE(std::filesystem::exists(folder / "state/format"));
}

TEST_CASE("a start that was cut before the number was written can be repeated", "[surface]") {
    const TempFolder folder;
    LinuxOs os;
    folder.write("state/run/host.lock", "4711\n");
    CHECK(StateFolder::open(os, folder / "state"));
    CHECK(folder.read("state/format") == "1\n");
}

TEST_CASE("a number that is none is refused", "[surface]") {
    const TempFolder folder;
    LinuxOs os;
    const char* text = GENERATE("", "one\n", "-1\n", "0\n", "1.5\n", "99999999999999\n");
    folder.write("state/format", text);
    auto state = StateFolder::open(os, folder / "state");
    REQUIRE_FALSE(state);
    CHECK(state.error().code() == Errc::corrupt);
}

TEST_CASE("the socket's folder may be nobody else's", "[surface]") {
    const TempFolder folder;
    CHECK(prepare_socket_folder(folder / "run"));
    CHECK(mode_of(folder / "run") == 0700);
    REQUIRE(::chmod((folder / "run").c_str(), 0777) == 0);
    auto open_to_all = prepare_socket_folder(folder / "run");
    REQUIRE_FALSE(open_to_all);
    CHECK(open_to_all.error().code() == Errc::refused);
    REQUIRE(::symlink("/tmp", (folder / "link").c_str()) == 0);
    CHECK_FALSE(prepare_socket_folder(folder / "link"));
}

TEST_CASE("the control token is made once and guarded", "[surface]") {
    const TempFolder folder;
    LinuxOs os;
    auto state = StateFolder::open(os, folder / "state");
    REQUIRE(state);
    REQUIRE_FALSE(load_token(os, state->dir()));
    CHECK(load_token(os, state->dir()).error().code() == Errc::not_found);
    auto made = load_or_make_token(os, state->dir());
    REQUIRE(made);
    CHECK(made->size() == 64);
    CHECK(mode_of(folder / "state/keys/control.token") == 0600);
    CHECK(*load_or_make_token(os, state->dir()) == *made);

    SECTION("others may read it") {
        REQUIRE(::chmod((folder / "state/keys/control.token").c_str(), 0644) == 0);
        auto token = load_or_make_token(os, state->dir());
        REQUIRE_FALSE(token);
        CHECK(token.error().code() == Errc::refused);
        CHECK_THAT(token.error().message(), Catch::Contains("chmod 600"));
        CHECK_THAT(token.error().message(), !Catch::Contains(*made));
    }
    SECTION("it is damaged") {
        folder.write("state/keys/control.token", "short\n");
        auto token = load_or_make_token(os, state->dir());
        REQUIRE_FALSE(token);
        CHECK(token.error().code() == Errc::corrupt);
    }
}

TEST_CASE("tokens are equal only as a whole", "[surface]") {
    const std::string token(64, 'a');
    CHECK(same_token(token, token));
    CHECK_FALSE(same_token(token, token.substr(1)));
    CHECK_FALSE(same_token(token, token + "a"));
    CHECK_FALSE(same_token(token, std::string(63, 'a') + "b"));
    CHECK_FALSE(same_token("", ""));
}
