// Calls on real runners with real modules: answers, deadlines, crashes, and what a bad plugin
// costs.
#include "host/plugin/call.hpp"

#include <csignal>

#include "host/format/json.hpp"
#include "tests/plugin/fixture_plugins.hpp"

using namespace daybook;
using namespace daybook::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("a call's arguments and answer pass as they are", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"echo"});
    const std::string arguments =
        R"({"text":"L&T \u20b9 24,350.5","list":[1,2,3],"nested":{"a":null}})";
    const auto outcome = plugins["echo"].call("echo", arguments);
    REQUIRE(outcome.result);
    CHECK(*outcome.result == arguments);
    CHECK_FALSE(outcome.external_effect);
    CHECK(outcome.writes.empty());
    const RunnerStatus status = plugins["echo"].runner.status();
    const auto walls = Json::parse(status.walls);
    REQUIRE(walls);
    CHECK((*walls)["seccomp"].as_integer() == 1);
    CHECK((*walls)["profile"].as_string() == "pure");
}

TEST_CASE("a plugin in plain C answers", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"plain_c"});
    const auto outcome = plugins["plain_c"].call("c_echo", R"({"c":true})");
    REQUIRE(outcome.result);
    CHECK(*outcome.result == R"({"c":true})");
}

TEST_CASE("a call carries its deadline and idempotency key, and its log line comes through",
          "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"echo"});
    const SteadyTime before = within(9000ms);
    const auto outcome = plugins["echo"].call("tell", R"({"text":"hello log"})");
    REQUIRE(outcome.result);
    const auto json = Json::parse(*outcome.result);
    REQUIRE(json);
    CHECK((*json)["key"].as_string() == "key-1");
    const SteadyTime deadline{std::chrono::nanoseconds((*json)["deadline_ns"].as_integer())};
    CHECK(deadline > before);
    CHECK(deadline < before + 10s);
    CHECK(bench.wait([&] { return bench.log.has_line("hello log"); }));
}

TEST_CASE("messages longer than a frame pass both ways", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"echo", "flood"});
    const std::string long_arguments = R"({"text":")" + std::string(3000000, 'a') + R"("})";
    const auto echoed = plugins["echo"].call("echo", long_arguments);
    INFO((echoed.result ? "" : echoed.result.error().message()));
    REQUIRE(echoed.result);
    CHECK(*echoed.result == long_arguments);
    const auto blob = plugins["echo"].call("blob", R"({"bytes":5000000})");
    REQUIRE(blob.result);
    CHECK(blob.result->size() > 5000000);
    const auto too_long = plugins["flood"].call("flood_result");
    REQUIRE_FALSE(too_long.result);
    CHECK(too_long.result.error().code() == Errc::full);
    CHECK(plugins["flood"].runner.status().state == RunnerState::ready);
}

TEST_CASE("an exception in a plugin is its call's failure, and its process goes on", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"crash"});
    Caller& crash = plugins["crash"];
    const auto thrown = crash.call("throw");
    REQUIRE_FALSE(thrown.result);
    CHECK(thrown.result.error().code() == Errc::internal);
    CHECK_THAT(thrown.result.error().message(), Contains("boom in plugin"));
    CHECK_FALSE(crash.call("throw_odd").result);
    const auto silent = crash.call("silent");
    REQUIRE_FALSE(silent.result);
    CHECK_THAT(silent.result.error().message(), Contains("no result"));
    CHECK(crash.runner.status().crashes == 0);
}

TEST_CASE("a crash costs its own call, says how, and the next call works", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"crash", "echo"});
    const auto [tool, how] = GENERATE(table<std::string, std::string>({
        {"segv", "ended by signal 11 (SIGSEGV)"},
        {"abort", "ended by signal 6 (SIGABRT)"},
        {"exit0", "ended with exit code 0 in the middle of a call"},
    }));
    CAPTURE(tool);
    REQUIRE(plugins["echo"].call("echo").result);
    const int other = plugins["echo"].runner.status().pid;
    const auto outcome = plugins["crash"].call(tool);
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::plugin_crashed);
    CHECK(outcome.result.error().message() == "plugin crash: tool " + tool + ": " + how);
    CHECK(outcome.took < 5s);
    CHECK(plugins["echo"].call("echo").result);
    CHECK(plugins["echo"].runner.status().pid == other);
    const auto next = plugins["crash"].call("throw");
    REQUIRE_FALSE(next.result);
    CHECK(next.result.error().code() == Errc::internal);
    CHECK(plugins["crash"].runner.status().restarts == 1);
}

TEST_CASE("a call that looks at its deadline ends within the grace and keeps its process",
          "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"echo"});
    const auto outcome = plugins["echo"].call("slow", R"({"ms":60000})", 150ms);
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::deadline);
    CHECK_THAT(outcome.result.error().message(),
               StartsWith("plugin echo: tool slow: no answer within"));
    CHECK(outcome.took >= 150ms);
    CHECK(outcome.took < 3s);
    CHECK(plugins["echo"].runner.status().state == RunnerState::ready);
    CHECK(plugins["echo"].call("echo").result);
}

// X13: a deadline for the call
TEST_CASE("a call that never looks is killed after deadline and grace", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"hang", "echo"});
    const auto outcome = plugins["hang"].call("hang", "{}", 150ms);
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::deadline);
    CHECK_THAT(outcome.result.error().message(), Contains("was killed"));
    CHECK(outcome.took >= 450ms);
    CHECK(outcome.took < 4s);
    CHECK(plugins["hang"].runner.status().pid == -1);
    CHECK(plugins["echo"].call("echo").result);
}

TEST_CASE("a cancelled call ends as cancelled, whether or not it listens", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"hang", "echo"});
    const auto [plugin, tool] =
        GENERATE(table<std::string, std::string>({{"echo", "slow"}, {"hang", "hang"}}));
    REQUIRE(plugins[plugin].runner.ensure_ready(within(kPatience)));
    CallWatch watch;
    const SteadyTime from = within(50ms);
    watch.is_cancelled = [&] { return std::chrono::steady_clock::now() > from; };
    const auto outcome = plugins[plugin].call(tool, R"({"ms":60000})", 20s, watch);
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::cancelled);
    CHECK(outcome.took < 4s);
}

TEST_CASE("progress reaches whoever watches", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"echo"});
    std::vector<std::string> seen;
    CallWatch watch;
    watch.on_progress = [&](const std::string& text) { seen.push_back(text); };
    REQUIRE(plugins["echo"].call("slow", R"({"ms":1})", 10s, watch).result);
    CHECK(seen == std::vector<std::string>{"waiting"});
}

TEST_CASE("a plugin that writes raw frames is ended, and the next call gets a new process",
          "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"garbage", "echo"});
    const std::string tool = GENERATE("garbage",
                                      "short_frame",
                                      "bad_version",
                                      "oversized",
                                      "foreign_frame",
                                      "bad_fields",
                                      "unknown_id",
                                      "unknown_verb_call",
                                      "host_type");
    CAPTURE(tool);
    const auto outcome = plugins["garbage"].call(tool);
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::plugin_protocol);
    CHECK(outcome.took < 5s);
    REQUIRE(bench.wait([&] { return plugins["garbage"].runner.status().pid == -1; }));
    CHECK(plugins["garbage"].runner.status().crashes == 1);
    CHECK(plugins["echo"].call("echo").result);
    CHECK(plugins["garbage"].call("twice").result);
}

TEST_CASE("of two raw answers the first stands and the process is ended", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"garbage"});
    const auto outcome = plugins["garbage"].call("twice_raw");
    REQUIRE(outcome.result);
    CHECK(*outcome.result == R"({"first":true})");
    CHECK(bench.wait([&] { return plugins["garbage"].runner.status().crashes == 1; }));
}

TEST_CASE("endless frames cost their own call only", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"flood", "echo"});
    const std::string tool = GENERATE("flood_progress", "flood_log");
    CAPTURE(tool);
    const auto outcome = plugins["flood"].call(tool, "{}", 300ms);
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.took < 5s);
    CHECK(plugins["echo"].call("echo").result);
    CHECK(bench.log.lines().size() <= 250);
}

TEST_CASE("a model's turn comes as events in their order", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"teller"});
    REQUIRE(plugins["teller"].runner.ensure_ready(within(kPatience)));
    std::vector<std::string> names;
    std::string text;
    CallWatch watch;
    watch.on_event = [&](const ModelEvent& event) {
        names.push_back(event.name);
        text += event.name == "text" ? event.values.at(0) : "";
    };
    Leash leash;
    leash.deadline = within(kPatience);
    CallRequest request;
    request.kind = "model.turn";
    request.name = "teller";
    request.arguments = R"({"do":"answer","text":"good morning"})";
    ScriptedVerbs verbs;
    const auto outcome = run_call(plugins["teller"].runner,
                                  bench.inbox,
                                  leash,
                                  request,
                                  verbs,
                                  watch,
                                  std::chrono::milliseconds(300));
    REQUIRE(outcome.result);
    CHECK(names ==
          std::vector<std::string>{"session", "reasoning", "text", "text", "usage", "end"});
    CHECK(text == "good morning!");
}

TEST_CASE("a plugin whose constructor says no is refused with its reason", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"open_fails"});
    const auto outcome = plugins["open_fails"].call("never");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::refused);
    CHECK_THAT(outcome.result.error().message(), Contains("the licence file is missing"));
    CHECK(plugins["open_fails"].runner.status().state == RunnerState::refused);
}

TEST_CASE("a module that is not what its note says is refused by name", "[plugin]") {
    const auto [name, part] = GENERATE(table<std::string, std::string>({
        {"lying_note", "manifest"},
        {"unknown_flag", "0x20"},
        {"missing_symbol", "daybook_function_that_is_gone"},
        {"null_descriptor", ""},
    }));
    CAPTURE(name);
    Bench bench;
    Fixtures plugins(bench, {name});
    const auto outcome = plugins[name].call("nothing");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::refused);
    CHECK_THAT(outcome.result.error().message(),
               Contains("plugin \"" + name + "\"") && Contains(part));
}

TEST_CASE("a runner proves its walls on kernels with less Landlock, or refuses", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"echo"});
    RunnerSettings settings = plugins.settings();
    settings.landlock_cap = 2;
    Caller capped(bench, *plugins.registry->find("echo"), settings);
    REQUIRE(capped.call("echo").result);
    const auto walls = Json::parse(capped.runner.status().walls);
    REQUIRE(walls);
    CHECK((*walls)["landlock"].as_integer() <= 2);
}

TEST_CASE("the tools of an idle runner's plugin answer after it was stopped", "[plugin]") {
    Bench bench;
    Fixtures plugins(bench, {"echo"});
    RunnerSettings settings = plugins.settings();
    settings.idle = 0s;
    Caller caller(bench, *plugins.registry->find("echo"), settings);
    REQUIRE(caller.call("echo").result);
    REQUIRE(bench.wait([&] { return caller.runner.status().state == RunnerState::stopped; }));
    CHECK(caller.runner.status().last_exit == "exit code 0");
    CHECK(caller.call("echo").result);
}
