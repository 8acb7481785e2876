// Serving: calls, verbs, failures, cancel, deadline, drain, close, and what a bad plugin does to
// its own call only.
#include <chrono>
#include <signal.h>
#include <string>

#include "host/format/json.hpp"
#include "tests/catch.hpp"
#include "tests/runner/runner_driver.hpp"

using namespace daybook;        // NOLINT(google-build-using-namespace)
using namespace daybook::test;  // NOLINT(google-build-using-namespace)
using Catch::Matchers::Contains;

namespace {

std::int64_t from_now(std::chrono::milliseconds after) {
    return (std::chrono::steady_clock::now() + after).time_since_epoch().count();
}

}  // namespace

TEST_CASE("a call returns what the tool returned", "[runner]") {
    const World world;
    RunnerDriver runner(world, "echo");
    REQUIRE(runner.open().empty());
    for (int i = 0; i < 3; ++i) {
        const auto ended = runner.call("echo", R"({"text":"ütf – 8"})");
        REQUIRE(ended.has_value());
        CHECK(ended->ok);
        CHECK(ended->text == R"({"text":"ütf – 8"})");
    }
    const auto unknown = runner.call("no_such_tool", "{}");
    REQUIRE(unknown.has_value());
    CHECK(unknown->status == DAYBOOK_NOT_FOUND);
    CHECK_THAT(unknown->text, Contains("no_such_tool"));
}

TEST_CASE("a large result arrives whole and a too large one becomes a failure", "[runner]") {
    const World world;
    RunnerDriver echo(world, "echo");
    REQUIRE(echo.open().empty());
    const auto large = echo.call("blob", R"({"bytes":3000000})");
    REQUIRE(large.has_value());
    CHECK(large->ok);
    CHECK(large->text.size() > 3000000);

    RunnerDriver flood(world, "flood");
    REQUIRE(flood.open().empty());
    const auto too_large = flood.call("flood_result", "{}");
    REQUIRE(too_large.has_value());
    CHECK(too_large->status == DAYBOOK_FULL);
    CHECK_THAT(too_large->text, Contains("at most 8388608"));
}

TEST_CASE("calls run in the order in which they were sent", "[runner]") {
    const World world;
    RunnerDriver runner(world, "echo");
    REQUIRE(runner.open().empty());
    const auto first = runner.start_call("tool", "slow", R"({"ms":20})");
    const auto second = runner.start_call("tool", "echo", R"({"n":2})");
    CHECK(runner.finish(first)->ok);
    CHECK(runner.finish(second)->text == R"({"n":2})");
}

TEST_CASE("key, deadline, log and progress pass through", "[runner]") {
    const World world;
    RunnerDriver runner(world, "echo");
    REQUIRE(runner.open().empty());
    const auto past = runner.finish(runner.start_call("tool", "tell", "{}", 1));
    REQUIRE(past.has_value());
    CHECK(past->status == DAYBOOK_DEADLINE);  // not even begun
    CHECK(runner.logs.empty());

    const auto later = from_now(std::chrono::minutes(5));
    const auto ended = runner.finish(
        runner.start_call("tool", "tell", R"({"text":"for the operator"})", later, "t-1/1/abc"));
    REQUIRE(ended.has_value());
    CHECK(ended->text == R"({"key":"t-1/1/abc","deadline_ns":)" + std::to_string(later) + "}");
    CHECK(runner.logs == std::vector<std::string>{"for the operator"});
}

TEST_CASE("the host answers the verbs of a call", "[runner]") {
    const World world;
    RunnerDriver runner(world, "writer");
    REQUIRE(runner.open().empty());
    std::string asked;
    const VerbAnswer verbs = [&](const std::string& verb, const Fields& arguments) {
        asked += verb;
        for (const auto& argument : arguments) {
            asked += "|" + argument;
        }
        asked += "\n";
        if (verb == "clock/1.now_ns") {
            return std::pair<std::int64_t, std::string>{DAYBOOK_OK, "1546404300000000000"};
        }
        return std::pair<std::int64_t, std::string>{DAYBOOK_OK, R"({"day":"2019-01-02"})"};
    };
    const auto write = [&](const std::string& arguments) {
        const auto ended = runner.call("write_any", arguments, verbs);
        REQUIRE(ended.has_value());
        CHECK(ended->ok);
    };
    write(R"({"path":"notes/a.md","text":"- one\n","reason":"why"})");
    write(R"({"path":"a.md","target":"b.md","verb":"replace","text":"new","base":"ff"})");
    write(R"({"path":"a.md","verb":"edit","old":"x","new":"y"})");
    CHECK(runner.call("read_any", R"({"path":"Memory.md"})", verbs)->ok);
    CHECK(runner.call("list_any", R"({"folder":"notes"})", verbs)->ok);
    CHECK_THAT(runner.call("tell_time", R"({"day":"2019-01-03"})", verbs)->text,
               Contains("1546404300000000000"));
    CHECK(asked ==
          "desk-files/1.append|notes/a.md||- one\n|why\n"
          "desk-files/1.replace|b.md|ff|new|a test\n"
          "desk-files/1.edit|a.md||x|y|a test\n"
          "desk-files/1.read|Memory.md\n"
          "desk-files/1.list|notes\n"
          "clock/1.describe\n"
          "clock/1.now_ns\n"
          "clock/1.describe\n"
          "clock/1.sessions|2019-01-03\n");
}

TEST_CASE("a refused verb ends the call with the host's status and sentence", "[runner]") {
    const World world;
    RunnerDriver runner(world, "writer");
    REQUIRE(runner.open().empty());
    const auto ended = runner.call(
        "write_any", R"({"path":"notes/a.md","text":"x"})", [](const auto&, const auto&) {
            return std::pair<std::int64_t, std::string>{
                DAYBOOK_REFUSED,
                R"({"error":"refused","message":"write a.md: leash allows b.md only","rule":"leash"})"};
        });
    REQUIRE(ended.has_value());
    CHECK(ended->status == DAYBOOK_REFUSED);
    CHECK(ended->text == "write a.md: leash allows b.md only");
    CHECK_THAT(ended->detail, Contains("\"rule\":\"leash\""));
    CHECK_FALSE(ended->retryable);
}

TEST_CASE("a group that the manifest does not want is not given", "[runner]") {
    const World world;
    RunnerDriver runner(world, "nest_a");
    REQUIRE(runner.open().empty());
    const auto inner = runner.call(
        "nest_a",
        R"({"tool":"nest_b","args":{"x":1}})",
        [](const auto& verb, const auto& arguments) {
            CHECK(verb == "tools/1.call");
            CHECK(arguments == Fields{"nest_b", R"({"x":1})"});
            return std::pair<std::int64_t, std::string>{DAYBOOK_OK, R"({"from":"nest_b"})"};
        });
    REQUIRE(inner.has_value());
    CHECK(inner->text == R"({"from":"nest_a","answer":{"from":"nest_b"}})");

    // Nothing in `echo` wants a group, so its plugin layer has none; `effects` wants the journal
    // and no files.
    RunnerDriver effects(world, "effects");
    REQUIRE(effects.open().empty());
    const auto placed = effects.finish(
        effects.start_call("tool", "place", R"({"symbol":"X"})", 0, "k-1"),
        [](const auto& verb, const auto& arguments) {
            CHECK(verb == "journal/1.append");
            CHECK(arguments.at(0) == "order");
            CHECK(arguments.at(1) == "k-1");
            return std::pair<std::int64_t, std::string>{DAYBOOK_OK, R"({"id":"j-1"})"};
        });
    REQUIRE(placed.has_value());
    CHECK(placed->text == R"({"key":"k-1","receipt":{"id":"j-1"}})");
}

TEST_CASE("a thread that asks after the call ended is told that there is no such call",
          "[runner]") {
    const World world;
    RunnerDriver runner(world, "writer");
    REQUIRE(runner.open().empty());
    bool reached = false;
    const auto ended = runner.call(
        "write_any", R"({"path":"notes/a.md","text":"late","late":true})", [&](auto&, auto&) {
            reached = true;
            return std::pair<std::int64_t, std::string>{DAYBOOK_OK, "{}"};
        });
    REQUIRE(ended.has_value());
    CHECK(ended->ok);
    const auto log = runner.receive();  // the late thread's own report
    REQUIRE(log.has_value());
    REQUIRE(log->type == channel::MessageType::log);
    CHECK(fields_of(log->payload).at(1) ==
          "late write: status " + std::to_string(DAYBOOK_NOT_FOUND));
    CHECK_FALSE(reached);
}

TEST_CASE("nothing is said of a call after its last message", "[runner]") {
    // The host ends a runner that speaks of a call that is over; threads that ask at the last
    // moment must not do it.
    const World world;
    RunnerDriver runner(world, "writer");
    REQUIRE(runner.open().empty());
    for (int i = 0; i < 100; ++i) {
        const auto call =
            runner.start_call("tool", "write_any", R"({"path":"notes/a.md","race":true})");
        const auto ended = runner.finish(call, [](const auto&, const auto&) {
            return std::pair<std::int64_t, std::string>{DAYBOOK_OK, "{}"};
        });
        REQUIRE(ended.has_value());
        // Until the next call's message comes: whatever of this call came late would be read before
        // it.
        const auto next = runner.start_call("tool", "list_any", "{}");
        while (true) {
            const auto message = runner.receive();
            REQUIRE(message.has_value());
            REQUIRE(message->call != call);
            if (message->type == channel::MessageType::verb) {
                channel::FieldWriter reply;
                reply.add_number(number_of(fields_of(message->payload).at(0)))
                    .add_number(DAYBOOK_OK)
                    .add("[]");
                runner.send(channel::MessageType::verb_reply, next, reply.take());
            } else if (message->type == channel::MessageType::result) {
                break;
            }
        }
    }
}

TEST_CASE("exceptions end the call and not the process", "[runner]") {
    const World world;
    RunnerDriver runner(world, "crash");
    REQUIRE(runner.open().empty());
    const auto standard = runner.call("throw", "{}");
    REQUIRE(standard.has_value());
    CHECK(standard->status == DAYBOOK_INTERNAL);
    CHECK(standard->text == "boom in plugin");
    const auto odd = runner.call("throw_odd", "{}");
    REQUIRE(odd.has_value());
    CHECK(odd->status == DAYBOOK_INTERNAL);
    const auto silent = runner.call("silent", "{}");
    REQUIRE(silent.has_value());
    CHECK(silent->status == DAYBOOK_INTERNAL);
    CHECK(silent->text == "the plugin returned no result");
}

TEST_CASE("a crash is seen as the end of the channel and of the process", "[runner]") {
    const World world;
    const auto end_of = [&](const char* tool) {
        RunnerDriver runner(world, "crash");
        REQUIRE(runner.open().empty());
        CHECK_FALSE(runner.call(tool, "{}").has_value());
        return runner.wait_end();
    };
#ifdef DAYBOOK_UNDER_SANITIZER
    CHECK(end_of("segv") != 0);  // the sanitizer reports the fault and exits
#else
    CHECK(end_of("segv") == -SIGSEGV);
#endif
    CHECK(end_of("abort") == -SIGABRT);
    CHECK(end_of("throw_raw") == -SIGABRT);
    CHECK(end_of("exit0") == 0);
}

TEST_CASE("of two results the first stands", "[runner]") {
    const World world;
    RunnerDriver runner(world, "garbage");
    REQUIRE(runner.open().empty());
    const auto ended = runner.call("twice", "{}");
    REQUIRE(ended.has_value());
    CHECK(ended->text == R"({"first":true})");
    REQUIRE(runner.logs.size() == 1);
    CHECK_THAT(runner.logs[0], Contains("twice"));
}

TEST_CASE("a cancel reaches a call that looks, also before it began", "[runner]") {
    const World world;
    RunnerDriver runner(world, "echo");
    REQUIRE(runner.open().empty());
    const auto running = runner.start_call("tool", "slow", R"({"ms":60000})");
    const auto waiting = runner.start_call("tool", "echo", "{}");
    while (runner.progress.empty()) {
        const auto message = runner.receive();
        REQUIRE(message.has_value());
        REQUIRE(message->type == channel::MessageType::progress);
        runner.progress.push_back("seen");
    }
    runner.send(channel::MessageType::cancel, waiting);
    runner.send(channel::MessageType::cancel, running);
    CHECK(runner.finish(running)->status == DAYBOOK_CANCELLED);
    CHECK(runner.finish(waiting)->status == DAYBOOK_CANCELLED);
    CHECK(runner.call("echo", "{}")->ok);
}

TEST_CASE("a deadline ends a call that looks", "[runner]") {
    const World world;
    RunnerDriver runner(world, "echo");
    REQUIRE(runner.open().empty());
    const auto call = runner.start_call(
        "tool", "slow", R"({"ms":60000})", from_now(std::chrono::milliseconds(50)));
    CHECK(runner.finish(call)->status == DAYBOOK_DEADLINE);
}

TEST_CASE("drain is answered after the calls before it, and close ends with code 0", "[runner]") {
    const World world;
    RunnerDriver runner(world, "echo");
    REQUIRE(runner.open().empty());
    const auto call = runner.start_call("tool", "slow", R"({"ms":20})");
    runner.send(channel::MessageType::drain);
    CHECK(runner.finish(call)->ok);
    CHECK(runner.receive()->type == channel::MessageType::drained);
    runner.send(channel::MessageType::close);
    CHECK_FALSE(runner.receive().has_value());
    CHECK(runner.wait_end() == 0);
}

TEST_CASE("a message that only a runner sends ends the runner", "[runner]") {
    const World world;
    RunnerDriver runner(world, "echo");
    REQUIRE(runner.open().empty());
    runner.send(channel::MessageType::ready);
    CHECK_FALSE(runner.receive().has_value());
    CHECK(runner.wait_end() == 79);
}

TEST_CASE("a plugin in plain C is served", "[runner]") {
    const World world;
    RunnerDriver runner(world, "plain_c");
    REQUIRE(runner.open().empty());
    CHECK(runner.call("c_echo", R"({"a":[1,2]})")->text == R"({"a":[1,2]})");
}

namespace {

Ended turn(RunnerDriver& runner, const std::string& request) {
    runner.events.clear();
    const auto ended = runner.finish(runner.start_call("model.turn", "teller", request));
    REQUIRE(ended.has_value());
    return *ended;
}

}  // namespace

TEST_CASE("a model's turn is a stream of events that ends once", "[runner]") {
    const World world;
    RunnerDriver runner(world, "teller");
    REQUIRE(runner.open(R"({"window":8192})").empty());

    CHECK(turn(runner, R"({"do":"answer","text":"hi"})").ok);
    CHECK(runner.events == std::vector<Fields>{{"session", "s-1"},
                                               {"reasoning", "thinking"},
                                               {"text", "hi"},
                                               {"text", "!"},
                                               {"usage", "1", "10", "2", "-1", "-1"},
                                               {"end", "completed"}});
    CHECK(turn(runner, R"({"do":"tool","name":"echo","args":{"a":1}})").ok);
    CHECK(runner.events ==
          std::vector<Fields>{{"tool_call", "t1", "echo", R"({"a":1})"}, {"end", "tool_calls"}});

    CHECK(turn(runner, R"({"do":"fail"})").status == DAYBOOK_RATE_LIMITED);
    CHECK(runner.events == std::vector<Fields>{{"error", "overloaded", "come back later"}});
    CHECK(turn(runner, R"({"do":"throw"})").text == "the backend lost its mind");
    CHECK(runner.events.back() == Fields{"error", "model_fault", "the backend lost its mind"});
    CHECK(turn(runner, R"({"do":"silent"})").status == DAYBOOK_NO_ANSWER);
    CHECK(runner.events.back() ==
          Fields{"error", "no_answer", "the backend ended without an answer"});
    CHECK(turn(runner, R"({"do":"after_end"})").status == DAYBOOK_INVALID);
    CHECK(runner.events == std::vector<Fields>{{"end", "completed"}});
}

TEST_CASE("a model is asked for its readiness, window and count", "[runner]") {
    const World world;
    RunnerDriver runner(world, "teller");
    REQUIRE(runner.open(R"({"window":8192})").empty());
    const auto ask = [&](const char* kind, const char* arguments) {
        return *runner.finish(runner.start_call(kind, "teller", arguments));
    };
    CHECK(ask("model.ready", "{}").text == R"({"ready":true})");
    CHECK(ask("model.window", R"({"model":"big"})").text == R"({"window":8192})");
    CHECK(ask("model.window", R"({"model":"small"})").text == R"({"window":100})");
    CHECK_THAT(ask("model.count", R"({"messages":[]})").text, Contains("\"input\":15"));
    CHECK(ask("model.compact", R"({"instruction":"be short"})").ok);
    CHECK(runner.events.at(0) == Fields{"compacted", "1000", "100"});
    CHECK(runner.events.at(1) == Fields{"text", "be short"});
    CHECK(ask("model.dance", "{}").status == DAYBOOK_UNSUPPORTED);

    RunnerDriver lost(world, "teller");
    REQUIRE(lost.open(R"({"window":0})").empty());
    const auto ready = *lost.finish(lost.start_call("model.ready", "teller", "{}"));
    CHECK(ready.status == DAYBOOK_UNAVAILABLE);
    CHECK(ready.retryable);
}

TEST_CASE("cancelling a turn calls the model's cancel", "[runner]") {
    const World world;
    RunnerDriver runner(world, "teller");
    REQUIRE(runner.open().empty());
    const auto call = runner.start_call("model.turn", "teller", R"({"do":"wait"})");
    const auto begun = runner.receive();
    REQUIRE(begun.has_value());
    REQUIRE(begun->type == channel::MessageType::event);
    runner.send(channel::MessageType::cancel, call);
    const auto ended = runner.finish(call);
    REQUIRE(ended.has_value());
    CHECK(ended->status == DAYBOOK_CANCELLED);
    CHECK(runner.events.back().at(1) == "cancelled");
}
