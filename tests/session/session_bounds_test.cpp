// What bounds a session: its lines, the conversation in memory, a file that grew too large.
#include <fstream>

#include "host/session/session_line.hpp"
#include "host/session/session_store.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fault_os.hpp"
#include "tests/support/must.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook;
using daybook::test::FakeClock;
using daybook::test::FaultOs;
using daybook::test::must;
using daybook::test::TempFolder;

namespace {

SessionRecord line(std::string turn, std::string kind, std::string text) {
    SessionRecord record;
    record.turn = std::move(turn);
    record.kind = std::move(kind);
    record.text = std::move(text);
    return record;
}

struct Home {
    TempFolder folder;
    LinuxOs os;
    FakeClock clock{"2026-10-19T04:00:00Z"};
    UniqueFd dir = must(os.open_root(folder.path()));
    std::unique_ptr<SessionStore> open() {
        return must(SessionStore::open(os, clock, dir.get(), "sessions/main"));
    }
};

}  // namespace

TEST_CASE("a line of a session is at most 1 MiB; what is longer is cut and says so", "[session]") {
    Home home;
    auto store = home.open();
    must(store->open_session(must(DeskDate::parse("2026-10-19")), "opening", Json::object()));
    SessionRecord wordy = line("t-1", "answer", std::string(3UL << 20U, 'x'));
    SessionRecord escaped = line("t-1", "answer", std::string(1UL << 20U, '\x01'));
    SessionRecord accents = line("t-1", "answer", "");
    for (int i = 0; i < 700000; ++i) {
        accents.text += "\xC3\xA9";
    }
    SessionRecord laden = line("t-1", "tool_call", "{}");
    laden.extra.set("call", "c-1").set("said", std::string(2UL << 20U, 's'));
    must(store->append({wordy, escaped, accents, laden, line("t-1", "answer", "short")}, true));
    store.reset();
    store = home.open();
    const auto records = must(store->read("2026-10-19-1"));
    REQUIRE(records.size() == 6);
    for (const SessionRecord& record : records) {
        CHECK(record.to_line().size() < kMaxSessionLine);
    }
    CHECK(records[1].text.size() > kMaxSessionLine - 4096);
    CHECK(records[1].extra["cut"]["text_bytes"].as_integer() == 3 << 20);
    CHECK(records[2].text.size() > kMaxSessionLine / 7);
    CHECK(is_utf8(records[3].text));
    CHECK(records[3].text.size() > kMaxSessionLine - 4096);
    CHECK(records[4].text == "{}");
    CHECK(records[4].extra["call"].as_string() == "c-1");
    CHECK(records[4].extra["said"].as_string().size() == 16384);
    CHECK(records[4].extra["cut"]["extra_bytes"].as_integer() > 2 << 20);
    CHECK_FALSE(records[5].extra.has("cut"));
}

TEST_CASE("a session file over 256 MiB opens with its opening and its newest turns", "[session]") {
    Home home;
    auto store = home.open();
    must(
        store->open_session(must(DeskDate::parse("2026-10-19")), "the day before", Json::object()));
    store.reset();
    std::uint64_t lines = 1;
    {
        std::ofstream file(home.folder / "sessions/main/2026-10-19-1.jsonl", std::ios::app);
        const std::string text(500000, 'x');
        for (int turn = 1; turn <= 300; ++turn) {
            for (const std::string kind : {"trigger", "answer"}) {
                SessionRecord record = line("t-" + std::to_string(turn), kind, text);
                record.seq = ++lines;
                file << record.to_line() << "\n";
            }
        }
        file << R"({"v":1,"torn)";
    }
    store = home.open();
    const auto& held = store->conversation();
    REQUIRE(held.size() > 40);
    CHECK(held.size() < 80);
    CHECK(held.front().text == "the day before");
    CHECK(held[1].kind == "trigger");
    CHECK(held.back().turn == "t-300");
    CHECK(store->state().next_turn == 301);
    must(store->append({line("t-301", "trigger", "hello")}, true));
    CHECK(store->conversation().back().seq == lines + 1);
    CHECK(must(store->read("2026-10-19-1")).back().text == "hello");
    store.reset();
    CHECK(home.open()->conversation().back().text == "hello");
}

TEST_CASE("a session of a million lines opens by reading its beginning and its end only",
          "[session]") {
    // 4 GiB of which nearly all is a hole, so that it takes no space.
    Home home;
    auto store = home.open();
    must(store->open_session(must(DeskDate::parse("2026-10-19")), "before", Json::object()));
    store.reset();
    const auto path = home.folder / "sessions/main/2026-10-19-1.jsonl";
    {
        std::ofstream file(path, std::ios::app);
        for (std::uint64_t seq = 2; seq < 2000; ++seq) {
            SessionRecord record = line("t-1", seq == 2 ? "trigger" : "tool_result", "early");
            record.seq = seq;
            file << record.to_line() << "\n";
        }
    }
    std::filesystem::resize_file(path, 4ULL << 30U);
    {
        std::ofstream file(path, std::ios::app);
        file << "\n";
        for (std::uint64_t seq = 999'999; seq <= 1'000'000; ++seq) {
            SessionRecord record = line("t-9", seq % 2 == 1 ? "trigger" : "answer", "late");
            record.seq = seq;
            file << record.to_line() << "\n";
        }
    }
    FaultOs counting(home.os);
    store = must(SessionStore::open(counting, home.clock, home.dir.get(), "sessions/main"));
    CHECK(counting.calls() < 200);  // a read is at most 1 MiB: the whole would be 4,096
    REQUIRE(store->conversation().size() == 3);
    CHECK(store->conversation().front().text == "before");
    CHECK(store->state().next_turn == 10);
    must(store->append({line("t-10", "trigger", "hello")}, true));
    CHECK(store->conversation().back().seq == 1'000'001);
}

TEST_CASE("a conversation in memory drops its oldest turns, never its opening or newest turn",
          "[session]") {
    std::vector<SessionRecord> records = {line("", "opening", "o")};
    for (const std::string turn : {"t-1", "t-2", "t-3"}) {
        records.push_back(line(turn, "trigger", std::string(1000, 'q')));
        records.push_back(line(turn, "answer", std::string(1000, 'a')));
    }
    auto all = records;
    CHECK(drop_oldest_turns(all, 1U << 20U) == 0);
    auto some = records;
    CHECK(drop_oldest_turns(some, 4 * weight_of(records[1]) + 500) == 2);
    CHECK(some[1].turn == "t-2");
    auto middle = records;
    CHECK(drop_oldest_turns(middle, 3 * weight_of(records[1]) + 500) == 4);
    CHECK(middle[1].turn == "t-3");
    auto least = records;
    CHECK(drop_oldest_turns(least, 1) == 4);
    REQUIRE(least.size() == 3);
    CHECK(least[0].kind == "opening");
    CHECK(least[1].turn == "t-3");
    CHECK(drop_oldest_turns(least, 1) == 0);
}
