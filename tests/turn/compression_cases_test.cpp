// What may go wrong around a compression, and what it must never do.
#include <filesystem>

#include "tests/turn/compress_bench.hpp"

using namespace daybook;
using daybook::test::CompressBench;
using daybook::test::DeskBench;
using daybook::test::kScript;

namespace {

std::string script_with(const std::string& first) {
    return "[" + first + "," + std::string(kScript).substr(1);
}

Json last_compress(const DeskBench& bench) {
    const auto records = bench.records("compress");
    return records.empty() ? Json() : records.back().entry.data;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

}  // namespace

TEST_CASE("after a restart the model sees the compressed conversation, and the meter goes on",
          "[turn]") {
    CompressBench bench;
    bench.open();
    const int said = bench.say_until(1);
    bench.stop_hard();
    bench.open();
    const std::string messages = bench.say("messages")["text"].as_string();
    CHECK(messages.find("m-1 ") == std::string::npos);
    CHECK(messages.find("m-" + std::to_string(said - 1) + " ") != std::string::npos);
    const std::string parts = bench.say("parts")["text"].as_string();
    CHECK(parts.find("m-1") != std::string::npos);
    CHECK(bench.records("compress").size() == 1);
}

TEST_CASE("the summary's input holds the pinned rules, and Memory.md is read again (M12)",
          "[turn]") {
    CompressBench bench(script_with(R"({"kind":"summary","match":"","echo":"parts"})"), 6000);
    std::filesystem::create_directories(bench.folder / "workspace/main");
    bench.folder.write("workspace/main/Memory.md", "- never average down\n");
    bench.open();
    bench.say_until(1);
    const auto lines = bench.session("2026-10-19-1");
    const auto view = std::find_if(lines.begin(), lines.end(), [](const SessionRecord& line) {
        return line.kind == "compress";
    });
    REQUIRE(view != lines.end());
    CHECK(view->text.find("never average down") != std::string::npos);
    CHECK(view->text.find("Be brief.") != std::string::npos);
    bench.folder.write("workspace/main/Memory.md", "- changed since\n");
    CHECK(bench.say("parts")["text"].as_string().find("changed since") != std::string::npos);
}

TEST_CASE("a failed, cut or empty summary leaves the conversation as it was and says so",
          "[turn]") {
    const std::string answer = GENERATE(
        std::string(
            R"({"kind":"summary","match":"","text":"HALF","error":{"class":"truncated","message":"cut off"}})"),
        std::string(R"({"kind":"summary","match":"","text":"  \n"})"),
        std::string(R"({"kind":"summary","match":"","text":"<tool_call>x"})"),
        std::string(R"({"kind":"summary","match":"","calls":[{"name":"place","arguments":{}}]})"));
    INFO(answer);
    CompressBench bench(script_with(answer));
    bench.open();
    const int said = bench.say_until(1);
    const Json failed = last_compress(bench);
    CHECK(failed["outcome"].as_string() == "failed");
    CHECK_FALSE(failed["error"].as_string().empty());
    CHECK(bench.events.all("compress").front()["outcome"].as_string() == "failed");
    const auto flushes = bench.turns("flush").size();
    const std::string messages = bench.say("messages")["text"].as_string();
    CHECK(messages.find("m-1 ") != std::string::npos);
    CHECK(messages.find("m-" + std::to_string(said - 1) + " ") != std::string::npos);
    CHECK(messages.find("HALF") == std::string::npos);
    CHECK(flushes == 1);
    CHECK(bench.records("effect_intent").empty());
}

TEST_CASE("a failed compression waits for more and more turns: no loop", "[turn]") {
    CompressBench bench(
        script_with(
            R"({"kind":"summary","match":"","error":{"class":"model_fault","message":"broken"}})"),
        20000);
    bench.open();
    bench.say_until(1, 1, 8000);
    for (int turn = 0; turn < 7; ++turn) {
        bench.say("and on");
    }
    bench.settle();
    // Tried before the turn that passed the mark, then before the 1st, the 3rd and the 7th after
    // it.
    CHECK(bench.records("compress").size() == 4);
}

TEST_CASE("a flush that saves nothing says why (M08)", "[turn]") {
    CompressBench bench(
        script_with(R"({"kind":"flush","match":"","text":"All of it stands in the notes."})"));
    bench.open();
    bench.say_until(1);
    const Json data = last_compress(bench);
    CHECK(data["outcome"].as_string() == "completed");
    CHECK(data["flush"]["notes"].as_integer() == 0);
    CHECK(data["flush"]["why"].as_string() == "All of it stands in the notes.");
    const auto end = bench.turns("flush", "turn_end").at(0).entry.data;
    CHECK(end["notes"].as_integer() == 0);
}

TEST_CASE("a desk that cannot write a note compresses without a flush, loudly (M09 M10)",
          "[turn]") {
    CompressBench bench;
    bench.desk_config.plugins = {"echo"};
    bench.open();
    bench.say_until(1);
    const Json data = last_compress(bench);
    CHECK(data["outcome"].as_string() == "completed");
    CHECK(data["flush"]["outcome"].as_string() == "not possible");
    CHECK(data["flush"]["why"].as_string().find("add_note") != std::string::npos);
    CHECK(bench.turns("flush").empty());
}

TEST_CASE("a flush that fails stops the compression; the conversation stays", "[turn]") {
    CompressBench bench(
        script_with(
            R"({"kind":"flush","match":"","error":{"class":"overloaded","message":"busy"}})"),
        20000);
    bench.open();
    bench.say_until(1, 1, 2000);
    const Json data = last_compress(bench);
    CHECK(data["outcome"].as_string() == "failed");
    CHECK(data["flush"]["outcome"].as_string() == "failed");
    CHECK(bench.turns("summary").empty());
}

TEST_CASE("no quiet turn reaches outside, whatever it calls (P5 M06 M07)", "[turn]") {
    CompressBench bench(script_with(R"(
      {"kind":"flush","match":"","calls":[
        {"name":"place","arguments":{}},{"name":"place_and_crash","arguments":{}},
        {"name":"write_file","arguments":{"path":"notes/2026-10-19.md","text":"gone"}},
        {"name":"write_file","arguments":{"path":"Memory.md","text":"gone"}},
        {"name":"edit_file","arguments":{"path":"memory/x.md","old":"a","new":"b"}},
        {"name":"add_note","arguments":{"text":"kept by $turn"}}]},
      {"kind":"summary","match":"","calls":[{"name":"place","arguments":{}}]})"));
    bench.open();
    bench.say("note");
    const auto before = bench.call_tool("add_note", R"({"text":"first of the day"})");
    REQUIRE(before.result);
    bench.say_until(1);
    CHECK(bench.records("effect_intent").empty());
    CHECK(bench.records("order").empty());
    const auto refused = bench.records("write_refused");
    CHECK(std::count_if(refused.begin(), refused.end(), [](const JournalRecord& record) {
              return record.entry.data["rule"].as_string() == "turn" &&
                     record.entry.data["tool"].as_string() == "write_file" &&
                     record.entry.data["allowed"].as_string() == "add_note, edit_file only";
          }) == 2);
    const std::string notes = bench.folder.read("workspace/main/notes/2026-10-19.md");
    CHECK(count(notes, "first of the day") == 1);
    CHECK(count(notes, "kept by t-") == 1);
    CHECK_FALSE(std::filesystem::exists(bench.folder / "workspace/main/Memory.md"));
}

TEST_CASE("over 85 % in the middle of a turn: at once, no flush, the journal says so (M04)",
          "[turn]") {
    CompressBench bench(script_with(R"(
      {"kind":"message","match":"look","calls":[{"name":"read_file","arguments":{"path":"big.txt"}}]},
      {"after":"read_file","match":"","echo":"messages"})"),
                        6000);
    std::filesystem::create_directories(bench.folder / "workspace/main");
    bench.folder.write("workspace/main/big.txt", std::string(9000, 'b') + "\n");
    bench.open();
    bench.say(CompressBench::words(1, 4000));
    bench.say(CompressBench::words(2, 4000));
    const Json end = bench.say("look");
    CHECK(end["outcome"].as_string() == "completed");
    const Json data = last_compress(bench);
    INFO(data.dump());
    CHECK(data["outcome"].as_string() == "completed");
    CHECK(data["mark"].as_string() == "85");
    CHECK(data["flush"].is_null());
    CHECK(data["no_flush"].as_string() == "in the middle of a turn");
    CHECK(bench.turns("flush").empty());
    // The turn went on with its trigger, its call and the call's result; older words are gone.
    const std::string shown = end["text"].as_string();
    CHECK(shown.find("m-1 ") == std::string::npos);
    CHECK(shown.find("\"look\"") != std::string::npos);
    CHECK(shown.find("tool_calls") != std::string::npos);
    CHECK(shown.find("bbbb") != std::string::npos);
    // They stand in the session for ever.
    CHECK(bench.session_bytes("2026-10-19-1").find("m-1 ") != std::string::npos);
}

TEST_CASE("a backend that says that its window is full is asked once more, compressed", "[turn]") {
    CompressBench bench(
        script_with(
            R"({"match":"look","in_messages":"m-1 ","error":{"class":"overflow","message":"too long"}})"),
        60000);
    bench.open();
    bench.say(CompressBench::words(1, 4000));
    CHECK(bench.say("look")["outcome"].as_string() == "completed");
    CHECK(last_compress(bench)["mark"].as_string() == "overflow");
}

TEST_CASE("a backend that keeps its conversation compacts it itself, after the flush", "[turn]") {
    CompressBench bench(script_with(R"({"match":"m-","session":"s-1","text":"fine"})"),
                        4000,
                        R"({"compacts":[3000,500]})");
    bench.open();
    bench.say_until(1);
    const Json data = last_compress(bench);
    CHECK(data["by"].as_string() == "backend");
    CHECK(data["outcome"].as_string() == "completed");
    CHECK(data["tokens"]["before"].as_integer() == 3000);
    CHECK(data["tokens"]["after"].as_integer() == 500);
    CHECK(data["flush"]["notes"].as_integer() == 1);
    CHECK(bench.turns("summary").empty());
}

TEST_CASE("a compaction that a backend makes by itself is recorded", "[turn]") {
    CompressBench bench(script_with(R"({"match":"look","compacted":[900,100],"text":"fine"})"),
                        60000);
    bench.open();
    bench.say("look");
    const Json data = last_compress(bench);
    CHECK(data["mark"].as_string() == "auto");
    CHECK(data["by"].as_string() == "backend");
    CHECK(data["tokens"]["after"].as_integer() == 100);
}

TEST_CASE("a host that dies around a compression repeats no note and loses no record", "[turn]") {
    bool struck = true;
    for (std::uint64_t nth = 1; struck && nth < 240; nth += 13) {
        INFO("call " << nth);
        CompressBench bench;
        bench.open();
        int number = 1;
        while (number < 6 && bench.events.all("compress").empty()) {
            bench.say(CompressBench::words(number++, 1500));
        }
        REQUIRE(bench.events.all("compress").empty() == (number >= 6));
        bench.settle();
        bench.os.fail_from(nth);
        for (int i = 0; i < 3; ++i) {
            const auto accepted =
                bench.desk->accept(TurnKind::message, CompressBench::words(100 + i, 1500), "", "");
            if (!accepted) {
                break;  // the journal cannot be written
            }
            bench.events.wait([&](const Json& event) {
                const std::string& name = event["event"].as_string();
                return (name == "turn_end" || name == "waiting") &&
                       event["trigger"].as_string() == accepted->trigger;
            });
        }
        struck = bench.os.struck();
        bench.stop_hard();
        bench.os.heal();
        bench.open();
        bench.say(CompressBench::words(200, 1500));
        bench.settle();
        std::size_t in_session = 0;
        for (const SessionRecord& line : bench.session("2026-10-19-1")) {
            in_session += line.kind == "compress" ? 1U : 0U;
        }
        CHECK(bench.records("compress").size() == in_session);
        const std::string notes = bench.folder.read("workspace/main/notes/2026-10-19.md");
        for (const JournalRecord& flush : bench.turns("flush")) {
            CHECK(count(notes, "kept by " + flush.entry.turn + "\n") <= 1);
        }
    }
}

TEST_CASE("a window smaller than the fixed part is a clear error, not a loop", "[turn]") {
    CompressBench bench(kScript, 300);
    bench.open();
    const Json end = bench.say("hello");
    CHECK(end["outcome"].as_string() == "failed");
    CHECK(end["error"].as_string().find("its window has 300") != std::string::npos);
    CHECK(bench.records("compress").empty());
    CHECK(bench.turns("flush").empty());
}
