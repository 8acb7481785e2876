// A plugin's file that is exchanged while a desk works.
#include <algorithm>

#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

constexpr const char* kTwoCalls =
    R"([{"after":"which","text":"done"},
        {"calls":[{"name":"which","arguments":{}},{"name":"which","arguments":{}}]}])";

PluginEntry other_file(const DeskBench& bench, const std::string& file) {
    PluginConfig plugin = bench.config.plugins.at("swap");
    plugin.file = file;
    const std::filesystem::path fixtures =
        std::filesystem::path(DAYBOOK_BUILD_DIR) / "lib/daybook/fixtures";
    LinuxOs os;
    return must(
        Registry::read_entry(os, {{fixtures}, bench.folder.path(), {fixtures}, {}}, plugin));
}

std::vector<std::string> answers(const DeskBench& bench) {
    std::vector<std::string> texts;
    for (const Json& event : bench.events.all("tool_result")) {
        texts.push_back(event["text"].as_string());
    }
    return texts;
}

std::size_t live_runners(const Desk& desk) {
    const auto runners = desk.runners();
    return static_cast<std::size_t>(
        std::count_if(runners.begin(), runners.end(), [](const RunnerStatus& runner) {
            return runner.plugin == "swap" && runner.pid >= 0;
        }));
}

}  // namespace

TEST_CASE("a turn ends on the file it began with, and the next one has the new file and its tools",
          "[turn]") {
    DeskBench bench(kTwoCalls);
    bench.config.plugins["swap"].name = "swap";
    bench.config.plugins["swap"].file = "swap_1.so";
    bench.desk_config.plugins.emplace_back("swap");
    Desk& desk = bench.open();
    const PluginEntry second = other_file(bench, "swap_2.so");
    REQUIRE(second.refused.empty());
    bool is_put = false;
    desk.listen([&](const Json& event) {
        if (event["event"].as_string() == "tool_result" && !is_put) {
            is_put = true;
            bench.registry->put(second);
        }
    });
    bench.say("Which is it?");
    auto texts = answers(bench);
    REQUIRE(texts.size() == 2);
    CHECK_THAT(texts[0], Contains("1.0.0"));
    CHECK_THAT(texts[1], Contains("1.0.0"));
    bench.events.clear();
    bench.say("And now?");
    texts = answers(bench);
    REQUIRE(texts.size() == 2);
    CHECK_THAT(texts[0], Contains("2.0.0"));
    CHECK_THAT(texts[1], Contains("2.0.0"));
    CHECK(desk.tools().contains("extra"));
    // The old runner is asked to finish and does; nobody waits for it.
    const auto end = patience();
    while (live_runners(desk) > 1 && std::chrono::steady_clock::now() < end) {
        bench.call_tool("which", "{}");
    }
    CHECK(live_runners(desk) == 1);
}

TEST_CASE("a plugin that is switched off leaves a desk its other tools, and comes back", "[turn]") {
    DeskBench bench;
    bench.config.plugins["swap"].name = "swap";
    bench.config.plugins["swap"].file = "swap_1.so";
    bench.desk_config.plugins.emplace_back("swap");
    bench.open();
    REQUIRE(bench.call_tool("which", "{}").result);
    const PluginEntry before = *bench.registry->find("swap");
    PluginEntry off = before;
    off.refused = "switched off by the owner";
    bench.registry->put(off);
    CHECK_FALSE(bench.call_tool("which", "{}").result);
    CHECK(bench.call_tool("echo", "{}").result);
    bench.registry->put(before);
    CHECK(bench.call_tool("which", "{}").result);
}
