// [plugin.NAME.programs.PROGRAM]: what is read, and what is refused with its place.
#include <string>

#include "host/format/config.hpp"
#include "tests/catch.hpp"

using namespace daybook;
using Catch::Matchers::Contains;

TEST_CASE("the owner's programs are read whole", "[format]") {
    const auto config = Config::parse(R"(
[plugin.claude_code.programs.claude]
path = "/usr/bin/claude"
args = ["-p", "--verbose"]
env = {DISABLE_TELEMETRY = "1"}
reads = ["/opt/claude"]
runs = ["/usr/bin/rg"]
network = [8443, 8444]
unconfined_network = true
idle = "1h"
)",
                                      "daybook.toml");
    REQUIRE(config);
    const ProgramConfig& program = config->plugins.at("claude_code").programs.at("claude");
    CHECK(program.path == "/usr/bin/claude");
    CHECK(program.arguments == std::vector<std::string>{"-p", "--verbose"});
    CHECK(program.environment.at("DISABLE_TELEMETRY") == "1");
    CHECK(program.reads.front() == "/opt/claude");
    CHECK(program.runs.front() == "/usr/bin/rg");
    CHECK(program.network == std::vector<std::uint16_t>{8443, 8444});
    CHECK(program.unconfined_network);
    CHECK(program.idle == std::chrono::hours(1));
}

TEST_CASE("a program that is written wrongly is refused with what was expected", "[format]") {
    const auto problem = [](const std::string& lines) {
        const auto config = Config::parse("[plugin.a.programs.b]\n" + lines + "\n", "daybook.toml");
        REQUIRE_FALSE(config);
        return config.error().message();
    };
    CHECK_THAT(problem("args = []"), Contains("absolute path"));
    CHECK_THAT(problem("path = \"claude\""), Contains("absolute path"));
    CHECK_THAT(problem("path = \"/a\"\nargs = \"x\""), Contains("args: expected a list"));
    CHECK_THAT(problem("path = \"/a\"\nenv = {LD_PRELOAD = \"x\"}"), Contains("LD_PRELOAD"));
    CHECK_THAT(problem("path = \"/a\"\nenv = {PATH = \"x\"}"), Contains("PATH may not be set"));
    CHECK_THAT(problem("path = \"/a\"\nreads = [\"b\"]"), Contains("absolute paths"));
    CHECK_THAT(problem("path = \"/a\"\nnetwork = [70000]"), Contains("1 to 65535"));
    CHECK_THAT(problem("path = \"/a\"\nnetwork = true"), Contains("list of TCP ports"));
    CHECK_THAT(problem("path = \"/a\"\nidle = \"0s\""), Contains("idle"));
    CHECK_THAT(problem("path = \"/a\"\nport = 1"), Contains("port"));
}
