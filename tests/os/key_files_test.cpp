// Credentials by name.
#include "host/os/key_files.hpp"

#include <filesystem>
#include <string>

#include "tests/catch.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

TEST_CASE("a credential is kept for the host's user alone and read without its line end", "[os]") {
    TempFolder folder;
    LinuxOs os;
    const KeyFiles keys(os, folder.path());
    REQUIRE(keys.set("venue-key", "sk-1\n"));
    CHECK(must(keys.read("venue-key")) == "sk-1");
    CHECK(fs::status(folder / "venue-key").permissions() == fs::perms(0600));
    REQUIRE(keys.set("venue-key", "sk-2"));
    CHECK(must(keys.read("venue-key")) == "sk-2");
    folder.write("control.token", "t");
    CHECK(must(keys.list()) == std::vector<std::string>{"venue-key"});
    REQUIRE(keys.remove("venue-key"));
    const auto gone = keys.read("venue-key");
    CHECK(gone.error().code() == Errc::auth);
    CHECK_THAT(gone.error().message(), Contains("daybook key set venue-key"));
}

TEST_CASE("a credential that others may read, or that is no line of text, is refused", "[os]") {
    TempFolder folder;
    LinuxOs os;
    const KeyFiles keys(os, folder.path());
    REQUIRE(keys.set("open", "sk-1"));
    fs::permissions(folder / "open", fs::perms(0640));
    CHECK_THAT(keys.read("open").error().message(), Contains("chmod 600"));
    for (const std::string& value : {std::string(),
                                     std::string("a b"),
                                     std::string("a\nb"),
                                     std::string("a\rHost: x"),
                                     std::string(9000, 'x')}) {
        const auto set = keys.set("odd", value);
        REQUIRE_FALSE(set);
        CHECK(set.error().code() == Errc::refused);
        CHECK(set.error().message().find("Host") == std::string::npos);
    }
    for (const char* name : {"", "../x", "a/b", ".hidden", "control.token"}) {
        CHECK(keys.read(name).error().code() == Errc::refused);
        CHECK_FALSE(keys.set(name, "x"));
    }
    fs::create_symlink(folder / "open", folder / "link");
    CHECK_FALSE(keys.read("link"));
}

TEST_CASE("a service's own credential comes before the one in the folder", "[os]") {
    TempFolder folder;
    TempFolder from_system;
    LinuxOs os;
    const KeyFiles keys(os, folder.path(), from_system.path());
    REQUIRE(keys.set("a", "of-folder"));
    REQUIRE(keys.set("b", "of-folder"));
    from_system.write("a", "of-system\n");
    CHECK(must(keys.read("a")) == "of-system");
    CHECK(must(keys.read("b")) == "of-folder");
}
