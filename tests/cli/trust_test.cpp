// daybook plugin trust, with a host and without: shown, asked, recorded, journalled.
#include <filesystem>
#include <fstream>

#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

/// A home whose configuration names a fixture that nobody has approved.
struct WithEcho {
    Home home;
    fs::path file;

    WithEcho() {
        fs::create_directories(home.path() / "plugins");
        file = home.path() / "plugins/echo.so";
        fs::copy_file(fs::path(DAYBOOK_BUILD_DIR) / "lib/daybook/fixtures/echo.so", file);
        home.write("daybook.toml",
                   "[model.clerk]\nplugin = \"clerk\"\n[plugin.echo]\nfile = \"" + file.string() +
                       "\"\norigins = [\"https://quotes.example.com\"]\n"
                       "[desk.main]\ncalendar = \"always\"\nmodels = [\"clerk\"]\n"
                       "plugins = [\"memory\", \"echo\"]\n");
    }
    [[nodiscard]] std::string reason() const {
        const Json listed = home.ask({"plugin", "list"});
        for (const Json& plugin : listed["plugins"].items()) {
            if (plugin["name"].as_string() == "echo") {
                return plugin["reason"].as_string();
            }
        }
        FAIL("no plugin echo in the list");
        return {};
    }
};

}  // namespace

TEST_CASE("without a host a file is approved after its wants were shown, and then it runs",
          "[cli]") {
    WithEcho with;
    const Ran asked = with.home.daybook({"plugin", "trust", with.file.string()});
    CHECK(asked.code != 0);
    CHECK_THAT(asked.out,
               Contains("echo 1.0.0") && Contains("profile   pure") &&
                   Contains("asks for  nothing of the host") &&
                   Contains("granted by the configuration, origins: https://quotes.example.com"));
    CHECK_THAT(asked.err, Contains("not confirmed") && Contains("--yes"));
    CHECK_FALSE(fs::exists(with.home.path() / "state/plugins.lock"));

    const Json approved = with.home.ask({"plugin", "trust", with.file.string(), "--yes"});
    CHECK(approved["trusted"].as_string() == "owner");
    CHECK(approved["granted"]["origins"].items().size() == 1);
    // A second time there is nothing to ask; by name it is the same file.
    const Ran again = with.home.daybook({"plugin", "trust", "echo"});
    CHECK(again.code == 0);
    CHECK_THAT(again.out, Contains("trusted already, by the word of: owner"));
    with.home.start();
    CHECK(with.reason().empty());
    const Json journal = with.home.ask({"journal", "show", "_host"});
    CHECK_THAT(journal.dump(), Contains("\"what\":\"trusted\"") && Contains(with.file.string()));
    with.home.stop();
}

TEST_CASE("with a host the same is asked, and a file that changes meanwhile is not approved",
          "[cli]") {
    WithEcho with;
    with.home.start();
    CHECK_THAT(
        with.reason(),
        Contains("is not trusted") && Contains("daybook plugin trust " + with.file.string()));
    const Ran ran = with.home.daybook({"tool", "call", "main", "echo", "{}"});
    CHECK(ran.code != 0);
    const Json approved = with.home.ask({"plugin", "trust", with.file.string(), "--yes"});
    CHECK(approved["plugin"].as_string() == "echo");
    CHECK_THAT(with.home.ask({"journal", "show", "_host"}).dump(),
               Contains("\"what\":\"trusted\""));
    std::ofstream(with.file, std::ios::binary | std::ios::app) << "more";
    const Ran changed = with.home.daybook({"plugin", "trust", with.file.string()});
    CHECK(changed.code != 0);
    CHECK_THAT(changed.out, Contains("changed since it was approved"));
    with.home.stop();
}

TEST_CASE("a damaged plugins.lock is named, nothing of it is lost, and what to do is said",
          "[cli]") {
    WithEcho with;
    with.home.write("state/plugins.lock", "{\"lock\":2,\"plugins\":{\"echo\":[");
    const Ran ran = with.home.daybook({"plugin", "trust", with.file.string(), "--yes"});
    CHECK(ran.code != 0);
    CHECK_THAT(ran.err, Contains("plugins.lock") && Contains("mend it, or move it away"));
    CHECK(with.home.read("state/plugins.lock") == "{\"lock\":2,\"plugins\":{\"echo\":[");
}
