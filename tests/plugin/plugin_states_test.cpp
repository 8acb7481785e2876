#include "host/plugin/plugin_states.hpp"

#include <fcntl.h>
#include <string>

#include "host/format/sha256.hpp"
#include "host/plugin/plugin_file.hpp"
#include "tests/catch.hpp"
#include "tests/support/fault_os.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

PluginVersion version(const std::string& bytes, const std::string& number) {
    return {sha256_hex(bytes), number, "/plugins/swap-" + number + ".so"};
}

PluginStates some_states() {
    PluginState state;
    state.current = version("two", "2.0.0");
    state.previous = version("one", "1.0.0");
    state.pinned = true;
    state.passed_over = sha256_hex("three");
    state.probation_since = "2026-12-01T03:00:00Z";
    state.last = "loaded from /plugins/swap-2.0.0.so";
    PluginState off;
    off.off = "disabled";
    off.off_since = "2026-12-01T03:00:00Z";
    return {{"swap", state}, {"echo", off}};
}

}  // namespace

TEST_CASE("what was decided about plugins comes back as it was written", "[plugin]") {
    const TempFolder folder;
    LinuxOs os;
    const UniqueFd dir = must(os.open_root(folder.path()));
    CHECK(must(load_plugin_states(os, dir.get())).states.empty());
    REQUIRE(save_plugin_states(os, dir.get(), some_states()));
    const auto loaded = must(load_plugin_states(os, dir.get()));
    CHECK(loaded.states == some_states());
    CHECK(loaded.note.empty());
}

TEST_CASE("a damaged record of plugins is set aside, and said", "[plugin]") {
    const TempFolder folder;
    LinuxOs os;
    const UniqueFd dir = must(os.open_root(folder.path()));
    for (const char* text : {"{",
                             R"({"state":2,"plugins":{}})",
                             R"({"state":1,"plugins":{"a":{"pinned":true}}})",
                             R"({"state":1,"plugins":{"a":{"current":{"sha256":"x"}}}})",
                             R"({"state":1,"plugins":{"a":{"off":"perhaps"}}})"}) {
        INFO(text);
        folder.write("plugins.state", text);
        const auto loaded = must(load_plugin_states(os, dir.get()));
        CHECK(loaded.states.empty());
        CHECK_THAT(loaded.note, Contains("plugins.state.damaged"));
        CHECK(folder.read("plugins.state.damaged") == text);
    }
}

TEST_CASE("a disk that refuses leaves the record of plugins as it was, or new and whole",
          "[plugin]") {
    for (std::uint64_t nth = 1; nth < 12; ++nth) {
        const TempFolder folder;
        LinuxOs real;
        const UniqueFd dir = must(real.open_root(folder.path()));
        REQUIRE(save_plugin_states(real, dir.get(), {{"echo", some_states().at("echo")}}));
        FaultOs os(real);
        os.fail_call(nth);
        const bool saved = static_cast<bool>(save_plugin_states(os, dir.get(), some_states()));
        const auto found = must(load_plugin_states(real, dir.get())).states;
        INFO(nth);
        CHECK((found == some_states() || (!saved && found.size() == 1)));
    }
}

TEST_CASE("a pinned file stands until another one lies on the plugin path", "[plugin]") {
    const TempFolder folder;
    LinuxOs os;
    const UniqueFd dir = must(os.open_root(folder.path()));
    folder.write("plugins/swap.so", "three");
    PluginConfig config;
    config.name = "swap";
    const PluginState state = some_states().at("swap");
    const std::vector<std::filesystem::path> path = {folder / "plugins"};
    const auto stands = [&] { return pin_stands(os, dir.get(), path, config, state); };
    CHECK_FALSE(stands());  // no copy is kept
    REQUIRE(keep_module(os, dir.get(), "two", sha256_hex("two")));
    CHECK(stands());
    folder.write("plugins/swap.so", "four");
    CHECK_FALSE(stands());
    std::filesystem::remove(folder / "plugins/swap.so");
    CHECK(stands());
}
