// The session keeper under awkward clocks: summer time, jumps, a machine that slept, markets that
// run over midnight. Rules of docs/turns.md, "The day's end".
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/turn/session_keeper.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::FakeClock;
using daybook::test::must;
using Step = KeeperPlan::Step;

namespace {

DeskDate day(const std::string& text) {
    return must(DeskDate::parse(text));
}

Timestamp at(const std::string& text) {
    return FakeClock::at(text);
}

std::string shipped(const std::string& id) {
    std::ifstream in(std::string(DAYBOOK_SOURCE_DIR) + "/share/calendars/" + id + ".json");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// A market of one segment that trades on all days but Saturday and Sunday.
std::string weekdays(const std::string& zone, const std::string& sessions) {
    return R"({"$schema_version":1,"id":"x","name":"X","mic":null,"tz":")" + zone +
           R"(","valid_from":null,"valid_through":null,"weekend":["Sat","Sun"],"rollover":"00:00",
"regular":[{"from":"2000-01-01","to":null,"segments":{"all":)" +
           sessions +
           R"(},"phases":{},"day_end":"00:00"}],"holidays":[],"special":[],"sources":{}})";
}

struct Desk {
    Calendar calendar;
    Zone zone;
    SessionKeeper keeper;
    Desk(const std::string& text, const std::string& zone_name, const std::string& rollover)
        : calendar(must(Calendar::parse(text, "x.json"))),
          zone(must(Zone::find(zone_name))),
          keeper(calendar, zone, must(TimeOfDay::parse(rollover))) {}
};

/// A desk that does what its keeper says, at the instants that it is woken at.
class Life {
  public:
    explicit Life(const Desk& desk) : desk_(desk) {}

    /// The 30 s tick.
    void tick(const std::string& now) {
        const auto due = desk_.keeper.due(state_, opened_);
        if (due && at(now) >= *due) {
            roll_over();
        }
    }
    /// A trigger: the day that its session belongs to.
    std::string trigger(const std::string& now) {
        KeeperPlan plan = desk_.keeper.plan(state_, opened_, at(now));
        if (plan.step == Step::roll_over) {
            roll_over();
            plan = desk_.keeper.plan(state_, opened_, at(now));
        }
        if (plan.step == Step::open) {
            const std::string date = plan.day.str();
            number_ = date == last_ ? number_ + 1 : 1;
            last_ = date;
            state_.session = date + "-" + std::to_string(number_);
            state_.session_day = plan.day;
            opened_ = at(now);
        }
        return state_.session;
    }
    [[nodiscard]] const std::string& closed() const { return closed_; }

  private:
    void roll_over() {
        closed_ += (closed_.empty() ? "" : " ") + state_.session;
        state_.rollover = RolloverState{*state_.session_day, state_.session, true, true, false};
        state_.session.clear();
        state_.session_day.reset();
        opened_.reset();
    }

    const Desk& desk_;
    DeskState state_;
    std::optional<Timestamp> opened_;
    std::string closed_, last_;
    int number_ = 0;
};

const std::string kRoundTheClock = R"([{"open":"00:00","close":"24:00"}])";

}  // namespace

TEST_CASE("a due time in a summer-time gap is the first instant after it, once", "[turn]") {
    // New York leaps from 02:00 to 03:00, London from 01:00 to 02:00.
    struct Case {
        const char *zone, *rollover, *opened, *before, *due, *day;
    };
    for (const Case& one : {Case{"America/New_York",
                                 "02:30",
                                 "2026-03-08T05:30:00Z",
                                 "2026-03-08T06:59:59Z",
                                 "2026-03-08T07:00:00Z",
                                 "2026-03-08"},
                            Case{"Europe/London",
                                 "01:30",
                                 "2026-03-29T00:30:00Z",
                                 "2026-03-29T00:59:59Z",
                                 "2026-03-29T01:00:00Z",
                                 "2026-03-29"}}) {
        CAPTURE(one.zone);
        const Desk desk(shipped("always"), one.zone, one.rollover);
        Life life(desk);
        CHECK(life.trigger(one.opened) == std::string(one.day) + "-1");
        life.tick(one.before);
        CHECK(life.closed().empty());
        life.tick(one.due);
        CHECK(life.closed() == std::string(one.day) + "-1");
        CHECK(life.trigger(one.due) == std::string(one.day) + "-2");
        life.tick(one.due);
        CHECK(life.closed() == std::string(one.day) + "-1");
    }
}

TEST_CASE("a due time in a summer-time overlap is the earlier one, once", "[turn]") {
    struct Case {
        const char *zone, *opened, *first, *second, *day;
    };
    for (const Case& one : {Case{"America/New_York",
                                 "2026-11-01T04:30:00Z",
                                 "2026-11-01T05:30:00Z",
                                 "2026-11-01T06:30:00Z",
                                 "2026-11-01"},
                            Case{"Europe/London",
                                 "2026-10-24T23:30:00Z",
                                 "2026-10-25T00:30:00Z",
                                 "2026-10-25T01:30:00Z",
                                 "2026-10-25"}}) {
        CAPTURE(one.zone);
        const Desk desk(shipped("always"), one.zone, "01:30");
        Life life(desk);
        life.trigger(one.opened);
        life.tick(one.first);
        CHECK(life.closed() == std::string(one.day) + "-1");
        CHECK(life.trigger(one.first) == std::string(one.day) + "-2");
        // The same wall-clock time comes again an hour later.
        life.tick(one.second);
        CHECK(life.trigger(one.second) == std::string(one.day) + "-2");
        CHECK(life.closed() == std::string(one.day) + "-1");
    }
}

TEST_CASE("a clock that goes forward past the time rolls over once, and back again never",
          "[turn]") {
    const Desk nse(shipped("nse"), "Asia/Kolkata", "15:45");
    Life life(nse);
    CHECK(life.trigger("2026-10-19T09:30:00+05:30") == "2026-10-19-1");
    life.tick("2026-10-19T20:00:00+05:30");  // a jump
    life.tick("2026-10-19T10:00:00+05:30");  // put right
    CHECK(life.trigger("2026-10-19T10:00:30+05:30") == "2026-10-19-2");
    life.tick("2026-10-19T15:45:00+05:30");
    life.tick("2026-10-19T15:45:30+05:30");
    CHECK(life.closed() == "2026-10-19-1");
    CHECK(life.trigger("2026-10-20T09:30:00+05:30") == "2026-10-20-1");
    CHECK(life.closed() == "2026-10-19-1 2026-10-19-2");
    // Back over days: the closed day's date stands until the clock has passed it.
    CHECK(life.trigger("2026-10-12T09:30:00+05:30") == "2026-10-20-1");
}

TEST_CASE("a machine that slept over days rolls over once when it wakes, by its wall clock",
          "[turn]") {
    const Desk nse(shipped("nse"), "Asia/Kolkata", "15:45");
    for (const bool by_tick : {true, false}) {
        Life life(nse);
        life.trigger("2026-10-14T11:00:00+05:30");
        if (by_tick) {
            life.tick("2026-10-19T08:00:00+05:30");
            CHECK(life.closed() == "2026-10-14-1");
        }
        CHECK(life.trigger("2026-10-19T08:00:30+05:30") == "2026-10-19-1");
        CHECK(life.closed() == "2026-10-14-1");
    }
}

TEST_CASE("M27: a session that is resumed after a restart meets the date check first", "[turn]") {
    const Desk nse(shipped("nse"), "Asia/Kolkata", "15:45");
    DeskState state;
    state.session = "2026-10-16-1";
    state.session_day = day("2026-10-16");
    const auto plan =
        nse.keeper.plan(state, at("2026-10-16T09:30:00+05:30"), at("2026-10-19T09:30:00+05:30"));
    CHECK(plan.step == Step::roll_over);
    CHECK(plan.day == day("2026-10-16"));
}

TEST_CASE("M32: in the small hours the desk's zone decides the day, not the host's", "[turn]") {
    const Desk shanghai(shipped("always"), "Asia/Shanghai", "00:00");
    Life life(shanghai);
    CHECK(life.trigger("2026-10-19T03:53:00+08:00") == "2026-10-19-1");
    const Desk nse(shipped("nse"), "Asia/Kolkata", "15:45");
    CHECK(Life(nse).trigger("2026-10-18T22:23:00Z") == "2026-10-19-1");
}

TEST_CASE("M33: the rollover is at the desk's time whatever zone the host is in", "[turn]") {
    for (const char* zone : {"UTC", "America/Los_Angeles", "Pacific/Auckland"}) {
        ::setenv("TZ", zone, 1);
        ::tzset();
        const Desk nse(shipped("nse"), "Asia/Kolkata", "15:45");
        Life life(nse);
        life.trigger("2026-10-19T09:30:00+05:30");
        life.tick("2026-10-19T15:44:59+05:30");
        CHECK(life.closed().empty());
        life.tick("2026-10-19T15:45:00+05:30");
        CHECK(life.closed() == "2026-10-19-1");
        const Desk early(shipped("always"), "Asia/Kolkata", "01:00");
        CHECK(early.keeper.next_due(at("2026-10-18T19:00:00Z")) == at("2026-10-18T19:30:00Z"));
    }
    ::unsetenv("TZ");
    ::tzset();
}

TEST_CASE("MCX trades to 23:55 and rolls over after it, at 00:05 for the date before", "[turn]") {
    const Desk mcx(
        weekdays("Asia/Kolkata", R"([{"open":"09:00","close":"23:55"}])"), "Asia/Kolkata", "00:05");
    Life life(mcx);
    CHECK(life.trigger("2026-10-19T23:50:00+05:30") == "2026-10-19-1");
    life.tick("2026-10-20T00:04:59+05:30");
    CHECK(life.closed().empty());
    life.tick("2026-10-20T00:05:00+05:30");
    CHECK(life.closed() == "2026-10-19-1");
    CHECK(life.trigger("2026-10-20T00:06:00+05:30") == "2026-10-20-1");
}

TEST_CASE("GIFT Nifty's night belongs to the day it opened on and ends at 03:00", "[turn]") {
    const Desk gift(weekdays("Asia/Kolkata",
                             R"([{"open":"06:30","close":"15:40"},
                                 {"open":"16:35","close":"02:45","next_day":true}])"),
                    "Asia/Kolkata",
                    "03:00");
    Life life(gift);
    CHECK(life.trigger("2026-10-16T07:00:00+05:30") == "2026-10-16-1");
    life.tick("2026-10-16T16:00:00+05:30");
    CHECK(life.trigger("2026-10-17T02:30:00+05:30") == "2026-10-16-1");  // a Saturday's night
    life.tick("2026-10-17T02:59:59+05:30");
    CHECK(life.closed().empty());
    life.tick("2026-10-17T03:00:00+05:30");
    CHECK(life.closed() == "2026-10-16-1");
    CHECK(life.trigger("2026-10-17T03:00:30+05:30") == "2026-10-17-1");
    CHECK(life.trigger("2026-10-19T07:00:00+05:30") == "2026-10-19-1");
}

TEST_CASE("a market of the evening before belongs to the day of its close", "[turn]") {
    const Desk cme(
        weekdays("America/Chicago", R"([{"open":"17:00","close":"16:00","day":"close"}])"),
        "America/Chicago",
        "16:30");
    Life life(cme);
    // Sunday 18 October, 17:05 in Chicago: Monday's session has begun.
    CHECK(life.trigger("2026-10-18T17:05:00-05:00") == "2026-10-19-1");
    life.tick("2026-10-18T23:59:00-05:00");
    CHECK(life.trigger("2026-10-19T10:00:00-05:00") == "2026-10-19-1");
    life.tick("2026-10-19T16:29:59-05:00");
    CHECK(life.closed().empty());
    life.tick("2026-10-19T16:30:00-05:00");
    CHECK(life.closed() == "2026-10-19-1");
    // In the pause the day is still Monday's; from 17:00 on it is Tuesday's.
    CHECK(life.trigger("2026-10-19T16:45:00-05:00") == "2026-10-19-2");
    CHECK(life.trigger("2026-10-19T17:00:00-05:00") == "2026-10-20-1");
    CHECK(life.closed() == "2026-10-19-1 2026-10-19-2");
    // Friday evening is no other day's.
    life.tick("2026-10-23T16:30:00-05:00");
    CHECK(life.trigger("2026-10-23T18:00:00-05:00") == "2026-10-23-1");
}

TEST_CASE("a whole year of ticks closes each trading day of NSE at most once", "[turn]") {
    const Desk nse(shipped("nse"), "Asia/Kolkata", "15:45");
    Life life(nse);
    Timestamp now = at("2026-01-01T09:20:00+05:30");
    int opened = 0;
    for (int i = 0; i < 365; ++i, now += std::chrono::hours(24)) {
        if (!nse.calendar.is_trading_day(nse.zone.date_of(now))) {
            continue;
        }
        life.trigger(to_rfc3339(now));
        ++opened;
        for (int minutes = 0; minutes < 14 * 60; minutes += 10) {
            life.tick(to_rfc3339(now + std::chrono::minutes(minutes)));
        }
    }
    std::istringstream words(life.closed());
    std::string last;
    int closed = 0;
    for (std::string word; words >> word; ++closed) {
        CHECK(word > last);
        CHECK(word.ends_with("-1"));
        last = word;
    }
    CHECK(opened == 247);
    CHECK(closed == 247);
}
