#include "host/plugin/registry.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

#include "host/format/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/plugin/fixture_plugins.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/trust.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

namespace fs = std::filesystem;

/// A home with a plugin folder of its own, filled by copying fixtures; each is trusted as it is
/// then.
struct Home {
    TempFolder folder;
    LinuxOs os;
    Registry::Places places{{folder / "plugins", folder / "more"}, folder / "state"};

    Home() {
        for (const char* name : {"plugins", "more", "state"}) {
            fs::create_directories(folder / name);
        }
    }
    fs::path put(const std::string& fixture,
                 const std::string& as,
                 const std::string& where = "plugins") {
        const fs::path file = folder / where / (as + ".so");
        fs::copy_file(
            fixture_folder() / (fixture + ".so"), file, fs::copy_options::overwrite_existing);
        static_cast<void>(trust_plugin(os, places.state, file));
        return file;
    }
    Registry load(const Config& config) {
        auto registry = Registry::load(os, places, config);
        REQUIRE(registry);
        return std::move(*registry);
    }
    Registry load(const std::vector<std::string>& names) { return load(config_with(names)); }
    std::string reason(const std::string& name) { return load({name}).find(name)->refused; }
};

std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

/// Exchanges text in a file, padded with spaces: another manifest in a module that stays whole.
void exchange(const fs::path& file, const std::string& from, std::string to) {
    REQUIRE(from.size() >= to.size());
    to.resize(from.size(), ' ');
    std::string bytes = read(file);
    const std::size_t at = bytes.find(from);
    REQUIRE(at != std::string::npos);
    bytes.replace(at, from.size(), to);
    std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("a plugin is found, its manifest read without running it, and its file copied by hash",
          "[plugin]") {
    Home home;
    const fs::path file = home.put("writer", "writer");
    const Registry registry = home.load({"writer"});
    const PluginEntry* entry = registry.find("writer");
    REQUIRE(entry != nullptr);
    CHECK(entry->refused.empty());
    CHECK(entry->file == fs::canonical(file));
    CHECK(entry->sha256 == sha256_hex(read(file)));
    CHECK(entry->module == home.folder / "state" / "modules" / (entry->sha256 + ".so"));
    CHECK(read(entry->module) == read(file));
    CHECK(entry->groups == (kDeskFiles | kClock));
    CHECK(entry->manifest.tools.size() == 4);
    struct stat at = {};
    REQUIRE(::stat(entry->module.c_str(), &at) == 0);
    CHECK((at.st_mode & 0777U) == 0444);
}

TEST_CASE("a copy that is there and whole is kept, a damaged one is made again", "[plugin]") {
    Home home;
    home.put("echo", "echo");
    const fs::path module = home.load({"echo"}).find("echo")->module;
    struct stat before = {};
    struct stat after = {};
    REQUIRE(::stat(module.c_str(), &before) == 0);
    home.load({"echo"});
    REQUIRE(::stat(module.c_str(), &after) == 0);
    CHECK(before.st_ino == after.st_ino);
    fs::permissions(module, fs::perms::owner_write, fs::perm_options::add);
    std::ofstream(module, std::ios::binary | std::ios::in) << "damaged";
    const Registry registry = home.load({"echo"});
    CHECK(registry.find("echo")->refused.empty());
    CHECK(sha256_hex(read(module)) == registry.find("echo")->sha256);
}

TEST_CASE("the first match on the path wins and the others are listed as shadowed", "[plugin]") {
    Home home;
    const fs::path first = home.put("echo", "echo", "plugins");
    const fs::path second = home.put("echo", "echo", "more");
    const Registry registry = home.load({"echo"});
    CHECK(registry.find("echo")->file == first);
    CHECK(registry.find("echo")->shadowed == std::vector<fs::path>{second});
    fs::remove(second);
    fs::create_symlink(first, second);
    CHECK(home.load({"echo"}).find("echo")->shadowed.empty());
}

TEST_CASE("a file by another name or an absolute path is used when the configuration says so",
          "[plugin]") {
    Home home;
    home.put("echo", "echo-2");
    const fs::path elsewhere = home.put("writer", "w", "more");
    Config config = config_with({"echo", "writer"});
    config.plugins["echo"].file = "echo-2.so";
    config.plugins["writer"].file = elsewhere.string();
    const Registry registry = home.load(config);
    CHECK(registry.find("echo")->refused.empty());
    CHECK(registry.find("writer")->file == elsewhere);
    config.plugins["echo"].file = "folder/echo-2.so";
    CHECK_THAT(home.load(config).find("echo")->refused,
               Contains("wanted a file name or an absolute path"));
}

TEST_CASE("a plugin that does not load says why, both sides and what to do, and the others load",
          "[plugin]") {
    Home home;
    for (const char* name : {"wrong_major", "future_minor", "no_note", "echo"}) {
        home.put(name, name);
    }
    home.folder.write("plugins/text.so", "this is no library");
    home.folder.write("plugins/empty.so", "");
    const Registry registry =
        home.load({"wrong_major", "future_minor", "no_note", "echo", "text", "empty", "absent"});
    const auto refused = [&](const std::string& name) { return registry.find(name)->refused; };
    CHECK(refused("echo").empty());
    CHECK(refused("wrong_major") ==
          "plugin \"wrong_major\" 1.0.0 (" + (home.folder / "plugins/wrong_major.so").string() +
              "): made for daybook ABI 2.0; this host serves ABI 1.0. Use a build of the plugin "
              "for ABI 1, or a daybook that serves ABI 2");
    CHECK_THAT(refused("future_minor"),
               Contains("plugin \"future_minor\" 3.1.0") &&
                   Contains("needs host minor >= 9; this host serves ABI 1.0") &&
                   Contains("Upgrade daybook to one that serves ABI 1.9, or rebuild") &&
                   Contains("DAYBOOK_ABI_TARGET=1000"));
    CHECK_THAT(refused("no_note"), Contains("not a daybook plugin"));
    CHECK_THAT(refused("text"), Contains("text.so"));
    CHECK_THAT(refused("empty"), Contains("empty.so"));
    CHECK_THAT(refused("absent"),
               Contains("no file absent.so in " + (home.folder / "plugins").string()) &&
                   Contains("[plugin.absent]"));
}

TEST_CASE("a want that this host does not serve is refused by its name", "[plugin]") {
    Home home;
    exchange(home.put("effects", "effects"), "\"daybook.journal/1\"", "\"daybook.journal/2\"");
    CHECK_THAT(home.reason("effects"),
               Contains("wants daybook.journal/2; this host does not serve"));
    exchange(home.put("effects", "effects"),
             "\"wants\":[\"daybook.journal/1\"]",
             "\"wants\":[\"daybook.weather/1\"]");
    CHECK_THAT(
        home.reason("effects"),
        Contains("wants daybook.weather/1; this host does not serve daybook.weather/1 yet") &&
            Contains("remove the want or use a later daybook"));
}

TEST_CASE("a wall profile without its want and an unknown flag are refused by their names",
          "[plugin]") {
    Home home;
    exchange(home.put("echo", "echo"),
             "\"min_host_minor\":0,\"profile\":\"pure\"",
             "\"profile\":\"scratch\"");
    CHECK_THAT(home.reason("echo"),
               Contains("profile \"scratch\"") && Contains("daybook.scratch/1 belong together"));
    exchange(home.put("echo", "echo"), "\"flags\":[\"idempotent\"]", "\"flags\":[\"immediate!\"]");
    CHECK_THAT(home.reason("echo"), Contains("immediate!"));
}

// X15
TEST_CASE("configuration is checked against the plugin's schema before anything runs", "[plugin]") {
    Home home;
    home.put("teller", "teller");
    Config config = config_with({"teller"});
    config.plugins["teller"].config.set("window", "large");
    const std::string reason = home.load(config).find("teller")->refused;
    CHECK_THAT(reason, Contains("[plugin.teller.config]") && Contains("window"));

    config.plugins["teller"].config = Json::object({{"window", 100}});
    const Registry registry = home.load(config);
    DeskConfig desk;
    desk.name = "main";
    const PluginEntry& teller = *registry.find("teller");
    REQUIRE(registry.config_of(teller, desk));
    CHECK(registry.config_of(teller, desk)->dump() == R"({"window":100})");
    desk.plugin_config["teller"] = Json::object({{"window", 7}});
    CHECK(registry.config_of(teller, desk)->dump() == R"({"window":7})");
    desk.plugin_config["teller"] = Json::object({{"window", "small"}});
    const auto wrong = registry.config_of(teller, desk);
    REQUIRE_FALSE(wrong);
    CHECK_THAT(wrong.error().message(), Contains("[desk.main.config.teller]"));
}

TEST_CASE("a file that everybody may write, or replace in its folder, is refused", "[plugin]") {
    Home home;
    const fs::path file = home.put("echo", "echo");
    fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
    CHECK_THAT(home.reason("echo"), Contains("everybody may write it") && Contains("chmod o-w"));
    fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
    CHECK(home.reason("echo").empty());
    fs::permissions(home.folder / "plugins", fs::perms::others_write, fs::perm_options::add);
    CHECK_THAT(home.reason("echo"), Contains("everybody may replace it in its folder"));
    fs::permissions(home.folder / "plugins", fs::perms::sticky_bit, fs::perm_options::add);
    CHECK(home.reason("echo").empty());
}

TEST_CASE("a directory or a pipe in a plugin's place is refused and never waited for", "[plugin]") {
    Home home;
    fs::create_directories(home.folder / "plugins/folder.so");
    REQUIRE(::mkfifo((home.folder / "plugins/pipe.so").c_str(), 0600) == 0);
    CHECK_THAT(home.reason("folder"), Contains("not a regular file"));
    CHECK_THAT(home.reason("pipe"), Contains("not a regular file"));
}

TEST_CASE(
    "plugins that only a desk or a model names have the defaults, and a switched-off one says so",
    "[plugin]") {
    Home home;
    for (const char* name : {"echo", "writer", "teller"}) {
        home.put(name, name);
    }
    Config config = config_with({"writer"});
    config.plugins["writer"].enabled = false;
    config.desks["main"].name = "main";
    config.desks["main"].plugins = {"echo", "writer", "nobody"};
    config.models["m"].name = "m";
    config.models["m"].plugin = "teller";
    const Registry registry = home.load(config);
    CHECK(registry.plugins().size() == 4);
    CHECK_THAT(registry.find("writer")->refused, Contains("enabled = false"));
    const auto tools = registry.tools_of(config.desks["main"]);
    CHECK(tools.size() == 4);
    CHECK(tools.at("echo").plugin->config.name == "echo");
    REQUIRE(registry.model_plugin(config.models["m"]));
    ModelConfig wrong = config.models["m"];
    wrong.plugin = "echo";
    CHECK(registry.model_plugin(wrong).error().code() == Errc::unsupported);
    wrong.plugin = "nobody";
    CHECK(registry.model_plugin(wrong).error().code() == Errc::refused);
    wrong.plugin = "unheard-of";
    CHECK(registry.model_plugin(wrong).error().code() == Errc::not_found);
}

TEST_CASE("the first of a desk's plugins wins a tool's name", "[plugin]") {
    Home home;
    home.put("echo", "one");
    home.put("echo", "two");
    Config config = config_with({"one", "two"});
    DeskConfig desk;
    desk.plugins = {"two", "one"};
    CHECK(home.load(config).tools_of(desk).at("echo").plugin->config.name == "two");
}

TEST_CASE("the default plugin path holds absolute folders only", "[plugin]") {
    ::setenv("DAYBOOK_PLUGIN_PATH", "/one:relative:/two::/one", 1);
    ::setenv("XDG_DATA_HOME", "/data", 1);
    const auto folders = default_plugin_path();
    ::unsetenv("DAYBOOK_PLUGIN_PATH");
    ::unsetenv("XDG_DATA_HOME");
    REQUIRE(folders.size() == 4);
    CHECK(folders[0] == "/one");
    CHECK(folders[1] == "/two");
    CHECK(folders[2] == "/data/daybook/plugins/1");
    CHECK(folders[3] == std::string(DAYBOOK_BUILD_DIR) + "/lib/daybook/plugins/1");
}
