// What goes wrong in the host itself: the turn ends, the desk goes on, nothing is said twice.
#include <csignal>
#include <stdexcept>

#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;
using daybook::test::patience;

TEST_CASE("an exception in the middle of a turn ends it as failed, and the desk goes on",
          "[turn]") {
    DeskBench bench(
        R"([{"match":"note","text":"let me","calls":[{"name":"add_note","arguments":{"text":"a"}}]},
            {"match":"","text":"fine"}])");
    bench.open();
    for (const std::string at : {"turn_start", "text", "tool_call", "tool_result"}) {
        const auto broken = bench.desk->listen([&](const Json& event) {
            if (event["event"].as_string() == at) {
                throw std::runtime_error("secret words at " + at);
            }
        });
        const std::string trigger = bench.accept("note it " + at);
        const Json end = bench.end_of(trigger);
        bench.settle();
        bench.desk->unlisten(broken);
        INFO(at);
        CHECK(end["outcome"].as_string() == "failed");
        const auto ended = bench.records("turn_end").back();
        CHECK(ended.entry.data["trigger"].as_string() == trigger);
        CHECK(ended.entry.data["outcome"].as_string() == "failed");
        CHECK(ended.entry.data["error"].as_string().starts_with("internal: "));
        CHECK(ended.entry.data["error"].as_string().find("secret words") == std::string::npos);
        CHECK(bench.log().find("secret words at " + at) != std::string::npos);
        CHECK(bench.say("hello")["text"].as_string() == "fine");
    }
    CHECK(bench.desk->status().queued == 0);
}

TEST_CASE("a turn that the journal does not let begin says nothing in the conversation", "[turn]") {
    DeskBench bench;
    bench.add_model("one", R"([{"match":"","text":"fine"}])", R"({"ready_file":"ready.txt"})");
    bench.open();
    const std::string trigger = bench.accept("hello");
    bench.events.wait("waiting");
    bench.events.clear();
    bench.os.fail_syncs(true);
    bench.folder.write("workspace/main/ready.txt", "yes");
    CHECK(bench.events.wait("waiting")["reason"].as_string().find("journal") != std::string::npos);
    const auto lines = bench.session("2026-10-19-1");
    CHECK(lines.size() == 1);
    bench.stop_hard();
    bench.os.heal();
    bench.open();
    bench.settle();
    const auto after = bench.session("2026-10-19-1");
    CHECK(std::count_if(after.begin(), after.end(), [](const SessionRecord& record) {
              return record.kind == "trigger";
          }) == 1);
    CHECK(bench.records("turn_end").back().entry.data["trigger"].as_string() == trigger);
}

TEST_CASE("a nested call ends with the process of its caller", "[turn]") {
    DeskBench bench;
    for (const std::string plugin : {"nest_a", "nest_b", "hang"}) {
        bench.desk_config.plugins.push_back(plugin);
        bench.config.plugins[plugin].name = plugin;
    }
    bench.config.host.call_timeout = std::chrono::minutes(10);
    bench.open();
    std::thread killer([&] {
        const auto is_up = [&](const std::string& plugin) {
            for (const RunnerStatus& runner : bench.desk->runners()) {
                if (runner.plugin == plugin && runner.calls > 0 && runner.pid > 0) {
                    return runner.pid;
                }
            }
            return -1;
        };
        while (is_up("hang") < 0 && std::chrono::steady_clock::now() < patience()) {
            std::this_thread::yield();
        }
        ::kill(is_up("nest_a"), SIGKILL);
    });
    const auto answer =
        bench.call_tool("nest_a", R"({"tool":"nest_b","args":{"tool":"hang","args":{}}})");
    killer.join();
    REQUIRE_FALSE(answer.result);
    CHECK(answer.result.error().code() == Errc::plugin_crashed);
}
