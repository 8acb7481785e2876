// Every way in which a plugin and this host can fail to fit is told from both sides: the file, what
// was wanted, what was found, what to do (X01, X02, X03, X04, X06, X08).
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/plugin/fixture_plugins.hpp"
#include "tests/support/trust.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

std::string fixture_bytes(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(fixture_folder() / (name + ".so"), std::ios::binary).rdbuf();
    return text.str();
}

/// A folder of plugins made of bytes, loaded as one registry.
struct Shelf {
    TempFolder folder;
    LinuxOs os;

    Shelf() {
        fs::create_directories(folder / "plugins");
        fs::create_directories(folder / "state");
    }
    fs::path put(const std::string& name, const std::string& bytes) {
        const fs::path file = folder / "plugins" / (name + ".so");
        std::ofstream(file, std::ios::binary) << bytes;
        static_cast<void>(trust_plugin(os, folder / "state", file));
        return file;
    }
    Registry load(const std::vector<std::string>& names) {
        return must(
            Registry::load(os, {{folder / "plugins"}, folder / "state"}, config_with(names)));
    }
    std::string reason(const std::string& name) { return load({name}).find(name)->refused; }
};

}  // namespace

TEST_CASE("what does not fit by its bytes alone is refused before anything of it runs (X02, X03)",
          "[plugin]") {
    struct Case {
        const char* fixture;
        const char* wanted;
        const char* found;
        const char* todo;
    };
    const auto each = GENERATE(
        Case{"wrong_major",
             "this host serves ABI 1.0",
             "made for daybook ABI 2.0",
             "Use a build of the plugin for ABI 1"},
        Case{"future_minor",
             "this host serves ABI 1.0",
             "needs host minor >= 9",
             "Upgrade daybook to one that serves ABI 1.9"},
        Case{"wrong_symbol",
             "this host serves ABI 1",
             "made for daybook plugin ABI 2",
             "Rebuild it with this host's SDK"},
        Case{"data_symbol", "wanted a function", "daybook_plugin_v1 is data", "DAYBOOK_PLUGIN"},
        Case{"no_note", "not a daybook plugin", "no manifest note", "build it with"});
    Shelf shelf;
    const fs::path file = shelf.put(each.fixture, fixture_bytes(each.fixture));
    shelf.put("echo", fixture_bytes("echo"));
    const Registry registry = shelf.load({each.fixture, "echo"});
    const std::string& reason = registry.find(each.fixture)->refused;
    INFO(reason);
    CHECK_THAT(reason,
               Contains(file.string()) && Contains(each.wanted) && Contains(each.found) &&
                   Contains(each.todo));
    CHECK(registry.find("echo")->refused.empty());
}

TEST_CASE("a cut-off file and one for another machine are told apart, with both sides",
          "[plugin]") {
    Shelf shelf;
    const std::string whole = fixture_bytes("echo");
    for (const std::size_t size : {std::size_t{3}, std::size_t{40}, std::size_t{100}}) {
        CAPTURE(size);
        shelf.put("cut", whole.substr(0, size));
        CHECK_THAT(shelf.reason("cut"), Contains("ELF"));
    }
    // As an interrupted copy leaves it: its note is there, its code is not.
    for (std::size_t size = 6000; size < whole.size(); size += 11000) {
        CAPTURE(size);
        shelf.put("cut", whole.substr(0, size));
        CHECK_THAT(shelf.reason("cut"),
                   Contains("cut off") && Contains("the file has " + std::to_string(size)) &&
                       Contains("copy it again"));
    }
    std::string other = whole;
    other[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_AARCH64);
    shelf.put("other", other);
    CHECK_THAT(shelf.reason("other"),
               Contains("another architecture (ELF machine 183, this is 62)") &&
                   Contains("use a build for this machine"));
}

TEST_CASE("what only the loader or the descriptor shows is told when its runner starts (X08)",
          "[plugin]") {
    struct Case {
        const char* fixture;
        const char* found;
        const char* todo;
    };
    const auto each = GENERATE(
        Case{"lying_note", "differs from the manifest", "tools[0].description"},
        Case{"missing_symbol",
             "no library it is linked with offers daybook_function_that_is_gone",
             "Link what it uses"},
        Case{"missing_library", "needs the library libdaybook_absent.so", "install it"},
        Case{"frozen_small", "the plugin has struct_size 56", "rebuild"},  // X04
        Case{"unknown_flag", "flag 0x20 needs a newer host ABI than 1.0", "upgrade daybook"});
    Bench bench;
    Fixtures plugins(bench, {each.fixture, "echo"});
    const auto outcome = plugins[each.fixture].call("nothing");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::refused);
    const std::string& reason = outcome.result.error().message();
    INFO(reason);
    CHECK_THAT(reason,
               Contains(std::string("plugin \"") + each.fixture + "\"") &&
                   Contains((fixture_folder() / each.fixture).string() + ".so") &&
                   Contains(each.found) && Contains(each.todo));
    CHECK_THAT(reason, !Contains("Bad file descriptor") && !Contains("Illegal seek"));
    CHECK(plugins[each.fixture].runner.status().state == RunnerState::refused);
    CHECK(plugins["echo"].call("echo").result);
}

TEST_CASE("plugins built long ago or with a later minor load, each seeing what it knows (X01, X06)",
          "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"frozen_1_0", "frozen_1_9", "plain_c"});
    // The later one looks at struct_size and takes its way without the new member.
    for (const char* name : {"frozen_1_0", "frozen_1_9"}) {
        CAPTURE(name);
        const auto outcome = plugins[name].call("frozen");
        INFO((outcome.result ? std::string() : outcome.result.error().message()));
        REQUIRE(outcome.result);
        CHECK(*outcome.result == R"({"newer":false})");
    }
    CHECK(plugins["plain_c"].call("c_echo").result);
}

TEST_CASE("a renamed file is the same plugin, and a link to itself is no second one", "[plugin]") {
    Shelf shelf;
    shelf.put("anything-else", fixture_bytes("echo"));
    fs::create_directories(shelf.folder / "more");
    Config config = config_with({"echo"});
    config.plugins["echo"].file = "anything-else.so";
    fs::create_symlink(shelf.folder / "plugins/anything-else.so",
                       shelf.folder / "more/anything-else.so");
    const Registry registry = must(
        Registry::load(shelf.os,
                       {{shelf.folder / "plugins", shelf.folder / "more"}, shelf.folder / "state"},
                       config));
    CHECK(registry.find("echo")->refused.empty());
    CHECK(registry.find("echo")->manifest.name == "echo");
    CHECK(registry.find("echo")->shadowed.empty());
}
