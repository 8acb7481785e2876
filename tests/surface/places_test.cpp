#include "host/surface/places.hpp"

#include <map>

#include "tests/catch.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using daybook::test::TempFolder;

namespace {

/// Surroundings of a test's own: no variable of the process is seen.
Surroundings surroundings(const TempFolder& folder, std::map<std::string, std::string> variables) {
    Surroundings made;
    made.variable = [all = std::move(variables)](const char* name) {
        const auto found = all.find(name);
        return found == all.end() ? std::string() : found->second;
    };
    made.uid = 1000;
    made.working_directory = folder.path();
    made.program = "/opt/daybook/bin/daybook";
    made.service_config = folder.path() / "etc" / "daybook.toml";
    return made;
}

}  // namespace

TEST_CASE("--home puts everything below one folder", "[surface]") {
    const TempFolder folder;
    PlaceOptions options;
    options.home = "desk/";
    auto places = find_places(options, surroundings(folder, {{"HOME", "/home/o"}}));
    REQUIRE(places);
    const auto home = folder.path() / "desk";
    CHECK(places->home == home);
    CHECK(places->config == home / "daybook.toml");
    CHECK(places->state == home / "state");
    CHECK(places->socket == home / "run" / "daybook.sock");
    CHECK(places->log == home / "state" / "log");
    CHECK(places->flags() == "--home " + home.string());
    CHECK(places->share == "/opt/daybook/share/daybook");
    CHECK(places->runner == "/opt/daybook/libexec/daybook/daybook-runner");
    CHECK(places->daemon == "/opt/daybook/bin/daybookd");
}

TEST_CASE("DAYBOOK_HOME names the home when no flag does", "[surface]") {
    const TempFolder folder;
    const auto around = surroundings(folder, {{"DAYBOOK_HOME", "/srv/desk"}});
    auto places = find_places({}, around);
    REQUIRE(places);
    CHECK(places->state == "/srv/desk/state");
    PlaceOptions options;
    options.home = "/srv/other";
    CHECK(find_places(options, around)->state == "/srv/other/state");
}

TEST_CASE("one user's files follow the XDG folders", "[surface]") {
    const TempFolder folder;
    SECTION("the folders' defaults") {
        auto places = find_places({}, surroundings(folder, {{"HOME", "/home/o"}}));
        REQUIRE(places);
        CHECK(places->layout == Layout::user);
        CHECK(places->config == "/home/o/.config/daybook/daybook.toml");
        CHECK(places->state == "/home/o/.local/state/daybook");
        CHECK(places->socket == "/home/o/.local/state/daybook/run/daybook.sock");
        CHECK(places->flags().empty());
    }
    SECTION("their variables") {
        auto places = find_places({},
                                  surroundings(folder,
                                               {{"HOME", "/home/o"},
                                                {"XDG_CONFIG_HOME", "/c"},
                                                {"XDG_STATE_HOME", "/s"},
                                                {"XDG_RUNTIME_DIR", "/run/user/1000"}}));
        REQUIRE(places);
        CHECK(places->config == "/c/daybook/daybook.toml");
        CHECK(places->state == "/s/daybook");
        CHECK(places->socket == "/run/user/1000/daybook.sock");
    }
    SECTION("a relative variable is not followed") {
        auto places =
            find_places({}, surroundings(folder, {{"HOME", "/home/o"}, {"XDG_STATE_HOME", "s"}}));
        CHECK(places->state == "/home/o/.local/state/daybook");
    }
    SECTION("nothing is known") {
        auto places = find_places({}, surroundings(folder, {}));
        REQUIRE_FALSE(places);
        CHECK(places.error().code() == Errc::invalid);
        CHECK_THAT(places.error().message(), Catch::Contains("--home DIR"));
    }
}

TEST_CASE("a service's files are where systemd says", "[surface]") {
    const TempFolder folder;
    auto places = find_places({},
                              surroundings(folder,
                                           {{"STATE_DIRECTORY", "/var/lib/daybook:/var/lib/more"},
                                            {"RUNTIME_DIRECTORY", "/run/daybook"},
                                            {"LOGS_DIRECTORY", "/var/log/daybook"}}));
    REQUIRE(places);
    CHECK(places->layout == Layout::service);
    CHECK(places->state == "/var/lib/daybook");
    CHECK(places->socket == "/run/daybook/daybook.sock");
    CHECK(places->log == "/var/log/daybook");
}

TEST_CASE("the service is meant when only its configuration exists", "[surface]") {
    const TempFolder folder;
    folder.write("etc/daybook.toml", "");
    const auto around = surroundings(folder, {{"HOME", folder.path().string()}});
    CHECK(find_places({}, around)->layout == Layout::service);
    folder.write(".config/daybook/daybook.toml", "");
    CHECK(find_places({}, around)->layout == Layout::user);
}

TEST_CASE("a socket's path that is too long is replaced by a short one", "[surface]") {
    const TempFolder folder;
    PlaceOptions options;
    options.home = folder.path() / std::string(120, 'x');
    SECTION("in the runtime folder") {
        auto places =
            find_places(options, surroundings(folder, {{"XDG_RUNTIME_DIR", "/run/user/1000"}}));
        REQUIRE(places);
        CHECK(places->socket.parent_path() == "/run/user/1000/daybook");
        CHECK(places->socket_note == *options.home / "run" / "socket");
    }
    SECTION("in /tmp, apart for each user") {
        auto places = find_places(options, surroundings(folder, {}));
        REQUIRE(places);
        CHECK(places->socket.parent_path() == "/tmp/daybook-1000");
        CHECK(places->socket.string().size() <= kMaxSocketPath);
        // Two homes never share a socket.
        PlaceOptions other;
        other.home = *options.home / "y";
        CHECK(find_places(other, surroundings(folder, {}))->socket != places->socket);
    }
    SECTION("but one that the owner named is an error") {
        options.socket = *options.home;
        auto places = find_places(options, surroundings(folder, {}));
        REQUIRE_FALSE(places);
        CHECK_THAT(places.error().message(), Catch::Contains("at most 107 bytes"));
    }
}

TEST_CASE("a path is one word for a shell", "[surface]") {
    CHECK(shell_word("/srv/desk-1") == "/srv/desk-1");
    CHECK(shell_word("/srv/my desk") == "'/srv/my desk'");
    CHECK(shell_word("a'b") == "'a'\\''b'");
    CHECK(shell_word("$HOME/*; id") == "'$HOME/*; id'");
    CHECK(shell_word("").size() == 2);
}
