// A process that breaks the channel's rules is ended, and costs its own call only.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <dirent.h>
#include <fstream>
#include <string>
#include <unistd.h>

#include "tests/plugin/runner_bench.hpp"

using namespace daybook;
using namespace daybook::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

long resident_bytes() {
    std::ifstream in("/proc/self/statm");
    long pages = 0;
    long resident = 0;
    in >> pages >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

long descriptors() {
    long count = 0;
    DIR* folder = ::opendir("/proc/self/fd");
    while (::readdir(folder) != nullptr) {
        ++count;
    }
    ::closedir(folder);
    return count;
}

RunnerSettings impatient(const Bench& bench) {
    RunnerSettings settings = bench.settings(fake_runner());
    settings.restart.first_delay = 0ms;
    settings.restart.breaker = false;
    return settings;
}

}  // namespace

TEST_CASE("a process that breaks the protocol is killed, and the call gets a typed error",
          "[plugin]") {
    const auto [mode, part] = GENERATE(table<std::string, std::string>({
        {"garbage", "version"},
        {"oversized", "a frame is longer than"},
        {"other_call", "which is not one of this runner's"},
        {"no_call", "which is not one of this runner's"},
        {"host_type", "only the host sends"},
        {"bad_result", "a malformed result"},
        {"bad_verb", "a malformed verb"},
        {"half", "a frame of another message inside one that is not complete"},
    }));
    CAPTURE(mode);
    Bench bench;
    Caller bad(bench, fake_plugin(mode), impatient(bench));
    Caller good(bench, fake_plugin("plain"), impatient(bench));
    REQUIRE(good.call("any").result);
    const auto outcome = bad.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::plugin_protocol);
    CHECK_THAT(outcome.result.error().message(), Contains(part));
    CHECK(outcome.took < 5s);
    REQUIRE(bench.wait([&] { return bad.runner.status().pid == -1; }));
    CHECK(bad.runner.status().last_exit == "signal 9 (SIGKILL)");
    CHECK(bad.runner.status().crashes == 1);
    CHECK(good.call("any").result);
}

TEST_CASE("a call's message before the runner is open ends it", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("early"), impatient(bench));
    const auto outcome = caller.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK_THAT(outcome.result.error().message(), Contains("broke the protocol"));
}

TEST_CASE("a second answer to a call ends the process; the first one stands", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("double"), impatient(bench));
    const auto outcome = caller.call("any", R"({"first":true})");
    REQUIRE(outcome.result);
    CHECK(*outcome.result == R"({"first":true})");
    REQUIRE(bench.wait([&] { return caller.runner.status().crashes == 1; }));
    CHECK_THAT(caller.runner.status().reason, Contains("a second answer to call"));
    const auto next = caller.call("any", R"({"next":1})");
    REQUIRE(next.result);
    CHECK(*next.result == R"({"next":1})");
}

TEST_CASE("a verb after its call has ended gets not_found and is never served", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("late"), impatient(bench));
    REQUIRE(caller.call("any").result);
    REQUIRE(bench.wait([&] { return bench.log.has_line("verb 77 answered 2"); }));
    CHECK(caller.verbs.asked.empty());
    CHECK(caller.runner.status().late_messages == 1);
    CHECK(caller.runner.status().state == RunnerState::ready);
    CHECK(caller.call("any").result);
}

TEST_CASE("a result of very many values costs its call, one of very much text passes", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("many_values"), impatient(bench));
    const auto outcome = caller.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::full);
    CHECK_THAT(outcome.result.error().message(), Contains("more than 500000 values"));
    CHECK(caller.runner.status().state == RunnerState::ready);
    Caller texts(bench, fake_plugin("long_text"), impatient(bench));
    const auto text = texts.call("any");
    REQUIRE(text.result);
    CHECK(text.result->size() == 2000002);
}

TEST_CASE("a result that is not JSON fails the call and not the process", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("not_json"), impatient(bench));
    const auto outcome = caller.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::plugin_protocol);
    CHECK_THAT(outcome.result.error().message(), Contains("its result is not JSON"));
    CHECK(caller.runner.status().state == RunnerState::ready);
}

TEST_CASE("a process that closes its channel and stays is ended", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("closes"), impatient(bench));
    const auto outcome = caller.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::plugin_crashed);
    CHECK_THAT(outcome.result.error().message(),
               Contains("closed its channel and went on running"));
    CHECK(outcome.took < 5s);
}

TEST_CASE("descriptors that a plugin passes are discarded", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("descriptors"), impatient(bench));
    REQUIRE(caller.call("any").result);  // the inbox and the runner have what they wait with
    const long before = descriptors();
    for (int i = 0; i < 10; ++i) {
        REQUIRE(caller.call("any").result);
    }
    CHECK(descriptors() <= before + 1);  // the I/O thread's watch of the channel comes and goes
}

TEST_CASE("a flood costs bounded memory and its own call, while another runner answers",
          "[plugin]") {
    const std::string mode = GENERATE("flood_progress", "flood_events", "flood_log");
    CAPTURE(mode);
    Bench bench;
    Caller flooder(bench, fake_plugin(mode), impatient(bench));
    Caller other(bench, fake_plugin("plain"), impatient(bench));
    REQUIRE(other.call("any").result);
    const long before = resident_bytes();
    CallWatch watch;
    std::uint64_t seen = 0;
    watch.on_progress = [&](const std::string&) { ++seen; };
    watch.on_event = [&](const ModelEvent&) { ++seen; };
    const auto outcome = flooder.call("any", "{}", 400ms, watch);
    REQUIRE_FALSE(outcome.result);
    const Errc code = outcome.result.error().code();
    CHECK((code == Errc::deadline || code == Errc::plugin_protocol));
    CHECK(outcome.took < 5s);
    CHECK(resident_bytes() - before < 96L * 1024 * 1024);
    CHECK(other.call("any").result);
    CHECK(bench.log.lines().size() <= 250);
}

TEST_CASE("a flood is read no further while the desk's thread is at other work", "[plugin]") {
    Bench bench;
    Caller flooder(bench, fake_plugin("flood_events"), impatient(bench));
    Caller other(bench, fake_plugin("plain"), impatient(bench));
    REQUIRE(flooder.runner.ensure_ready(within(kPatience)));
    const auto call = flooder.runner.attach({[](const channel::Message&) {}, [](const Error&) {}});
    channel::FieldWriter fields;
    fields.add("tool").add("any").add("{}").add_number(0).add("");
    REQUIRE(flooder.runner.send({channel::MessageType::call, call, fields.take()}));
    // The desk's thread does not read the channel now, and the I/O thread leaves that to it: the
    // flood stands in the socket.
    DeskInbox elsewhere;
    const SteadyTime settled = within(50ms);
    elsewhere.serve_until([] { return false; }, settled);
    CHECK(bench.inbox.backlog() <= DeskInbox::kMaxBacklog + 1);
    flooder.runner.kill(Error(Errc::cancelled, "the test is over"));
    flooder.runner.detach(call);
    CHECK(other.call("any").result);
}

TEST_CASE("a process that asks and never reads is ended once its answers pile up", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("never_reads"), impatient(bench));
    Caller other(bench, fake_plugin("plain"), impatient(bench));
    const std::string big(200 * 1024, 'x');
    caller.verbs =
        ScriptedVerbs([&](Leash&, std::string_view, const std::vector<std::string>&, CallOutcome&) {
            return Result<std::string>(big);
        });
    const long before = resident_bytes();
    const auto outcome = caller.call("any");
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::plugin_protocol);
    CHECK_THAT(outcome.result.error().message(), Contains("does not read"));
    CHECK(resident_bytes() - before < 96L * 1024 * 1024);
    CHECK(other.call("any").result);
}

TEST_CASE("a stopped process takes no more than the send queue holds", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("plain"), impatient(bench));
    REQUIRE(caller.runner.ensure_ready(within(kPatience)));
    REQUIRE(::kill(caller.runner.status().pid, SIGSTOP) == 0);
    Result<> sent;
    int messages = 0;
    while (sent && messages < 5000) {
        sent = caller.runner.send({channel::MessageType::verb_reply, 1, std::string(60000, 'x')});
        ++messages;
    }
    REQUIRE_FALSE(sent);
    CHECK(sent.error().code() == Errc::full);
    CHECK(messages <= 300);
    const auto outcome = caller.call("any", "{}", 100ms);
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.took < 5s);
}

TEST_CASE("a stopped process is killed at deadline and grace", "[plugin]") {
    Bench bench;
    Caller caller(bench, fake_plugin("plain"), impatient(bench));
    REQUIRE(caller.call("any").result);
    REQUIRE(::kill(caller.runner.status().pid, SIGSTOP) == 0);
    const auto outcome = caller.call("any", "{}", 100ms);
    REQUIRE_FALSE(outcome.result);
    CHECK(outcome.result.error().code() == Errc::deadline);
    CHECK_THAT(outcome.result.error().message(), Contains("was killed"));
    CHECK(outcome.took >= 400ms);
    CHECK(outcome.took < 5s);
    CHECK(caller.call("any").result);
}
