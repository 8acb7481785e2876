// When a day ends: one case for each rule of docs/turns.md, "The day's end".
#include "host/turn/session_keeper.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::FakeClock;
using daybook::test::must;
using Step = KeeperPlan::Step;

namespace {

Calendar shipped(const std::string& id) {
    std::ifstream in(std::string(DAYBOOK_SOURCE_DIR) + "/share/calendars/" + id + ".json");
    std::ostringstream text;
    text << in.rdbuf();
    return must(Calendar::parse(text.str(), id));
}

DeskDate day(const std::string& text) {
    return must(DeskDate::parse(text));
}

Timestamp at(const std::string& text) {
    return FakeClock::at(text);
}

struct Desk {
    Calendar calendar;
    Zone zone;
    SessionKeeper keeper;
    explicit Desk(const std::string& id, const std::string& zone_name, const std::string& rollover)
        : calendar(shipped(id)),
          zone(must(Zone::find(zone_name))),
          keeper(calendar, zone, must(TimeOfDay::parse(rollover))) {}
};

Desk nse() {
    return Desk("nse", "Asia/Kolkata", "15:45");
}

DeskState open_session(const std::string& date, const std::string& session) {
    DeskState state;
    state.session = session;
    state.session_day = day(date);
    return state;
}

DeskState rolled_over(const std::string& date, const std::string& session) {
    DeskState state;
    state.rollover = RolloverState{day(date), session, true, true, false};
    return state;
}

}  // namespace

TEST_CASE("a fresh desk opens a session on the local date of its own zone", "[turn]") {
    const Desk desk = nse();
    // 22:30 UTC is already the next date in Kolkata; a note at 03:53 there belongs to it.
    const auto plan = desk.keeper.plan({}, std::nullopt, at("2026-10-18T22:23:00Z"));
    CHECK(plan.step == Step::open);
    CHECK(plan.day == day("2026-10-19"));
}

TEST_CASE("the same day is resumed until the rollover's time and rolled over from then on",
          "[turn]") {
    const Desk desk = nse();
    const DeskState state = open_session("2026-10-19", "2026-10-19-1");
    const auto opened = at("2026-10-19T09:15:00+05:30");
    CHECK(desk.keeper.due(state, opened) == at("2026-10-19T15:45:00+05:30"));
    CHECK(desk.keeper.plan(state, opened, at("2026-10-19T15:44:59+05:30")).step == Step::resume);
    const auto plan = desk.keeper.plan(state, opened, at("2026-10-19T15:45:00+05:30"));
    CHECK(plan.step == Step::roll_over);
    CHECK(plan.why == "time");
}

TEST_CASE("a Muhurat evening ends 15 minutes after its close", "[turn]") {
    const Desk desk = nse();
    const DeskState state = open_session("2024-11-01", "2024-11-01-1");
    CHECK(desk.keeper.due(state, at("2024-11-01T12:00:00+05:30")) ==
          at("2024-11-01T19:15:00+05:30"));
}

TEST_CASE("a day whose times are not announced waits for the first turn of the next date",
          "[turn]") {
    const Desk desk = nse();
    const DeskState state = open_session("2026-11-08", "2026-11-08-1");
    const auto opened = at("2026-11-08T12:00:00+05:30");
    CHECK_FALSE(desk.keeper.due(state, opened));
    CHECK(desk.keeper.plan(state, opened, at("2026-11-08T23:59:00+05:30")).step == Step::resume);
    CHECK(desk.keeper.plan(state, opened, at("2026-11-09T08:00:00+05:30")).step == Step::roll_over);
}

TEST_CASE(
    "a day without trading has no timed rollover; the first turn of a later date rolls it over",
    "[turn]") {
    const Desk desk = nse();
    const DeskState state = open_session("2026-10-18", "2026-10-18-1");  // a Sunday
    const auto opened = at("2026-10-18T12:00:00+05:30");
    CHECK_FALSE(desk.keeper.due(state, opened));
    CHECK(desk.keeper.plan(state, opened, at("2026-10-18T18:00:00+05:30")).step == Step::resume);
    const auto plan = desk.keeper.plan(state, opened, at("2026-10-19T09:00:00+05:30"));
    CHECK(plan.step == Step::roll_over);
    CHECK(plan.day == day("2026-10-18"));
    CHECK(plan.why == "first turn");
}

TEST_CASE(
    "after the timed rollover the same date opens again, and is not rolled over by time twice",
    "[turn]") {
    const Desk desk = nse();
    const DeskState closed = rolled_over("2026-10-19", "2026-10-19-1");
    const auto open = desk.keeper.plan(closed, std::nullopt, at("2026-10-19T16:00:00+05:30"));
    CHECK(open.step == Step::open);
    CHECK(open.day == day("2026-10-19"));

    DeskState evening = open_session("2026-10-19", "2026-10-19-2");
    evening.rollover = RolloverState{day("2026-10-19"), "2026-10-19-1", true, true, true};
    const auto opened = at("2026-10-19T16:00:00+05:30");
    CHECK_FALSE(desk.keeper.due(evening, opened));
    CHECK(desk.keeper.plan(evening, opened, at("2026-10-19T23:00:00+05:30")).step == Step::resume);
    const auto next = desk.keeper.plan(evening, opened, at("2026-10-20T09:00:00+05:30"));
    CHECK(next.step == Step::roll_over);
    CHECK(next.day == day("2026-10-19"));
}

TEST_CASE("a session that was opened after the rollover's time is not closed by it", "[turn]") {
    const Desk desk = nse();
    const DeskState state = open_session("2026-10-19", "2026-10-19-1");
    CHECK_FALSE(desk.keeper.due(state, at("2026-10-19T17:00:00+05:30")));
}

TEST_CASE("several missed days are one rollover of the last open session", "[turn]") {
    const Desk desk = nse();
    DeskState state = open_session("2026-10-12", "2026-10-12-1");
    const auto now = at("2026-10-19T09:00:00+05:30");
    const auto plan = desk.keeper.plan(state, at("2026-10-12T09:00:00+05:30"), now);
    CHECK(plan.step == Step::roll_over);
    CHECK(plan.day == day("2026-10-12"));
    const auto then =
        desk.keeper.plan(rolled_over("2026-10-12", "2026-10-12-1"), std::nullopt, now);
    CHECK(then.step == Step::open);
    CHECK(then.day == day("2026-10-19"));
}

TEST_CASE("a clock that goes back never reopens a closed day", "[turn]") {
    const Desk desk = nse();
    const DeskState closed = rolled_over("2026-10-19", "2026-10-19-1");
    // Back over the rollover's time: the same date, the next session, and no second timed rollover
    // for it.
    const auto back = desk.keeper.plan(closed, std::nullopt, at("2026-10-19T15:40:00+05:30"));
    CHECK(back.step == Step::open);
    DeskState again = open_session("2026-10-19", "2026-10-19-2");
    again.rollover = RolloverState{day("2026-10-19"), "2026-10-19-1", true, true, true};
    CHECK_FALSE(desk.keeper.due(again, at("2026-10-19T15:40:00+05:30")));
    // Back over midnight: the closed day's date stands.
    CHECK(desk.keeper.plan(closed, std::nullopt, at("2026-10-18T23:00:00+05:30")).day ==
          day("2026-10-19"));
    const DeskState open = open_session("2026-10-19", "2026-10-19-1");
    CHECK(desk.keeper.plan(open, at("2026-10-19T00:10:00+05:30"), at("2026-10-18T23:59:00+05:30"))
              .step == Step::resume);
}

TEST_CASE("a rollover that a crash cut goes on at once, whatever the time", "[turn]") {
    const Desk desk = nse();
    DeskState state = open_session("2026-10-19", "2026-10-19-1");
    state.rollover = RolloverState{day("2026-10-19"), "2026-10-19-1", true, false, false};
    const auto opened = at("2026-10-19T09:15:00+05:30");
    CHECK(desk.keeper.plan(state, opened, at("2026-10-19T15:46:00+05:30")).why == "cut");
    REQUIRE(desk.keeper.due(state, opened));
    CHECK(*desk.keeper.due(state, opened) < at("2026-10-19T15:46:00+05:30"));
}

TEST_CASE("round the clock, midnight closes the date that just ended", "[turn]") {
    const Desk desk("always", "UTC", "00:00");
    const DeskState state = open_session("2026-10-19", "2026-10-19-1");
    const auto opened = at("2026-10-19T00:00:00Z");
    CHECK(desk.keeper.due(state, opened) == at("2026-10-20T00:00:00Z"));
    CHECK(desk.keeper.plan(state, opened, at("2026-10-19T23:59:59Z")).step == Step::resume);
    CHECK(desk.keeper.plan(state, opened, at("2026-10-20T00:00:00Z")).step == Step::roll_over);
}

TEST_CASE("a due time inside a summer-time gap or overlap comes once", "[turn]") {
    const Desk spring("always", "America/New_York", "02:30");
    const auto due =
        spring.keeper.due(open_session("2026-03-07", "2026-03-07-1"), at("2026-03-07T05:00:00Z"));
    REQUIRE(due);
    const Desk autumn("always", "America/New_York", "01:30");
    const auto overlap =
        autumn.keeper.due(open_session("2026-10-31", "2026-10-31-1"), at("2026-10-31T05:00:00Z"));
    REQUIRE(overlap);
    CHECK(spring.keeper.due(open_session("2026-03-07", "2026-03-07-1"), *due) == std::nullopt);
    CHECK(autumn.keeper.due(open_session("2026-10-31", "2026-10-31-1"), *overlap) == std::nullopt);
}

TEST_CASE("the next rollover is known for a desk without an open session", "[turn]") {
    const Desk desk = nse();
    // Friday evening: Monday is next.
    CHECK(desk.keeper.next_due(at("2026-10-16T18:00:00+05:30")) == at("2026-10-19T15:45:00+05:30"));
}

TEST_CASE("an overnight market's small hours belong to the day before", "[turn]") {
    const std::string text =
        R"({"$schema_version":1,"id":"gift","name":"GIFT","mic":null,"tz":"Asia/Kolkata",
      "valid_from":null,"valid_through":null,"weekend":["Sat","Sun"],"rollover":"03:00",
      "regular":[{"from":"2000-01-01","to":null,"segments":{"cash":[{"open":"16:35","close":"02:45","next_day":true}]},
                  "phases":{},"day_end":"02:45"}],"holidays":[],"special":[],"sources":{}})";
    auto parsed = Calendar::parse(text, "gift");
    if (!parsed) {
        FAIL(parsed.error().message());
    }
    const Zone zone = must(Zone::find("Asia/Kolkata"));
    const SessionKeeper keeper(*parsed, zone, must(TimeOfDay::parse("03:00")));
    CHECK(keeper.day_of(at("2026-10-20T00:30:00+05:30")) == day("2026-10-19"));
    CHECK(keeper.day_of(at("2026-10-20T03:30:00+05:30")) == day("2026-10-20"));
    const DeskState state = open_session("2026-10-19", "2026-10-19-1");
    CHECK(
        keeper.plan(state, at("2026-10-19T17:00:00+05:30"), at("2026-10-20T01:00:00+05:30")).step ==
        Step::resume);
    CHECK(keeper.due(state, at("2026-10-19T17:00:00+05:30")) == at("2026-10-20T03:00:00+05:30"));
}
