#include "host/format/desk_state.hpp"
#include "host/format/journal_record.hpp"
#include "host/format/session_record.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::FakeClock;
using daybook::test::must;

namespace {

constexpr std::string_view kRefusal =
    R"({"v":1,"seq":118,"id":"main-20261019-000118","ts":"2026-10-19T06:02:11.104233871Z","local":"2026-10-19T11:32:11+05:30","desk":"main","session":"2026-10-19-1","turn":"t-42","type":"refusal","by":"paper_broker","key":"paper_broker:o-17:refused","order":"o-17","data":{"symbol":"RELIANCE","qty":500,"price":"1432.55"}})";

std::string with(std::string_view line, std::string_view from, std::string_view to) {
    std::string text(line);
    text.replace(text.find(from), from.size(), to);
    return text;
}

}  // namespace

TEST_CASE("a journal line of the documents reads and writes back the same", "[format]") {
    const JournalRecord record = must(JournalRecord::from_line(kRefusal));
    CHECK(record.seq == 118);
    CHECK(record.entry.turn == "t-42");
    CHECK(record.entry.order == "o-17");
    CHECK(record.entry.data["qty"].as_integer() == 500);
    CHECK(must(record.to_line()) == kRefusal);
    CHECK(JournalRecord::make_id("main", must(DeskDate::parse("2026-10-19")), 118) ==
          "main-20261019-000118");
    CHECK(JournalRecord::make_id("main", must(DeskDate::parse("2026-10-19")), 12345678) ==
          "main-20261019-12345678");
}

TEST_CASE("a late fill carries both times, and what is outside a turn has nulls", "[format]") {
    JournalRecord record = must(JournalRecord::from_line(kRefusal));
    record.entry.ts_event = FakeClock::at("2026-10-19T05:00:00Z");
    record.entry.session.clear();
    record.entry.turn.clear();
    record.entry.key.clear();
    record.entry.order.clear();
    const std::string line = must(record.to_line());
    CHECK(line.find(R"("session":null,"turn":null,"type")") != std::string::npos);
    CHECK(line.find("\"key\"") == std::string::npos);
    const JournalRecord back = must(JournalRecord::from_line(line));
    CHECK(back.entry.ts_event == record.entry.ts_event);
    CHECK(back.entry.session.empty());
}

TEST_CASE("a damaged journal line is invalid, one of a later version unsupported", "[format]") {
    CHECK(JournalRecord::from_line(with(kRefusal, "\"v\":1", "\"v\":2")).error().code() ==
          Errc::unsupported);
    for (const auto& [from, to] : std::vector<std::pair<const char*, const char*>>{
             {"\"v\":1", "\"v\":0"},
             {"\"v\":1", "\"v\":\"1\""},
             {"118,", "-1,"},
             {"\"2026-10-19T06:02:11.104233871Z\"", "\"yesterday\""},
             {"\"desk\":\"main\",", ""},
             {"\"t-42\"", "42"},
             {"{\"symbol\"", "[{\"symbol\""},
             {"\"type\":\"refusal\"", "\"type\":null"}}) {
        INFO(to);
        CHECK(JournalRecord::from_line(with(kRefusal, from, to)).error().code() == Errc::invalid);
    }
    CHECK(JournalRecord::from_line("").error().code() == Errc::invalid);
    CHECK(JournalRecord::from_line("[1]").error().code() == Errc::invalid);
    CHECK(!JournalRecord::from_line(std::string(kMaxJournalLine + 1, ' ')));
    CHECK(JournalRecord::from_line(with(kRefusal, "\"v\":1", "\"later\":true,\"v\":1")));
}

TEST_CASE("a journal line over 64 KiB is refused before it is written", "[format]") {
    JournalRecord record = must(JournalRecord::from_line(kRefusal));
    record.entry.data = Json::object();
    const std::size_t rest = must(record.to_line()).size();
    record.entry.data.set("t", std::string(kMaxJournalLine - rest - 6, 'x'));
    CHECK(must(record.to_line()).size() == kMaxJournalLine);
    record.entry.data.set("t", std::string(kMaxJournalLine - rest - 5, 'x'));
    CHECK(record.to_line().error().code() == Errc::full);
}

TEST_CASE("a session line reads back with its source, also a whole tool result", "[format]") {
    SessionRecord record;
    record.seq = 3;
    record.ts = FakeClock::at("2026-10-19T06:02:11Z");
    record.turn = "t-42";
    record.kind = "tool_result";
    record.source = Source::tool;
    record.text = std::string(1'000'000, '"') + "\n";
    record.extra.set("call", "c1").set("tool", "candles");
    const SessionRecord back = must(SessionRecord::from_line(record.to_line()));
    CHECK(back.seq == 3);
    CHECK(back.turn == "t-42");
    CHECK(back.source == Source::tool);
    CHECK((back.text == record.text));
    CHECK(back.extra == record.extra);
    record.turn.clear();
    record.extra = Json::object();
    record.text = "x";
    record.kind = "opening";
    record.source = Source::host;
    CHECK(
        record.to_line() ==
        R"({"v":1,"seq":3,"ts":"2026-10-19T06:02:11.000000000Z","turn":null,"kind":"opening","source":"host","text":"x"})");
    CHECK(SessionRecord::from_line(with(record.to_line(), "\"v\":1", "\"v\":7")).error().code() ==
          Errc::unsupported);
    for (const auto& [from, to] :
         std::vector<std::pair<const char*, const char*>>{{"opening", "closing"},
                                                          {"\"host\"", "\"friend\""},
                                                          {"\"seq\":3", "\"seq\":0"},
                                                          {"\"x\"", "5"},
                                                          {"2026", "26"}}) {
        INFO(to);
        CHECK(SessionRecord::from_line(with(record.to_line(), from, to)).error().code() ==
              Errc::invalid);
    }
    for (const char* name : {"owner", "desk", "job", "fill", "tool", "alert", "page", "host"}) {
        CHECK(name_of(must(source_of(name))) == name);
    }
}

TEST_CASE("a desk's state reads back, and a damaged one is refused", "[format]") {
    DeskState state;
    CHECK(must(DeskState::from_json(state.to_json())).to_json() == state.to_json());
    state.session = "2026-10-19-1";
    state.session_day = must(DeskDate::parse("2026-10-19"));
    state.rollover =
        RolloverState{must(DeskDate::parse("2026-10-18")), "2026-10-18-1", true, true, false};
    state.next_turn = 43;
    state.backend_sessions["clerk"] = "abc";
    state.last_model = "clerk";
    state.settled_day = "2026-10-17";
    state.context_tokens = 1234;
    const DeskState back = must(DeskState::from_json(state.to_json()));
    CHECK(back.to_json() == state.to_json());
    CHECK(back.rollover->summarised);
    CHECK(!back.rollover->opened);
    CHECK(DeskState::from_json(Json()).error().code() == Errc::invalid);
    CHECK(DeskState::from_json(state.to_json().set("next_turn", 0)).error().code() ==
          Errc::invalid);
    CHECK(DeskState::from_json(state.to_json().set("session_day", "x")).error().code() ==
          Errc::invalid);
    CHECK(DeskState::from_json(state.to_json().set("rollover", 5)).error().code() == Errc::invalid);
    CHECK(DeskState::from_json(
              state.to_json().set("backend_sessions", must(Json::parse(R"({"a":1})"))))
              .error()
              .code() == Errc::invalid);
    CHECK(DeskState::from_json(state.to_json().set("v", 2)).error().code() == Errc::unsupported);
}
