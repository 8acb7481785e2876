// A desk at work, through the real runner: accept, loop, tools, answers, and what is kept of them.
#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;
using daybook::test::patience;

namespace {

const char* const kNoteScript = R"([
  {"match":"Remember","calls":[{"name":"add_note","arguments":{"text":"wait 20 minutes after a gap"}}],"text":"let me note it"},
  {"after":"add_note","match":"checkpoint","text":"noted"},
  {"after":"add_note","match":"","text":"refused"},
  {"match":"hello","text":"hi there"}])";

std::vector<std::string> kinds(const std::vector<SessionRecord>& records) {
    std::vector<std::string> all;
    for (const SessionRecord& record : records) {
        all.push_back(record.kind);
    }
    return all;
}

}  // namespace

TEST_CASE("a message is answered, and journal and session agree on it", "[turn]") {
    DeskBench bench(R"([{"match":"hello","text":"hi there","session":"b-7"}])");
    bench.open();
    const std::string trigger = bench.accept("hello desk");
    const Json end = bench.end_of(trigger);
    CHECK(end["outcome"].as_string() == "completed");
    CHECK(end["text"].as_string() == "hi there");
    CHECK(end["model"].as_string() == "one");
    bench.settle();
    const auto lines = bench.session("2026-10-19-1");
    CHECK(kinds(lines) == std::vector<std::string>{"opening", "trigger", "answer"});
    CHECK(lines[1].source == Source::owner);
    CHECK(lines[1].extra["trigger"].as_string() == trigger);
    CHECK(lines[2].source == Source::desk);
    CHECK(lines[2].text == "hi there");
    std::vector<std::string> types;
    for (const JournalRecord& record : bench.records()) {
        types.push_back(record.entry.type);
    }
    CHECK(types == std::vector<std::string>{"message", "rollover", "turn_start", "turn_end"});
    const auto ended = bench.records("turn_end").at(0);
    CHECK(ended.entry.data["trigger"].as_string() == trigger);
    CHECK(ended.entry.turn == lines[2].turn);
    CHECK(ended.entry.session == "2026-10-19-1");
    CHECK(bench.desk->sessions().state().backend_sessions.at("one") == "b-7");
    std::string streamed;
    for (const Json& event : bench.events.all("text")) {
        CHECK(event["trigger"].as_string() == trigger);
        streamed += event["text"].as_string();
    }
    CHECK(streamed == "hi there");
    const DeskStatus status = bench.desk->status();
    CHECK(status.state == "idle");
    CHECK(status.model == "one");
    CHECK(status.window == 20000);
    CHECK(status.context_tokens > 0);
    CHECK(status.next_rollover == "2026-10-19T15:45:00+05:30");
}

TEST_CASE("a tool call writes a note under its leash, with one checkpoint's id everywhere",
          "[turn]") {
    DeskBench bench(kNoteScript);
    bench.open();
    const Json end = bench.say("Remember: wait 20 minutes after a gap");
    CHECK(end["text"].as_string() == "noted");
    bench.settle();
    const std::string notes = bench.folder.read("workspace/main/notes/2026-10-19.md");
    CHECK(notes == "- 09:30 wait 20 minutes after a gap\n");
    const auto written = bench.records("note_written");
    REQUIRE(written.size() == 1);
    const std::string checkpoint = written[0].entry.data["checkpoint"].as_string();
    CHECK(must(bench.desk->checkpoints().find(checkpoint)).file == "notes/2026-10-19.md");
    const auto lines = bench.session("2026-10-19-1");
    REQUIRE(kinds(lines) ==
            std::vector<std::string>{"opening", "trigger", "tool_call", "tool_result", "answer"});
    CHECK(must(Json::parse(lines[3].text))["checkpoint"].as_string() == checkpoint);
    CHECK(lines[2].extra["said"].as_string() == "let me note it");
    CHECK(lines[2].turn == written[0].entry.turn);
    const Json result = bench.events.wait("tool_result");
    CHECK(result["checkpoints"].items().at(0).as_string() == checkpoint);
    CHECK(bench.desk->status().notes_today == 1);
}

TEST_CASE(
    "the model gets the parts, today's notes and the conversation so far, and its masked past",
    "[turn]") {
    DeskBench bench(
        R"([{"match":"parts","echo":"parts"},{"match":"messages","echo":"messages"},{"match":"tools","echo":"tools"},
                        {"match":"","text":"fine"}])");
    std::filesystem::create_directories(bench.folder / "workspace/main/notes");
    bench.folder.write("workspace/main/Memory.md", "# Memory\n<!-- hidden -->the gap rule\n");
    bench.folder.write("workspace/main/notes/2026-10-19.md", "- 09:00 an early note\n");
    bench.open();
    const std::string parts = bench.say("parts, please")["text"].as_string();
    CHECK(parts.find("the gap rule") != std::string::npos);
    CHECK(parts.find("hidden") == std::string::npos);
    CHECK(parts.find("an early note") != std::string::npos);
    CHECK(parts.find("trading desk") != std::string::npos);
    CHECK(bench.say("tools?")["text"].as_string().find("\"add_note\"") != std::string::npos);
    bench.say("my card is 4111 1111 1111 1111");
    const std::string messages = bench.say("messages now")["text"].as_string();
    CHECK(messages.find("my card is [masked") != std::string::npos);
    CHECK(messages.find("4111") == std::string::npos);
    const auto shown = must(Json::parse(messages)).items();
    REQUIRE(shown.size() == 7);
    CHECK(shown[0]["source"].as_string() == "owner");
    CHECK(shown[6]["text"].as_string() == "messages now");
}

TEST_CASE("a secret is seen by the turn it came with and stands in no file of record", "[turn]") {
    DeskBench bench(
        R"([{"match":"4111 1111 1111 1111","calls":[{"name":"add_note","arguments":{"text":"card 4111 1111 1111 1111"}}]},
                        {"after":"add_note","match":"refused","text":"that was refused"}])");
    bench.open();
    CHECK(bench.say("Remember my card 4111 1111 1111 1111")["text"].as_string() ==
          "that was refused");
    bench.settle();
    CHECK(bench.records("write_refused").size() == 1);
    CHECK_FALSE(std::filesystem::exists(bench.folder / "workspace/main/notes/2026-10-19.md"));
    for (const std::string file :
         {"journal/main/2026-10-19.jsonl", "sessions/main/2026-10-19-1.jsonl"}) {
        CHECK(bench.folder.read(file).find("4111") == std::string::npos);
    }
}

TEST_CASE("what the model gets wrong in a call comes back as one sentence, and the turn goes on",
          "[turn]") {
    DeskBench bench(R"([
      {"match":"unknown","calls":[{"name":"fly","arguments":{}}]},
      {"match":"schema","calls":[{"name":"add_note","arguments":{"text":5}}]},
      {"match":"crash","calls":[{"name":"segv","arguments":{}}]},
      {"after":"fly","match":"not_found","text":"no such tool"},
      {"after":"add_note","match":"invalid","text":"bad arguments"},
      {"after":"segv","match":"plugin_crashed","text":"it crashed"}])");
    bench.open();
    CHECK(bench.say("unknown tool")["text"].as_string() == "no such tool");
    CHECK(bench.say("schema fault")["text"].as_string() == "bad arguments");
    CHECK(bench.say("crash it")["text"].as_string() == "it crashed");
    bench.settle();
    bool lifecycle = false;
    for (const RunnerStatus& runner : bench.desk->runners()) {
        lifecycle = lifecycle || (runner.plugin == "crash" && runner.crashes == 1);
    }
    CHECK(lifecycle);
}

TEST_CASE("a model that calls tools for ever is stopped after 16 rounds and the owner is told",
          "[turn]") {
    DeskBench bench(R"([{"match":"","calls":[{"name":"list_files","arguments":{}}]},
                        {"after":"list_files","calls":[{"name":"list_files","arguments":{}}]}])");
    bench.open();
    const Json end = bench.say("go");
    CHECK(end["outcome"].as_string() == "failed");
    CHECK(end["error"].as_string().find("16 rounds") != std::string::npos);
    bench.settle();
    CHECK(kinds(bench.session("2026-10-19-1")).back() == "interrupted");
    CHECK(bench.events.all("tool_call").size() == 16);
}

TEST_CASE("a model that fails hands over to the next; partial text is never an answer", "[turn]") {
    DeskBench bench(
        R"([{"match":"fault","text":"half of it","error":{"class":"model_fault","message":"broken"}},
                        {"match":"crash","text":"half of it","crash":true},
                        {"match":"overflow","error":{"class":"overflow","message":"too long"}},
                        {"match":"","text":"one says"}])");
    bench.add_model("two",
                    R"([{"match":"fault","echo":"messages"},{"match":"","text":"two says"}])");
    bench.open();
    const Json fault = bench.say("fault, please");
    CHECK(fault["outcome"].as_string() == "completed");
    CHECK(fault["model"].as_string() == "two");
    CHECK(fault["text"].as_string().find("half of it") == std::string::npos);
    CHECK(fault["attempts"].items().at(0)["class"].as_string() == "model_fault");
    CHECK(bench.say("crash now")["text"].as_string() == "two says");
    const Json overflow = bench.say("overflow");
    CHECK(overflow["outcome"].as_string() == "failed");
    CHECK(overflow["error"].as_string() == "model one: too long");
    CHECK(bench.say("anything")["text"].as_string() == "one says");
    bench.settle();
    for (const SessionRecord& line : bench.session("2026-10-19-1")) {
        CHECK((line.kind != "answer" || line.text.find("half of it") == std::string::npos));
    }
}

TEST_CASE("when every model fails the turn fails with each one's reason", "[turn]") {
    DeskBench bench(R"([{"match":"","error":{"class":"auth","message":"the key was refused"}}])");
    bench.add_model("two", R"([{"match":"","error":{"class":"overloaded","message":"busy now"}}])");
    bench.open();
    const Json end = bench.say("hello");
    CHECK(end["outcome"].as_string() == "failed");
    CHECK(end["error"].as_string() == "model one: the key was refused; model two: busy now");
    CHECK(bench.records("turn_end").at(0).entry.data["outcome"].as_string() == "failed");
}

TEST_CASE(
    "without a ready model the trigger waits, its owner is told why, and it runs when one is ready",
    "[turn]") {
    DeskBench bench;
    bench.add_model(
        "one", R"([{"match":"","text":"late but here"}])", R"({"ready_file":"ready.txt"})");
    bench.open();
    const std::string trigger = bench.accept("hello");
    const Json waiting = bench.events.wait("waiting");
    CHECK(waiting["trigger"].as_string() == trigger);
    CHECK(waiting["models"].items().at(0)["reason"].as_string() ==
          "the file ready.txt is not there");
    CHECK(bench.desk->status().state == "waiting for a model");
    CHECK(bench.desk->status().queued == 1);
    CHECK(bench.records("turn_start").empty());
    bench.folder.write("workspace/main/ready.txt", "yes");
    CHECK(bench.end_of(trigger)["text"].as_string() == "late but here");
    bench.settle();
    CHECK(bench.desk->status().state == "idle");
}

TEST_CASE("a desk without a model says so and keeps what was sent", "[turn]") {
    DeskBench bench;
    bench.desk_config.models.clear();
    bench.open();
    const std::string trigger = bench.accept("hello");
    CHECK(bench.events.wait("waiting")["reason"].as_string().find("lists no model") !=
          std::string::npos);
    bench.stop_hard();
    bench.desk_config.models = {"one"};
    bench.set_script("one", R"([{"match":"hello","text":"hi"}])");
    bench.open();
    bench.settle();
    CHECK(bench.records("turn_end").at(0).entry.data["trigger"].as_string() == trigger);
}

TEST_CASE("a turn is refused before it starts when the disk is low, and runs when there is room",
          "[turn]") {
    DeskBench bench(R"([{"match":"","text":"fine"}])");
    bench.config.host.min_free_bytes = std::uint64_t{1} << 62U;
    bench.open();
    const std::string trigger = bench.accept("hello");
    CHECK(bench.events.wait("waiting")["reason"].as_string().find("low on disk space") !=
          std::string::npos);
    CHECK(bench.desk->status().state == "paused");
    CHECK(bench.records("turn_start").empty());
    bench.stop_hard();
    bench.config.host.min_free_bytes = 1;
    bench.open();
    bench.settle();
    CHECK(bench.records("turn_end").at(0).entry.data["trigger"].as_string() == trigger);
}

TEST_CASE("the owner's tool call is a turn in the journal and no part of the conversation",
          "[turn]") {
    DeskBench bench;
    bench.open();
    const auto answer = bench.call_tool("add_note", R"({"text":"by hand"})");
    REQUIRE(answer.result);
    REQUIRE(answer.checkpoints.size() == 1);
    CHECK(must(Json::parse(*answer.result))["checkpoint"].as_string() == answer.checkpoints[0]);
    CHECK(bench.folder.read("workspace/main/notes/2026-10-19.md") == "- 09:30 by hand\n");
    const auto ended = bench.records("turn_end");
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].entry.turn == answer.turn);
    CHECK(ended[0].entry.data["kind"].as_string() == "owner_call");
    CHECK(must(bench.desk->sessions().list()).empty());
    const auto refused = bench.call_tool("write_file", R"({"path":"../x","text":"y"})");
    CHECK_FALSE(refused.result);
    CHECK(bench.call_tool("nothing", "{}").result.error().code() == Errc::not_found);
    CHECK(bench.call_tool("add_note", "{").result.error().code() == Errc::invalid);
    CHECK(bench.call_tool("add_note", R"({"text":"a","text":"b"})").result.error().code() ==
          Errc::invalid);
}

TEST_CASE("a restored file is what the checkpoint held, and a checkpoint can be taken by hand",
          "[turn]") {
    DeskBench bench;
    bench.open();
    const auto first = bench.call_tool("add_note", R"({"text":"one"})");
    const auto second = bench.call_tool("add_note", R"({"text":"two"})");
    REQUIRE(second.checkpoints.size() == 1);
    Result<Json> restored = Error(Errc::internal, "");
    bench.desk->restore(second.checkpoints[0], "notes/2026-10-19.md", [&](Result<Json> done) {
        restored = std::move(done);
    });
    bench.settle();
    REQUIRE(restored);
    CHECK((*restored)["restored_from"].as_string() == second.checkpoints[0]);
    CHECK(bench.folder.read("workspace/main/notes/2026-10-19.md") == "- 09:30 one\n");
    Result<Json> taken = Error(Errc::internal, "");
    bench.desk->take_checkpoint("before lunch",
                                [&](Result<Json> done) { taken = std::move(done); });
    bench.settle();
    REQUIRE(taken);
    CHECK(must(bench.desk->checkpoints().find((*taken)["checkpoint"].as_string())).kind ==
          "manual");
    CHECK(bench.records("checkpoint").size() == 1);
}

TEST_CASE("a running turn can be interrupted and ends as cancelled", "[turn]") {
    DeskBench bench(R"([{"match":"hang","text":"so ","hang":true},{"match":"","text":"fine"}])");
    bench.open();
    const std::string trigger = bench.accept("hang");
    bench.events.wait("text");
    bench.desk->interrupt("the owner said stop");
    const Json end = bench.end_of(trigger);
    CHECK(end["outcome"].as_string() == "cancelled");
    CHECK(end["error"].as_string() == "the owner said stop");
    CHECK(bench.say("next")["outcome"].as_string() == "completed");
}

TEST_CASE("bad triggers are refused before they are journalled", "[turn]") {
    DeskBench bench;
    bench.open();
    for (const std::string& text : {std::string(),
                                    std::string(" \n"),
                                    std::string("\xFF"),
                                    std::string(100000, 'x'),
                                    std::string("a\0b", 3)}) {
        CHECK(bench.desk->accept(TurnKind::message, text, "", "").error().code() == Errc::invalid);
    }
    CHECK(bench.desk->accept(TurnKind::fold, "x", "", "").error().code() == Errc::invalid);
    CHECK(bench.desk->accept(TurnKind::message, "x", "a\nb", "").error().code() == Errc::invalid);
    bench.settle();
    CHECK(bench.records().empty());
}

TEST_CASE("a full queue refuses before anything is journalled", "[turn]") {
    DeskBench bench;
    bench.desk_config.models.clear();
    bench.config.host.queue_limit = 3;
    bench.open();
    for (int i = 0; i < 3; ++i) {
        bench.accept("hello");
    }
    CHECK(bench.desk->accept(TurnKind::message, "one too many", "", "").error().code() ==
          Errc::full);
    CHECK(bench.records("message").size() == 3);
}

TEST_CASE("a missing calendar or zone keeps this desk from opening, with a sentence", "[turn]") {
    DeskBench bench;
    bench.desk_config.calendar = "nowhere";
    CHECK_THROWS_WITH(bench.open(), Catch::Contains("calendar nowhere: none of these exists"));
    bench.desk_config.calendar = "nse";
    bench.desk_config.zone = "Asia/Nowhere";
    CHECK_THROWS_WITH(bench.open(), Catch::Contains("Asia/Nowhere"));
}

TEST_CASE("the owner's calendar is laid over the shipped one", "[turn]") {
    DeskBench bench;
    bench.folder.write(
        "calendars/nse.json",
        R"({"$schema_version":1,"id":"nse","holidays":[{"date":"2026-10-19","weekday":"Mon","name":"Extra"}]})");
    bench.open();
    CHECK_FALSE(bench.desk->calendar().is_trading_day(must(DeskDate::parse("2026-10-19"))));
    CHECK(bench.desk->calendar().is_trading_day(must(DeskDate::parse("2026-10-21"))));
}

TEST_CASE("Memory.md counts as shown when it is given whole, and not when it is cut", "[turn]") {
    DeskBench bench(
        R"([{"match":"rewrite","calls":[{"name":"write_file","arguments":{"path":"Memory.md","text":"new facts\n"}}]},
                        {"after":"write_file","match":"checkpoint","text":"written"},
                        {"after":"write_file","match":"conflict","text":"conflict"}])");
    std::filesystem::create_directories(bench.folder / "workspace/main");
    bench.folder.write("workspace/main/Memory.md", "old facts <!-- with a comment -->\n");
    bench.open();
    CHECK(bench.say("rewrite it")["text"].as_string() == "written");
    CHECK(bench.folder.read("workspace/main/Memory.md") == "new facts\n");
    const std::string large(30000, 'x');
    bench.folder.write("workspace/main/Memory.md", large + "\n");
    const Json cut = bench.say("rewrite it again");
    CHECK(cut["text"].as_string() == "conflict");
    CHECK(cut["left_out"].items().at(0).as_string() == "memory: 24,576 of 30,001 bytes shown");
    CHECK(bench.folder.read("workspace/main/Memory.md") == large + "\n");
}

TEST_CASE(
    "tools call tools under their own leash; a call back into a busy plugin is refused, never a "
    "deadlock",
    "[turn]") {
    DeskBench bench;
    for (const std::string plugin : {"nest_a", "nest_b", "nest_c", "nest_d", "nest_e"}) {
        bench.desk_config.plugins.push_back(plugin);
        bench.config.plugins[plugin].name = plugin;
    }
    bench.open();
    const auto nested = [](int depth, const std::string& last) {
        std::string arguments = last;
        for (int i = depth; i >= 2; --i) {
            const std::string tool = "nest_" + std::string(1, static_cast<char>('a' + i - 1));
            arguments = R"({"tool":")" + tool + R"(","args":)" + arguments + "}";
        }
        return arguments;
    };
    const auto four = bench.call_tool("nest_a", nested(4, "{}"));
    if (!four.result) {
        FAIL(four.result.error().message());
    }
    CHECK(bench.call_tool("nest_a", nested(5, "{}")).result.error().code() == Errc::refused);
    const auto back =
        bench.call_tool("nest_a", R"({"tool":"nest_b","args":{"tool":"nest_a","args":{}}})");
    CHECK(back.result.error().code() == Errc::busy);
    CHECK(bench.call_tool("nest_a", "{}").result.has_value());
}

TEST_CASE("a desk that has nothing to do has no runner's process of its own making", "[turn]") {
    DeskBench bench;
    bench.open();
    bench.settle();
    CHECK(bench.desk->runners().empty());
}

TEST_CASE("what the owner edited by hand is a checkpoint before the next turn", "[turn]") {
    DeskBench bench(R"([{"match":"","text":"fine"}])");
    bench.open();
    bench.say("first");
    bench.folder.write("workspace/main/Memory.md", "- mine\n");
    bench.say("second");
    const auto newest = must(bench.desk->checkpoints().list(1));
    REQUIRE(newest.size() == 1);
    CHECK(newest[0].kind == "edited");
    const auto path = must(DeskPath::parse("Memory.md"));
    CHECK(must(bench.desk->checkpoints().read(newest[0], path)) == "- mine\n");
    bool is_journalled = false;
    for (const JournalRecord& record : bench.records("checkpoint")) {
        is_journalled =
            is_journalled || record.entry.data["checkpoint"].as_string() == newest[0].id;
    }
    CHECK(is_journalled);
}
