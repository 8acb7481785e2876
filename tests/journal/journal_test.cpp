#include "host/journal/journal.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "tests/catch.hpp"
#include "tests/journal/fixture.hpp"

using namespace daybook;
using namespace daybook::test;

TEST_CASE("a record is one line of the documented form, durable when append returns", "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    const std::uint64_t syncs = f.os.syncs();
    JournalEntry entry;
    entry.type = "refusal";
    entry.by = "paper_broker";
    entry.session = "2026-10-19-1";
    entry.turn = "t-42";
    entry.key = "paper_broker:o-17:refused";
    entry.order = "o-17";
    entry.data.set("symbol", "RELIANCE").set("qty", 500).set("price", "1432.55");
    const JournalRecord record = must(journal->append(entry));
    CHECK(f.os.syncs() == syncs + 2);  // the folder for the new file, then the line
    CHECK(record.id == "main-20261019-000001");
    CHECK(
        f.text() ==
        R"({"v":1,"seq":1,"id":"main-20261019-000001","ts":"2026-10-19T06:02:11.104233871Z",)"
        R"("local":"2026-10-19T11:32:11+05:30","desk":"main","session":"2026-10-19-1","turn":"t-42",)"
        R"("type":"refusal","by":"paper_broker","key":"paper_broker:o-17:refused","order":"o-17",)"
        R"("data":{"symbol":"RELIANCE","qty":500,"price":"1432.55"}})"
        "\n");
    CHECK(std::filesystem::status(f.folder / JournalFixture::path("2026-10-19.jsonl"))
              .permissions() == std::filesystem::perms(0600));
}

TEST_CASE("seq goes on without holes after a restart and begins anew each local day", "[journal]") {
    JournalFixture f;
    {
        const auto journal = f.open();
        CHECK(must(journal->append(f.entry("message"))).seq == 1);
        CHECK(must(journal->append(f.entry("message"))).seq == 2);
    }
    const auto journal = f.open();
    CHECK(must(journal->append(f.entry("message"))).seq == 3);
    f.clock.set("2026-10-19T18:29:59Z");  // 23:59:59 in India
    CHECK(must(journal->append(f.entry("message"))).id == "main-20261019-000004");
    f.clock.set("2026-10-19T18:30:00Z");
    CHECK(must(journal->append(f.entry("message"))).id == "main-20261020-000001");
    CHECK(journal->today().str() == "2026-10-20");
    CHECK(f.all().size() == 5);
    CHECK(journal->counts().appended == 3);
}

TEST_CASE("the host's own journal goes by UTC dates", "[journal]") {
    JournalFixture f;
    f.clock.set("2026-10-19T20:00:00Z");
    const auto journal =
        must(Journal::open(f.os, f.clock, f.state.get(), "journal/_host", "_host", std::nullopt));
    const JournalRecord record = must(journal->append(f.entry("plugin")));
    CHECK(record.id == "_host-20261019-000001");
    CHECK(record.local == "2026-10-19T20:00:00+00:00");
}

TEST_CASE("a clock that goes back never reopens a closed day", "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    f.clock.set("2026-10-20T06:00:00Z");
    must(journal->append(f.entry("message")));
    f.clock.set("2026-10-18T06:00:00Z");
    CHECK(must(journal->append(f.entry("message"))).id == "main-20261020-000002");
    const auto again = f.open();
    CHECK(must(again->append(f.entry("message"))).id == "main-20261020-000003");
}

TEST_CASE("a key that is there already gives the earlier record, also after a restart",
          "[journal]") {
    JournalFixture f;
    {
        const auto journal = f.open();
        must(journal->append(f.entry("message")));
        JournalEntry first = f.entry("fill", "broker:f-1");
        first.turn = "t-1";
        must(journal->append(first));
        JournalEntry second = f.entry("fill", "broker:f-1");
        second.turn = "t-2";
        const JournalRecord earlier = must(journal->append(second));
        CHECK(earlier.seq == 2);
        CHECK(earlier.entry.turn == "t-1");
        CHECK(journal->counts().duplicates == 1);
    }
    const auto journal = f.open();
    CHECK(must(journal->append(f.entry("fill", "broker:f-1"))).seq == 2);
    CHECK(must(journal->append(f.entry("fill", "broker:f-2"))).seq == 3);
    CHECK(f.all().size() == 3);
}

TEST_CASE("keys are compared over the newest three files only", "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    must(journal->append(f.entry("fill", "k")));
    for (const char* day : {"2026-10-20T06:00:00Z", "2026-10-21T06:00:00Z"}) {
        f.clock.set(day);
        must(journal->append(f.entry("message")));
        CHECK(must(journal->append(f.entry("fill", "k"))).id == "main-20261019-000001");
    }
    const auto reopened = f.open();
    CHECK(must(reopened->append(f.entry("fill", "k"))).id == "main-20261019-000001");
    f.clock.set("2026-10-22T06:00:00Z");
    CHECK(must(journal->append(f.entry("fill", "k"))).id == "main-20261022-000001");
}

TEST_CASE("several entries share one sync, stand next to each other, and all or none are written",
          "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    must(journal->append(f.entry("message")));
    const std::uint64_t syncs = f.os.syncs();
    const auto records = must(
        journal->append_all({f.entry("order", "a"), f.entry("order", "b"), f.entry("order", "a")}));
    CHECK(f.os.syncs() == syncs + 1);
    REQUIRE(records.size() == 3);
    CHECK(records[0].seq == 2);
    CHECK(records[1].seq == 3);
    CHECK(records[2].seq == 2);
    JournalEntry huge = f.entry("note_written");
    huge.data.set("text", std::string(kMaxJournalLine, 'x'));
    const auto refused = journal->append_all({f.entry("order", "c"), huge, f.entry("order", "d")});
    REQUIRE(!refused);
    CHECK(refused.error().code() == Errc::full);
    CHECK(f.all().size() == 3);
    CHECK(must(journal->append(f.entry("order", "c"))).seq == 4);
    CHECK(must(journal->append_all({})).empty());
}

TEST_CASE("text from outside cannot break the form of a line", "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    JournalEntry entry = f.entry("message");
    entry.data.set("text",
                   "a\nb\"\\\x01\xff\xE2\x80\xA8"
                   "}");
    must(journal->append(entry));
    must(journal->append(f.entry("message")));
    REQUIRE(f.all().size() == 2);
    CHECK(f.all()[0].entry.data["text"].as_string() == "a\nb\"\\\x01\xEF\xBF\xBD\xE2\x80\xA8}");
}

TEST_CASE("threads that append at once share flushes, and no record is lost or doubled",
          "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    constexpr int kThreads = 8;
    constexpr int kEach = 50;
    std::vector<std::uint64_t> observed;
    journal->on_append([&](const JournalRecord& record) { observed.push_back(record.seq); });
    std::vector<std::thread> threads;
    std::mutex mutex;  // guards ids
    std::set<std::string> ids;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < kEach; ++i) {
                // Every thread tries the shared keys too: one wins, the others get its record.
                const bool shared = i % 10 == 0;
                const auto record =
                    journal->append(f.entry("message",
                                            shared ? "shared-" + std::to_string(i)
                                                   : std::to_string(t) + "-" + std::to_string(i)));
                const std::lock_guard guard(mutex);
                ids.insert(record ? record->id : "failed");
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    constexpr std::size_t kShared = kEach / 10;
    constexpr std::size_t kWritten = kThreads * (kEach - kShared) + kShared;
    CHECK(ids.size() == kWritten);
    CHECK(!ids.contains("failed"));
    const auto records = f.all();
    REQUIRE(records.size() == kWritten);
    for (std::size_t i = 0; i < records.size(); ++i) {
        CHECK(records[i].seq == i + 1);
        CHECK(observed[i] == i + 1);
    }
    CHECK(journal->counts().syncs <= kWritten);
    CHECK(journal->counts().duplicates == (kThreads - 1) * kShared);
}

TEST_CASE("callers that wait while the disk is busy go out together with one sync", "[journal]") {
    JournalFixture f;
    const auto journal = f.open();
    must(journal->append(f.entry("first")));
    // The observer runs on the leading thread: while it holds the leader, others queue up.
    std::mutex mutex;  // guards waiting, released
    std::condition_variable changed;
    bool held = false;
    bool released = false;
    journal->on_append([&](const JournalRecord& record) {
        if (record.entry.type == "hold") {
            std::unique_lock lock(mutex);
            held = true;
            changed.notify_all();
            changed.wait_for(lock, std::chrono::seconds(10), [&] { return released; });
        }
    });
    std::atomic<int> failed{0};  // the framework's checks are for one thread only
    std::thread leader([&] { failed += journal->append(f.entry("hold")) ? 0 : 1; });
    {
        std::unique_lock lock(mutex);
        REQUIRE(changed.wait_for(lock, std::chrono::seconds(10), [&] { return held; }));
    }
    const std::uint64_t syncs = journal->counts().syncs;
    std::atomic<int> started{0};
    std::vector<std::thread> followers;
    for (int i = 0; i < 6; ++i) {
        followers.emplace_back([&] {
            ++started;
            failed += journal->append(f.entry("follower")) ? 0 : 1;
        });
    }
    while (started < 6) {
        std::this_thread::yield();
    }
    {
        const std::lock_guard guard(mutex);
        released = true;
        changed.notify_all();
    }
    leader.join();
    for (std::thread& thread : followers) {
        thread.join();
    }
    CHECK(failed == 0);
    CHECK(journal->counts().syncs <= syncs + 6);
    CHECK(f.all().size() == 8);
}
