// Start: the walls are reported, and every way of not starting has its sentence.
#include <algorithm>
#include <signal.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/format/json.hpp"
#include "tests/catch.hpp"
#include "tests/runner/runner_driver.hpp"

using namespace daybook;        // NOLINT(google-build-using-namespace)
using namespace daybook::test;  // NOLINT(google-build-using-namespace)
using Catch::Matchers::Contains;

namespace {

int kernel_landlock() {
    return static_cast<int>(::syscall(444L, nullptr, std::size_t{0}, 1U));
}

Json parsed(const std::string& text) {
    auto json = Json::parse(text);
    REQUIRE(json);
    return *json;
}

}  // namespace

TEST_CASE("the ready message reports the walls and the descriptor", "[runner]") {
    const World world;
    RunnerDriver runner(world, "echo");
    REQUIRE(runner.first().type == channel::MessageType::ready);
    const Json walls = parsed(runner.walls);
    CHECK(walls["landlock"].as_integer() == std::min(kernel_landlock(), 7));
    CHECK(walls["seccomp"].as_integer() == 1);
    CHECK(walls["profile"].as_string() == "pure");
    CHECK(walls["isolation"].as_string() == "required");
    CHECK(walls["probes"].as_integer() == 5);
    const Json descriptor = parsed(runner.descriptor);
    CHECK(descriptor["name"].as_string() == "echo");
    CHECK(descriptor["tools"].items().size() == 4);
    CHECK(descriptor["tools"].items()[0]["flags"].items().size() == 1);
}

TEST_CASE("without isolation the runner says that no wall stands", "[runner]") {
    const World world;
    RunnerDriver runner(world, "echo", {.isolation = "off"});
    REQUIRE(runner.first().type == channel::MessageType::ready);
    const Json walls = parsed(runner.walls);
    CHECK(walls["landlock"].as_integer(-1) == 0);
    CHECK(walls["seccomp"].as_integer(-1) == 0);
    CHECK(walls["isolation"].as_string() == "off");
}

TEST_CASE("a granted folder can be read and a missing one is named", "[runner]") {
    const World world;
    world.folder().write("prices/bars.csv", "1,2\n");
    const std::string prices = (world.folder() / "prices").string();
    RunnerDriver runner(
        world, "hostile", {.arguments = {"--read", prices, "--read", prices + "-none"}});
    REQUIRE(runner.open().empty());
    CHECK(parsed(runner.walls)["missing_reads"].items().at(0).as_string() == prices + "-none");
    CHECK(
        runner.call("attempt", R"({"what":"read_own","path":")" + prices + "/bars.csv\"}")->text ==
        R"({"ok":true})");
    CHECK(runner.call("attempt", R"({"what":"open_write","path":")" + prices + "/bars.csv\"}")
              ->text != R"({"ok":true})");
}

TEST_CASE("a plugin that cannot be served is refused with its reason", "[runner]") {
    struct Refusal {
        const char* module;
        const char* step;
        const char* words;
        int exit_code;
    };
    const auto refusal = GENERATE(
        Refusal{"wrong_major",
                "manifest: ",
                "made for daybook plugin ABI 2; this host serves ABI 1.0",
                75},
        Refusal{"wrong_symbol",
                "load: ",
                "made for daybook plugin ABI 2; this host serves ABI 1.0",
                76},
        Refusal{"future_minor", "manifest: ", "needs host minor >= 9; this host serves 1.0", 75},
        Refusal{"data_symbol", "load: ", "daybook_plugin_v1 is data, not a function", 76},
        Refusal{"no_note", "manifest: ", "not a daybook plugin", 75},
        Refusal{
            "lying_note", "descriptor: ", "differs from the manifest in tools[0].description", 77},
        Refusal{"null_descriptor", "load: ", "cannot work with daybook ABI 1.0", 76},
        Refusal{"unknown_flag", "descriptor: ", "flag 0x20", 77},
        Refusal{"missing_symbol",
                "load: ",
                "no library it is linked with offers daybook_function_that_is_gone",
                76},
        Refusal{"open_fails", "open: ", "the licence file is missing", 78});
    const World world;
    RunnerDriver runner(world, refusal.module);
    const std::string reason = runner.open();
    INFO(refusal.module << ": " << reason);
    CHECK(reason.rfind(refusal.step, 0) == 0);
    CHECK_THAT(reason, Contains(refusal.words));
    CHECK_THAT(reason, !Contains("Bad file descriptor") && !Contains("Illegal seek"));
    CHECK_FALSE(runner.receive().has_value());
    CHECK(runner.wait_end() == refusal.exit_code);
}

TEST_CASE("a file that is no library is refused without a crash", "[runner]") {
    const World world;
    world.folder().write("modules/text.so", "this is a text\n");
    world.folder().write("modules/empty.so", "");
    // The start of a real one: an ELF header whose contents are not there.
    const std::string bytes = contents_of(world.module("echo"));
    world.folder().write("modules/cut.so", bytes.substr(0, 6000));
    for (const char* name : {"text.so", "empty.so", "cut.so", "absent.so"}) {
        RunnerDriver runner(world, (world.folder() / "modules" / name).string());
        const std::string reason = runner.open();
        INFO(name << ": " << reason);
        CHECK_THAT(reason, Contains(name));
        CHECK(runner.wait_end() >= 75);
    }
}

TEST_CASE("a command line that makes no sense is refused", "[runner]") {
    const World world;
    const auto reason = [&](std::vector<std::string> arguments, bool plain = true) {
        RunnerDriver runner(
            world, "echo", {.arguments = std::move(arguments), .plain_desk = plain});
        std::string text = runner.open();
        CHECK(runner.wait_end() == 70);
        return text;
    };
    CHECK_THAT(reason({"--profile", "scratch"}), Contains("--scratch-dir and --scratch-max"));
    CHECK_THAT(reason({"--scratch-dir", "/tmp/x", "--scratch-max", "1"}),
               Contains("belong to profile scratch"));
    CHECK_THAT(reason({"--profile", "scratch", "--scratch-dir", "x", "--scratch-max", "1"}),
               Contains("not absolute: x"));
    CHECK_THAT(reason({"--scratch-max", "-1"}), Contains("--scratch-max is a whole number"));
    CHECK_THAT(reason({"--profile", "loose"}), Contains("profile is pure or scratch"));
    CHECK_THAT(reason({"--isolation", "maybe"}),
               Contains("--isolation is required, seccomp-only or off"));
    CHECK_THAT(reason({"--landlock-cap", "x"}), Contains("--landlock-cap is a whole number"));
    CHECK_THAT(reason({"--colour", "red"}), Contains("unknown option --colour"));
    CHECK_THAT(reason({"--read"}), Contains("--read needs a value"));
    CHECK_THAT(reason({"--module", "relative.so"}), Contains("not absolute: relative.so"));
    CHECK_THAT(reason({}, false), Contains("are needed"));
}

TEST_CASE("a kernel without a wall is refused unless the owner accepts it", "[runner]") {
    constexpr long kCreateRuleset = 444;
    const World world;
    RunnerDriver refused(world, "echo", {.absent_calls = {kCreateRuleset}});
    CHECK_THAT(refused.open(), Contains("landlock: this kernel offers no Landlock"));
    CHECK(refused.wait_end() == 72);

    RunnerDriver accepted(
        world, "echo", {.isolation = "seccomp-only", .absent_calls = {kCreateRuleset}});
    REQUIRE(accepted.open().empty());
    CHECK(parsed(accepted.walls)["landlock"].as_integer(-1) == 0);
    CHECK(parsed(accepted.walls)["seccomp"].as_integer() == 1);

    for (const char* isolation : {"required", "seccomp-only"}) {
        RunnerDriver unfiltered(
            world, "echo", {.isolation = isolation, .absent_calls = {SYS_seccomp}});
        CHECK_THAT(unfiltered.open(),
                   Contains("seccomp: this kernel offers no system call filter"));
        CHECK(unfiltered.wait_end() == 73);
    }
}

TEST_CASE("attach-wait stops before the walls until a debugger continues it", "[runner]") {
    const World world;
    RunnerDriver runner(world, "echo", {.arguments = {"--attach-wait"}});
    int status = 0;
    REQUIRE(::waitpid(runner.pid(), &status, WUNTRACED) == runner.pid());
    REQUIRE(WIFSTOPPED(status));
    REQUIRE(::kill(runner.pid(), SIGCONT) == 0);
    CHECK(runner.open().empty());
    CHECK(runner.call("echo", "{}")->ok);
}
