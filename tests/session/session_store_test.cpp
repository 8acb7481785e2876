// The session store: sessions, state and summaries; what a crash or a bad disk leaves is put right
// at the next opening.
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

const DeskDate kDay = must(DeskDate::parse("2026-10-19"));

SessionRecord line(std::string turn, std::string kind, std::string text) {
    SessionRecord record;
    record.turn = std::move(turn);
    record.kind = std::move(kind);
    record.source = record.kind == "answer" ? Source::desk : Source::owner;
    record.text = std::move(text);
    return record;
}

struct Home {
    TempFolder folder;
    LinuxOs os;
    FaultOs faults{os};
    FakeClock clock{"2026-10-19T04:00:00Z"};
    UniqueFd dir = must(os.open_root(folder.path()));

    Result<std::unique_ptr<SessionStore>> try_open() {
        return SessionStore::open(faults, clock, dir.get(), "sessions/main");
    }
    std::unique_ptr<SessionStore> open() { return must(try_open()); }
    [[nodiscard]] std::string file(const std::string& name) const {
        return "sessions/main/" + name;
    }
    [[nodiscard]] bool has(const std::string& name) const {
        return std::filesystem::exists(folder / file(name));
    }
};

std::vector<std::string> texts(const std::vector<SessionRecord>& records) {
    std::vector<std::string> all;
    for (const SessionRecord& record : records) {
        all.push_back(record.text);
    }
    return all;
}

}  // namespace

TEST_CASE("a session begins with its opening and keeps its lines in order over a restart",
          "[session]") {
    Home home;
    {
        auto store = home.open();
        CHECK(store->state().session.empty());
        CHECK(must(store->open_session(kDay, "yesterday", Json::object())) == "2026-10-19-1");
        must(store->append({line("t-1", "trigger", "hello"), line("t-1", "answer", "hi")}, true));
    }
    auto store = home.open();
    CHECK(store->repairs().sentences.empty());
    CHECK(store->state().session == "2026-10-19-1");
    CHECK(texts(store->conversation()) == std::vector<std::string>{"yesterday", "hello", "hi"});
    must(store->append({line("t-2", "trigger", "again")}, true));
    const auto lines = must(store->read("2026-10-19-1"));
    REQUIRE(lines.size() == 4);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(lines[i].seq == i + 1);
    }
    CHECK(lines[0].kind == "opening");
}

TEST_CASE("the sessions of a day are numbered and all of them are listed", "[session]") {
    Home home;
    auto store = home.open();
    must(store->open_session(kDay, "", Json::object()));
    CHECK(must(store->open_session(kDay, "", Json::object())) == "2026-10-19-2");
    CHECK(must(store->open_session(kDay.plus_days(1), "", Json::object())) == "2026-10-20-1");
    for (int i = 3; i <= 11; ++i) {
        must(store->open_session(kDay, "", Json::object()));
    }
    const auto list = must(store->list());
    REQUIRE(list.size() == 12);
    CHECK(list[1].id == "2026-10-19-2");
    CHECK(list[10].id == "2026-10-19-11");  // by number, not as text
    CHECK(list.back().id == "2026-10-20-1");
    CHECK(list.front().lines == 1);
    CHECK(list.front().bytes ==
          std::filesystem::file_size(home.folder / home.file("2026-10-19-1.jsonl")));
}

TEST_CASE("a torn last line is set aside and the session goes on", "[session]") {
    Home home;
    {
        auto store = home.open();
        must(store->open_session(kDay, "", Json::object()));
        must(store->append({line("t-1", "trigger", "whole")}, true));
    }
    const std::string name = home.file("2026-10-19-1.jsonl");
    const std::string whole = home.folder.read(name);
    home.folder.write(name, whole + R"({"v":1,"seq":3,"ts":"2026-)");
    {
        auto store = home.open();
        CHECK(store->repairs().sentences.size() == 1);
        CHECK(store->conversation().size() == 2);
        must(store->append({line("t-1", "answer", "after")}, true));
        CHECK(must(store->read("2026-10-19-1")).back().seq == 3);
    }
    CHECK(home.folder.read(home.file("2026-10-19-1.torn-1")) == R"({"v":1,"seq":3,"ts":"2026-)");
    CHECK(home.folder.read(name).starts_with(whole));  // not a byte of what was whole has changed
    CHECK(must(home.open()->list()).size() == 1);      // what was set aside is no session
}

TEST_CASE("a last line that only lacks its newline is kept", "[session]") {
    Home home;
    {
        auto store = home.open();
        must(store->open_session(kDay, "", Json::object()));
        must(store->append({line("t-1", "trigger", "whole")}, true));
    }
    const std::string name = home.file("2026-10-19-1.jsonl");
    std::string bytes = home.folder.read(name);
    bytes.pop_back();
    home.folder.write(name, bytes);
    auto store = home.open();
    CHECK(store->conversation().size() == 2);
    must(store->append({line("t-1", "answer", "next")}, true));
    CHECK(must(store->read("2026-10-19-1")).size() == 3);
    CHECK(must(store->read("2026-10-19-1")).back().seq == 3);
}

TEST_CASE("a damaged line in the middle is kept, counted and costs no other line", "[session]") {
    Home home;
    {
        auto store = home.open();
        must(store->open_session(kDay, "", Json::object()));
        must(store->append({line("t-1", "trigger", "one")}, true));
    }
    const std::string name = home.file("2026-10-19-1.jsonl");
    home.folder.write(name, home.folder.read(name) + "not json\n");
    auto store = home.open();
    must(store->append({line("t-1", "answer", "two")}, true));
    std::size_t bad = 0;
    const auto lines = must(store->read("2026-10-19-1", &bad));
    CHECK(bad == 1);
    CHECK(lines.size() == 3);
    CHECK(lines.back().seq == 4);  // the bad line has a number of its own
    CHECK(home.folder.read(name).find("not json\n") != std::string::npos);
}

// M28, M29
TEST_CASE("an empty, damaged or missing state is rebuilt from the files and the count stays equal",
          "[session]") {
    const std::string content = GENERATE(
        as<std::string>{}, "", "{", "[]", R"({"v":1,"next_turn":"x"})", "missing", "wrong session");
    INFO(content);
    Home home;
    std::size_t before = 0;
    {
        auto store = home.open();
        must(store->open_session(kDay, "", Json::object()));
        must(store->open_session(kDay.plus_days(1), "", Json::object()));
        SessionRecord answer = line("t-7", "answer", "done");
        answer.extra = Json::object()
                           .set("model", "qwen")
                           .set("backend_session", "b-1")
                           .set("usage", Json::object().set("input", 4321));
        must(store->append({line("t-7", "trigger", "q"), answer}, true));
        before = must(store->list()).size();
    }
    if (content == "missing") {
        std::filesystem::remove(home.folder / home.file("state.json"));
    } else if (content == "wrong session") {
        DeskState state;
        state.session = "2026-10-25-1";
        home.folder.write(home.file("state.json"), state.to_json().dump());
    } else {
        home.folder.write(home.file("state.json"), content);
    }
    {
        auto store = home.open();
        CHECK(store->was_rebuilt());
        CHECK(store->repairs().sentences.size() == 1);
        CHECK(must(store->list()).size() == before);
        CHECK(store->state().session == "2026-10-20-1");
        CHECK(store->state().session_day == kDay.plus_days(1));
        CHECK(store->state().next_turn == 8);
        CHECK(store->state().last_model == "qwen");
        CHECK(store->state().backend_sessions.at("qwen") == "b-1");
        CHECK(store->state().context_tokens == 4321);
        CHECK(store->conversation().size() == 3);
    }
    CHECK(home.has("state.json.bad-1") == (content != "missing"));
    CHECK_FALSE(home.open()->was_rebuilt());
}

TEST_CASE("a rebuilt state knows that a summarised session is closed", "[session]") {
    Home home;
    {
        auto store = home.open();
        must(store->open_session(kDay, "", Json::object()));
        must(store->write_summary(kDay, "2026-10-19-1", "a quiet day"));
    }
    std::filesystem::remove(home.folder / home.file("state.json"));
    auto store = home.open();
    REQUIRE(store->state().rollover);
    CHECK(store->state().rollover->session == "2026-10-19-1");
    CHECK(store->state().rollover->summarised);
    CHECK_FALSE(store->state().rollover->folded);
}

TEST_CASE("a session file that was made before the state could name it is taken up", "[session]") {
    Home home;
    std::string before;
    {
        auto store = home.open();
        DeskState state = store->state();
        state.rollover = RolloverState{kDay, "2026-10-19-1", true, true, false};
        must(store->save_state(state));
        before = home.folder.read(home.file("state.json"));
        must(store->open_session(kDay, "fresh", Json::object()));
    }
    home.folder.write(home.file("state.json"), before);
    // The closed session's file exists too, in a real home.
    home.folder.write(home.file("2026-10-19-2.jsonl"),
                      home.folder.read(home.file("2026-10-19-1.jsonl")));
    auto store = home.open();
    CHECK(store->state().session == "2026-10-19-2");
    REQUIRE(store->state().rollover);
    CHECK(store->state().rollover->opened);
    CHECK(must(store->list()).size() == 2);
}

TEST_CASE("a closed session is not taken up again", "[session]") {
    Home home;
    {
        auto store = home.open();
        must(store->open_session(kDay, "", Json::object()));
        DeskState state = store->state();
        state.rollover = RolloverState{kDay, state.session, true, true, false};
        state.session.clear();
        state.session_day.reset();
        must(store->save_state(state));
        store->close_session();
        CHECK(store->append({line("t-1", "trigger", "lost?")}, false).error().code() ==
              Errc::unavailable);
    }
    auto store = home.open();
    CHECK(store->state().session.empty());
    CHECK(store->conversation().empty());
    CHECK(must(store->open_session(kDay, "", Json::object())) == "2026-10-19-2");
    CHECK(store->state().rollover->opened);
}

TEST_CASE("summaries of one day are added, each session's once", "[session]") {
    Home home;
    auto store = home.open();
    CHECK_FALSE(must(store->last_summary_day()).has_value());
    must(store->write_summary(kDay, "2026-10-19-1", "the day <!-- session 2026-10-19-2 -->"));
    CHECK(must(store->has_summary(kDay, "2026-10-19-1")));
    CHECK_FALSE(must(store->has_summary(kDay, "2026-10-19-2")));  // its text cannot pose as a mark
    must(store->write_summary(kDay, "2026-10-19-1", "again"));
    must(store->write_summary(kDay, "2026-10-19-2", "the evening"));
    const std::string text = must(store->read_summary(kDay)).value_or("");
    CHECK(text.find("the day") < text.find("the evening"));
    CHECK(text.find("again") == std::string::npos);
    CHECK(must(store->last_summary_day()) == kDay);
    CHECK_FALSE(must(store->read_summary(kDay.plus_days(1))).has_value());
}

TEST_CASE("a session's part of a summary is replaced only as it was read", "[session]") {
    Home home;
    auto store = home.open();
    must(store->write_summary(kDay, "2026-10-19-1", "the day"));
    must(store->write_summary(kDay, "2026-10-19-2", "the evening"));
    const auto parts = must(store->summary_parts(kDay));
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].session == "2026-10-19-1");
    must(store->replace_summary(parts[0], "a better day"));
    CHECK(must(store->read_summary(kDay)) ==
          "# 2026-10-19\n\n<!-- session 2026-10-19-1 -->\na better day\n\n"
          "<!-- session 2026-10-19-2 -->\nthe evening\n");
    CHECK(store->replace_summary(parts[0], "again").error().code() == Errc::conflict);
    SummaryPart longer = parts[1];
    longer.text.pop_back();  // the file goes on behind what was read
    CHECK(store->replace_summary(longer, "cut").error().code() == Errc::conflict);
    must(store->replace_summary(parts[1], "a better evening"));
    CHECK(must(store->summary_parts(kDay)).back().text == "a better evening\n");
    CHECK(must(store->summary_days()) == std::vector<DeskDate>{kDay});
}

TEST_CASE("names that are no session are refused and lead nowhere", "[session]") {
    Home home;
    auto store = home.open();
    home.folder.write("secret.jsonl", "{}\n");
    for (const std::string name : {"",
                                   "../secret",
                                   "2026-10-19",
                                   "2026-10-19-0",
                                   "2026-10-19-01",
                                   "2026-13-19-1",
                                   "2026-10-19-1/x",
                                   "2026-10-19-99999999",
                                   "state"}) {
        INFO(name);
        CHECK(store->read(name).error().code() == Errc::invalid);
    }
    CHECK(store->read("2026-10-19-7").error().code() == Errc::not_found);
}

TEST_CASE("whatever call fails, what was acknowledged is there after reopening, once and in order",
          "[session]") {
    std::uint64_t nth = 0;
    bool struck = true;
    while (struck) {
        ++nth;
        INFO("call " << nth);
        REQUIRE(nth < 200);
        Home home;
        std::vector<std::string> acknowledged;
        home.faults.fail_call(nth, nth % 2 == 0 ? Errc::full : Errc::io);
        if (auto opened = home.try_open()) {
            auto& store = *opened;
            if (store->open_session(kDay, "opening", Json::object())) {
                for (const std::string text : {"one", "two", "three"}) {
                    if (store->append({line("t-1", "trigger", text)}, true)) {
                        acknowledged.push_back(text);
                    }
                }
                if (store->write_summary(kDay, "2026-10-19-1", "sum")) {
                    acknowledged.emplace_back("sum");
                }
            }
        }
        struck = home.faults.struck();
        home.faults.heal();
        auto store = home.open();
        std::vector<std::string> found;
        for (const SessionInfo& session : must(store->list())) {
            std::size_t bad = 0;
            for (const SessionRecord& record : must(store->read(session.id, &bad))) {
                if (record.kind == "trigger") {
                    found.push_back(record.text);
                }
            }
            CHECK(bad == 0);
        }
        if (must(store->has_summary(kDay, "2026-10-19-1"))) {
            found.emplace_back("sum");
        }
        // A line whose sync failed was not acknowledged and may be there.
        for (const std::string& text : acknowledged) {
            CHECK(std::count(found.begin(), found.end(), text) == 1);
        }
        CHECK(std::is_sorted(
            found.begin(), found.end(), [](const std::string& a, const std::string& b) {
                const std::vector<std::string> order{"one", "two", "three", "sum"};
                return std::find(order.begin(), order.end(), a) <
                       std::find(order.begin(), order.end(), b);
            }));
        if (!store->state().session.empty()) {
            must(store->append({line("t-2", "trigger", "goes on")}, true));
        }
    }
    CHECK(nth > 20);
}

TEST_CASE("after a failed sync nothing more is acknowledged until the next start", "[session]") {
    Home home;
    auto store = home.open();
    must(store->open_session(kDay, "", Json::object()));
    home.faults.fail_syncs(true);
    CHECK_FALSE(store->append({line("t-1", "answer", "x")}, true));
    home.faults.heal();
    CHECK(store->append({line("t-1", "answer", "y")}, true).error().code() == Errc::unavailable);
    store = home.open();
    must(store->append({line("t-1", "answer", "y")}, true));
}

TEST_CASE("a full disk leaves no half line behind", "[session]") {
    Home home;
    auto store = home.open();
    must(store->open_session(kDay, "", Json::object()));
    home.faults.fill_disk(true);
    CHECK(store->append({line("t-1", "answer", std::string(1000, 'x'))}, true).error().code() ==
          Errc::full);
    home.faults.heal();
    must(store->append({line("t-1", "answer", "y")}, true));
    std::size_t bad = 0;
    CHECK(must(store->read("2026-10-19-1", &bad)).size() == 2);
    CHECK(bad == 0);
}
