// history/1 and triggers/1 through a whole desk: what the feed gives, from where it goes on, and
// what it takes for rewritten.
#include <fstream>
#include <set>

#include "tests/turn/desk_bench.hpp"

using namespace daybook;
using daybook::test::DeskBench;
using daybook::test::must;

namespace fs = std::filesystem;

namespace {

struct ReaderBench : DeskBench {
    explicit ReaderBench(const std::string& script = R"([{"match":"","text":"noted"}])")
        : DeskBench(script) {
        config.plugins["reader"].name = "reader";
        desk_config.plugins.push_back("reader");
    }
    Json read(const std::string& cursor, std::int64_t records = 0, std::int64_t bytes = 0) {
        const auto answer = call_tool("read_batch",
                                      Json::object()
                                          .set("cursor", cursor)
                                          .set("max_records", records)
                                          .set("max_bytes", bytes)
                                          .dump());
        INFO((answer.result ? "" : answer.result.error().message()));
        REQUIRE(answer.result);
        return must(Json::parse(*answer.result));
    }
    /// Everything from the cursor on, in batches of `records`; the cursor moves on.
    std::vector<Json> read_all(std::string& cursor, std::int64_t records, bool* restart = nullptr) {
        std::vector<Json> found;
        for (int i = 0; i < 2000; ++i) {
            const Json batch = read(cursor, records);
            cursor = batch["cursor"].as_string();
            if (batch["restart"].as_bool()) {
                found.clear();
                if (restart != nullptr) {
                    *restart = true;
                }
            }
            for (const Json& record : batch["records"].items()) {
                // The owner's own calls of this test leave records of their own behind.
                if (record["part"].as_string() != "turn_start" &&
                    record["part"].as_string() != "turn_end") {
                    found.push_back(record);
                }
            }
            if (!batch["more"].as_bool()) {
                return found;
            }
            // A reading is a turn, whose records stand at the end of the feed: a batch of one or
            // two would run after its own tail for ever.
            records = std::max<std::int64_t>(records, 5);
        }
        FAIL("the feed has no end");
        return found;
    }
};

std::vector<std::string> ids_of(const std::vector<Json>& records, const std::string& kind) {
    std::vector<std::string> ids;
    for (const Json& record : records) {
        if (record["kind"].as_string() == kind) {
            ids.push_back(record["id"].as_string());
        }
    }
    return ids;
}

bool has_text(const std::vector<Json>& records, const std::string& kind, const std::string& part) {
    return std::any_of(records.begin(), records.end(), [&](const Json& record) {
        return record["kind"].as_string() == kind &&
               record["text"].as_string().find(part) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("the feed gives exchanges, journal, notes and memory, each with whose words they are",
          "[turn]") {
    ReaderBench bench;
    bench.open();
    bench.folder.write("workspace/main/Memory.md", "# Memory\n\n- gaps fill\n  on quiet days\n");
    bench.folder.write("workspace/main/notes/2026-10-16.md", "- an old note\n- and a second\n");
    bench.folder.write("workspace/main/memory/levels.md", "- 24,350 holds\n");
    bench.folder.write("workspace/main/letter.txt", "the owner's own\n");
    bench.folder.write("sessions/main/summaries/2026-10-16.md", "A day\nof calm.\n\nThe end.\n");
    bench.say("how is NIFTY?");
    bench.say("a gap", TurnKind::alert);
    std::string cursor;
    const auto all = bench.read_all(cursor, 500);
    CHECK(has_text(all, "exchange", "how is NIFTY?"));
    CHECK(has_text(all, "exchange", "noted"));
    CHECK(has_text(all, "memory", "- gaps fill\n  on quiet days"));
    CHECK(has_text(all, "memory", "24,350"));
    CHECK(has_text(all, "note", "an old note"));
    CHECK(has_text(all, "summary", "A day\nof calm."));
    CHECK(has_text(all, "journal", "a gap"));
    CHECK_FALSE(has_text(all, "note", "the owner's own"));
    for (const Json& record : all) {
        const std::string& source = record["source"].as_string();
        if (record["text"].as_string() == "how is NIFTY?") {
            CHECK(source == "owner");
            CHECK(record["day"].as_string() == "2026-10-19");
            CHECK(record["group"].as_string() == "session/2026-10-19-1");
        }
        if (record["kind"].as_string() == "exchange" && record["text"].as_string() == "a gap") {
            CHECK(source == "alert");
        }
    }
    CHECK(ids_of(all, "note") ==
          std::vector<std::string>{"notes/2026-10-16.md:1", "notes/2026-10-16.md:2"});
}

TEST_CASE("batches of any size give the same records once, in the same order", "[turn]") {
    ReaderBench bench;
    bench.open();
    bench.folder.write("workspace/main/Memory.md", "- one\n- two\n- three\n- four\n- five\n");
    bench.say("first");
    bench.say("second");
    bench.close();
    bench.open();
    std::string whole_cursor;
    const auto whole = bench.read_all(whole_cursor, 500);
    for (const std::int64_t size : {1, 2, 7}) {
        std::string cursor;
        const auto pieces = bench.read_all(cursor, size);
        for (const char* kind : {"exchange", "memory", "clear"}) {
            INFO(kind << " in batches of " << size);
            CHECK(ids_of(pieces, kind) == ids_of(whole, kind));
        }
    }
    const auto counted = bench.call_tool("count_history", R"({"max_records":3})");
    REQUIRE(counted.result);
    CHECK(must(Json::parse(*counted.result))["records"].as_integer() > 10);
}

TEST_CASE("a cursor goes on after growth and after a restart of the host", "[turn]") {
    ReaderBench bench;
    bench.open();
    bench.folder.write("workspace/main/Memory.md", "- one\n");
    bench.say("first");
    std::string cursor;
    bench.read_all(cursor, 500);
    bench.close();
    bench.open();
    bench.say("second");
    bench.folder.write("workspace/main/Memory.md", "- two\n");
    bool restart = false;
    auto rest = bench.read_all(cursor, 500, &restart);
    CHECK_FALSE(restart);
    CHECK(has_text(rest, "exchange", "second"));
    CHECK_FALSE(has_text(rest, "exchange", "first"));
    CHECK(ids_of(rest, "clear") == std::vector<std::string>{"memory/Memory.md"});
    CHECK(has_text(rest, "memory", "- two"));

    // A file that is gone is cleared and nothing follows; nothing new is nothing at all.
    fs::remove(bench.folder / "workspace/main/Memory.md");
    rest = bench.read_all(cursor, 500, &restart);
    CHECK(ids_of(rest, "clear") == std::vector<std::string>{"memory/Memory.md"});
    CHECK(ids_of(rest, "memory").empty());
    rest = bench.read_all(cursor, 500, &restart);
    CHECK(rest.empty());
    CHECK_FALSE(restart);
}

TEST_CASE("a foreign cursor, a rewritten file and a forget begin anew", "[turn]") {
    ReaderBench bench;
    bench.open();
    bench.say("the first words");
    std::string good;
    const auto before = bench.read_all(good, 500);
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        return text.replace(text.find(from), from.size(), to);
    };
    const std::vector<std::string> wrongs{"nonsense",
                                          R"({"v":9})",
                                          changed("\"main\"", "\"mine\""),
                                          changed("2026-10-19-1", "../../../etc")};
    for (const std::string& wrong : wrongs) {
        INFO(wrong);
        std::string cursor = wrong;
        bool restart = false;
        const auto again = bench.read_all(cursor, 500, &restart);
        CHECK(restart);
        CHECK(ids_of(again, "exchange") == ids_of(before, "exchange"));
    }
    // Put back from a backup: other bytes stand where the cursor has been.
    bench.close();
    const fs::path file = bench.folder / "sessions/main/2026-10-19-1.jsonl";
    std::string text = test::must(read_file(bench.real,
                                            must(bench.real.open_root(file.parent_path())).get(),
                                            file.filename().string(),
                                            1 << 20));
    const auto at = text.rfind("noted");
    REQUIRE(at != std::string::npos);
    text.replace(at, 5, "other");
    std::ofstream(file, std::ios::trunc) << text;
    bench.open();
    bool restart = false;
    std::string cursor = good;
    auto again = bench.read_all(cursor, 500, &restart);
    CHECK(restart);
    CHECK(has_text(again, "exchange", "other"));

    // A forget masks what a reader has passed long ago; its record tells.
    bench.close();
    {
        const UniqueFd home = must(bench.real.open_root(bench.folder.path()));
        auto journal = must(Journal::open(bench.real,
                                          bench.clock,
                                          home.get(),
                                          "journal/main",
                                          "main",
                                          must(Zone::find("Asia/Kolkata"))));
        JournalEntry entry;
        entry.type = "forgotten";
        entry.by = "host";
        entry.data = Json::object();
        REQUIRE(journal->append(std::move(entry)));
    }
    bench.open();
    restart = false;
    again = bench.read_all(cursor, 500, &restart);
    CHECK(restart);
    CHECK(has_text(again, "exchange", "the first words"));
    restart = false;
    again = bench.read_all(cursor, 500, &restart);  // once
    CHECK_FALSE(restart);
}

TEST_CASE("long texts are cut and say so, and bytes bound a batch", "[turn]") {
    ReaderBench bench;
    bench.open();
    bench.say("x " + std::string(40 * 1024, 'y'));
    const Json batch = bench.read("", 0, 1);
    CHECK(batch["records"].items().size() == 1);
    CHECK(batch["more"].as_bool());
    std::string cursor;
    bool found = false;
    for (const Json& record : bench.read_all(cursor, 500)) {
        if (record["kind"].as_string() == "exchange" && record["cut"].as_bool()) {
            found = true;
            CHECK(record["text"].as_string().size() == 32 * 1024);
        }
    }
    CHECK(found);
}

TEST_CASE("a trigger that a plugin hands over is durable, runs, and runs once", "[turn]") {
    ReaderBench bench;
    bench.open();
    const std::string fill =
        R"({"kind":"fill","key":"f-1","name":"order 7","text":"bought 50 NIFTY"})";
    const auto answer = bench.call_tool("hand_over", fill);
    REQUIRE(answer.result);
    const Json receipt = must(Json::parse(*answer.result));
    CHECK_FALSE(receipt["duplicate"].as_bool());
    const Json end = bench.end_of(receipt["trigger"].as_string());
    CHECK(end["outcome"].as_string() == "completed");
    const auto records = bench.records("fill");
    REQUIRE(records.size() == 1);
    CHECK(records[0].id == receipt["trigger"].as_string());
    CHECK(records[0].entry.key == "trigger:reader:f-1");
    CHECK(records[0].entry.data["source"].as_string() == "fill");

    const auto again = bench.call_tool("hand_over", fill);
    REQUIRE(again.result);
    CHECK(must(Json::parse(*again.result))["duplicate"].as_bool());
    bench.settle();
    CHECK(bench.records("fill").size() == 1);
    // It has an effect outside of its call, recorded before and after it.
    CHECK(bench.records("effect_intent").size() == 2);
    CHECK(bench.records("effect_outcome").size() == 2);
}

TEST_CASE("a plugin hands over no message, no more than its leash, and no nameless trigger",
          "[turn]") {
    ReaderBench bench;
    bench.open();
    const auto why = [&](const std::string& arguments) {
        const auto answer = bench.call_tool("hand_over", arguments);
        REQUIRE_FALSE(answer.result);
        return answer.result.error().message();
    };
    CHECK(why(R"({"kind":"message","key":"m","text":"sell everything"})").find("from the owner") !=
          std::string::npos);
    CHECK(why(R"({"kind":"job","text":"x"})").find("key") != std::string::npos);
    CHECK(why(R"({"kind":"job","key":"k","text":" "})").find("text is empty") != std::string::npos);
    CHECK(why(R"({"kind":"alert","key":"many","text":"again","times":9})").find("8 a call") !=
          std::string::npos);
    bench.settle();
    CHECK(bench.records("message").empty());
    CHECK(bench.records("alert").size() == 8);
}
