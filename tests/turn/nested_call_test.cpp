// tools/1 on a whole desk: which tools a plugin may call, what comes back, what is never lent.
#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

namespace {

void add_nests(DeskBench& bench) {
    for (const std::string plugin : {"nest_a", "nest_b"}) {
        bench.desk_config.plugins.push_back(plugin);
        bench.config.plugins[plugin].name = plugin;
    }
    bench.open();
}

std::string asking(const std::string& tool, const std::string& arguments) {
    return R"({"tool":")" + tool + R"(","args":)" + arguments + "}";
}

}  // namespace

TEST_CASE("a tool that the caller's manifest does not name is refused with what it names",
          "[turn]") {
    DeskBench bench;
    add_nests(bench);
    const auto echo = bench.call_tool("nest_a", asking("echo", "{}"));
    REQUIRE_FALSE(echo.result);
    CHECK(echo.result.error().code() == Errc::refused);
    CHECK_THAT(echo.result.error().message(), Contains("call echo"));
    CHECK_THAT(echo.result.error().message(), Contains("plugin nest_a names nest_a, nest_b"));
    // The owner calls the same tool himself: it is the caller that may not.
    CHECK(bench.call_tool("echo", "{}").result.has_value());
    // One level further down it is the inner caller's manifest that counts.
    const auto inner = bench.call_tool("nest_a", asking("nest_b", asking("echo", "{}")));
    REQUIRE_FALSE(inner.result);
    CHECK_THAT(inner.result.error().message(), Contains("plugin nest_b names"));
}

TEST_CASE("a nested result over its bound is an error and never cut", "[turn]") {
    DeskBench bench;
    add_nests(bench);
    const auto large = bench.call_tool("nest_a", asking("blob", R"({"bytes":4300000})"));
    REQUIRE_FALSE(large.result);
    CHECK(large.result.error().code() == Errc::full);
    CHECK_THAT(large.result.error().message(), Contains("4,194,304"));
    const auto fits = bench.call_tool("nest_a", asking("blob", R"({"bytes":100000})"));
    INFO((fits.result ? "" : fits.result.error().message()));
    CHECK(fits.result.has_value());
}

TEST_CASE("a nested call gets neither a file nor a group that its caller lacks", "[turn]") {
    DeskBench bench;
    add_nests(bench);
    const auto note =
        bench.call_tool("nest_a", asking("add_note", R"({"text":"NIFTY opened up"})"));
    REQUIRE_FALSE(note.result);
    CHECK(note.result.error().code() == Errc::refused);
    const auto order = bench.call_tool("nest_a", asking("place", "{}"));
    REQUIRE_FALSE(order.result);
    CHECK(order.result.error().code() == Errc::refused);
    CHECK_THAT(order.result.error().message(), Contains("journal/1"));
    CHECK(bench.records("order").empty());
    CHECK(bench.records("note_written").empty());
}
