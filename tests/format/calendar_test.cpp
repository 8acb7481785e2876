#include "host/format/calendar.hpp"

#include <fstream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::FakeClock;
using daybook::test::must;

namespace {

Calendar shipped(const std::string& id) {
    std::ifstream in(std::string(DAYBOOK_SOURCE_DIR) + "/share/calendars/" + id + ".json");
    std::ostringstream text;
    text << in.rdbuf();
    return must(Calendar::parse(text.str(), id + ".json"));
}

DeskDate date(const char* text) {
    return must(DeskDate::parse(text));
}

int trading_days(const Calendar& calendar, int year) {
    int count = 0;
    DeskDate day = date((std::to_string(year) + "-01-01").c_str());
    while (static_cast<int>(day.value.year()) == year) {
        count += calendar.is_trading_day(day) ? 1 : 0;
        day = day.plus_days(1);
    }
    return count;
}

std::string sessions(const Calendar& calendar, const char* day, const char* segment = "") {
    const auto found = calendar.sessions(date(day), segment);
    if (!found) {
        return "unknown";
    }
    std::string text;
    for (const MarketSession& session : *found) {
        text += (text.empty() ? "" : " ") + session.open.str() + "-" + session.close.str() +
                (session.next_day ? "+1" : "");
    }
    return text;
}

std::string due(const Calendar& calendar, const char* day, const char* configured) {
    const auto at =
        calendar.rollover_due(date(day), must(TimeOfDay::parse(configured)), calendar.zone());
    return at ? calendar.zone().local(*at).substr(0, 16) : "none";
}

constexpr std::string_view kSmall =
    R"({"$schema_version":1,"id":"x","name":"X","mic":null,"tz":"Asia/Kolkata","valid_from":"2026-01-01",
"valid_through":"2026-12-31","weekend":["Sat","Sun"],"rollover":"15:45",
"regular":[{"from":"2026-01-01","to":null,"segments":{"cash":[{"open":"09:15","close":"15:30"}]},"phases":{},"day_end":"15:30"}],
"holidays":[{"date":"2026-01-26","weekday":"Mon","name":"Republic Day"}],
"special":[{"date":"2026-02-01","weekday":"Sun","name":"Budget","kind":"full","sessions":[{"open":"09:15","close":"15:30"}]}]})";

std::string problem(std::string_view from, std::string_view to) {
    std::string text(kSmall);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    const auto calendar = Calendar::parse(text, "x.json");
    if (calendar) {
        return "";
    }
    return calendar.error().message();
}

}  // namespace

TEST_CASE("the NSE calendar has the published number of trading dates", "[format]") {
    const Calendar nse = shipped("nse");
    CHECK(trading_days(nse, 2024) == 249);
    CHECK(trading_days(nse, 2025) == 249);
    CHECK(trading_days(nse, 2026) == 247);
    CHECK(nse.id() == "nse");
    CHECK(nse.zone().name() == "Asia/Kolkata");
    CHECK(nse.default_rollover()->str() == "15:45");
    CHECK(nse.valid_through() == date("2026-12-31"));
    CHECK(nse.covers(date("2024-01-01")));
    CHECK(!nse.covers(date("2027-01-01")));
    CHECK(!nse.covers(date("2023-12-31")));
    CHECK(nse.is_trading_day(date("2027-01-04")));
    CHECK(!nse.is_trading_day(date("2027-01-02")));
}

TEST_CASE("days that other calendars get wrong are right", "[format]") {
    const Calendar nse = shipped("nse");
    CHECK(sessions(nse, "2024-01-20") == "09:15-15:30");
    CHECK(sessions(nse, "2024-01-22").empty());
    CHECK(sessions(nse, "2024-03-02") == "09:15-10:00 11:30-12:30");
    CHECK(sessions(nse, "2024-05-18") == "09:15-10:00 11:30-12:30");
    CHECK(sessions(nse, "2024-11-01") == "18:00-19:00");
    CHECK(sessions(nse, "2025-02-01") == "09:15-15:30");
    CHECK(sessions(nse, "2025-10-21") == "13:45-14:45");
    CHECK(sessions(nse, "2026-01-15").empty());
    CHECK(sessions(nse, "2026-02-01") == "09:15-15:30");
    CHECK(sessions(nse, "2026-11-08") == "unknown");
    CHECK(nse.is_trading_day(date("2026-11-08")));
    CHECK(!nse.name_of(date("2026-01-15")).empty());
    CHECK(nse.name_of(date("2026-01-16")).empty());
}

TEST_CASE("hours follow the dated rules, by segment and merged", "[format]") {
    const Calendar nse = shipped("nse");
    CHECK(sessions(nse, "2026-07-31") == "09:15-15:30");
    CHECK(sessions(nse, "2026-08-03") == "09:15-15:40");
    CHECK(sessions(nse, "2026-08-03", "cash") == "09:15-15:35");
    CHECK(sessions(nse, "2026-08-03", "fno") == "09:15-15:40");
    CHECK(sessions(nse, "2026-08-03", "other") == "09:15-15:40");
}

TEST_CASE("the market is open in any segment's session, and unknown where times are", "[format]") {
    const Calendar nse = shipped("nse");
    const auto at = [&](const char* text) { return nse.market_at(FakeClock::at(text)); };
    CHECK(at("2026-08-03T09:14:59+05:30") == Market::closed);
    CHECK(at("2026-08-03T09:15:00+05:30") == Market::open);
    CHECK(at("2026-08-03T15:37:00+05:30") == Market::open);  // derivatives only
    CHECK(at("2026-08-03T15:40:00+05:30") == Market::closed);
    CHECK(at("2026-11-08T18:00:00+05:30") == Market::unknown);
    CHECK(at("2024-03-02T10:30:00+05:30") == Market::closed);
    CHECK(nse.next_open(FakeClock::at("2026-01-23T16:00:00+05:30")) ==
          FakeClock::at("2026-01-27T09:15:00+05:30"));
    CHECK(nse.next_open(FakeClock::at("2026-01-27T09:15:00+05:30")) ==
          FakeClock::at("2026-01-28T09:15:00+05:30"));
    CHECK(nse.next_open(FakeClock::at("2024-03-02T10:30:00+05:30")) ==
          FakeClock::at("2024-03-02T11:30:00+05:30"));
}

TEST_CASE("the rollover is at its time, later after a later close, and not on days without one",
          "[format]") {
    const Calendar nse = shipped("nse");
    CHECK(due(nse, "2026-10-19", "15:45") == "2026-10-19T15:45");
    CHECK(due(nse, "2024-11-01", "15:45") == "2024-11-01T19:15");
    CHECK(due(nse, "2025-10-21", "15:45") == "2025-10-21T15:45");
    CHECK(due(nse, "2026-10-18", "15:45") == "none");
    CHECK(due(nse, "2026-11-08", "15:45") == "none");
    CHECK(due(nse, "2026-10-19", "15:30") == "2026-10-19T15:55");
    const Calendar always = shipped("always");
    CHECK(due(always, "2026-10-19", "00:00") == "2026-10-20T00:00");
    CHECK(due(always, "2026-10-19", "08:00") == "2026-10-19T08:00");
    const Calendar nyse = shipped("nyse");
    CHECK(due(nyse, "2026-03-06", "16:15") == "2026-03-06T16:15");
    // The owner's clock may be in another zone than the market's.
    const Zone india = must(Zone::find("Asia/Kolkata"));
    const auto at = nyse.rollover_due(date("2026-10-19"), must(TimeOfDay::parse("02:00")), india);
    REQUIRE(at);
    CHECK(india.local(*at).substr(0, 16) == "2026-10-20T02:00");
}

TEST_CASE("a market round the clock never closes", "[format]") {
    const Calendar always = shipped("always");
    CHECK(always.covers(date("2100-01-01")));
    CHECK(always.is_trading_day(date("2026-10-18")));
    CHECK(always.market_at(FakeClock::at("2026-10-18T23:59:59.999999999Z")) == Market::open);
    CHECK(always.market_at(FakeClock::at("2026-10-19T00:00:00Z")) == Market::open);
    CHECK(sessions(always, "2026-10-18") == "00:00-24:00");
    CHECK(trading_days(always, 2024) == 366);
}

TEST_CASE("the shipped New York and demonstration calendars are read", "[format]") {
    const Calendar nyse = shipped("nyse");
    CHECK(trading_days(nyse, 2024) == 252);
    CHECK(trading_days(nyse, 2025) == 250);
    CHECK(!nyse.is_trading_day(date("2025-01-09")));
    CHECK(nyse.market_at(FakeClock::at("2026-03-09T13:30:00Z")) ==
          Market::open);  // summer time began the day before
    CHECK(nyse.market_at(FakeClock::at("2026-03-06T13:30:00Z")) == Market::closed);
    const Calendar demo = shipped("nse-demo-2019");
    CHECK(demo.id() == "nse-demo-2019");
    CHECK(sessions(demo, "2019-01-02") == "09:15-15:30");
    CHECK(due(demo, "2019-01-02", "15:45") == "2019-01-02T15:45");
    CHECK(sessions(demo, "2019-02-01") == "09:15-15:30");
    CHECK(!demo.covers(date("2019-02-01")));
}

TEST_CASE("a session past midnight belongs to the day it opened", "[format]") {
    std::string text(kSmall);
    const std::string from = R"([{"open":"09:15","close":"15:30"}]},"phases")";
    text.replace(
        text.find(from),
        from.size(),
        R"([{"open":"06:30","close":"15:40"},{"open":"16:35","close":"02:45","next_day":true}]},"phases")");
    const Calendar gift = must(Calendar::parse(text, "gift.json"));
    CHECK(sessions(gift, "2026-10-16") == "06:30-15:40 16:35-02:45+1");
    CHECK(gift.market_at(FakeClock::at("2026-10-17T02:00:00+05:30")) ==
          Market::open);  // a Saturday
    CHECK(gift.market_at(FakeClock::at("2026-10-17T02:45:00+05:30")) == Market::closed);
    CHECK(due(gift, "2026-10-16", "03:00") == "2026-10-17T03:00");
    CHECK(due(gift, "2026-10-16", "02:00") == "2026-10-17T03:00");
}

TEST_CASE("a session whose day is that of its close begins on the evening before", "[format]") {
    std::string text(kSmall);
    const std::string from = R"([{"open":"09:15","close":"15:30"}]},"phases")";
    text.replace(text.find(from),
                 from.size(),
                 R"([{"open":"17:00","close":"16:00","day":"close"}]},"phases")");
    const Calendar cme = must(Calendar::parse(text, "cme.json"));
    // The Monday opens on Sunday evening, the Friday closes on Friday.
    CHECK(cme.market_at(FakeClock::at("2026-10-18T17:00:00+05:30")) == Market::open);
    CHECK(cme.market_at(FakeClock::at("2026-10-18T16:59:00+05:30")) == Market::closed);
    CHECK(cme.market_at(FakeClock::at("2026-10-16T15:59:00+05:30")) == Market::open);
    CHECK(cme.market_at(FakeClock::at("2026-10-16T18:00:00+05:30")) == Market::closed);
    CHECK(cme.next_open(FakeClock::at("2026-10-16T18:00:00+05:30")) ==
          FakeClock::at("2026-10-18T17:00:00+05:30"));
    CHECK(due(cme, "2026-10-19", "16:30") == "2026-10-19T16:30");
    std::string wrong(text);
    wrong.replace(wrong.find("\"day\":\"close\""), 13, "\"day\":\"shut\"");
    CHECK_FALSE(Calendar::parse(wrong, "cme.json"));
}

TEST_CASE("near its end and past it a calendar says so, and weekends stay known", "[format]") {
    const Calendar nse = shipped("nse");
    CHECK(nse.end_note(date("2026-10-19")).empty());
    CHECK(nse.end_note(date("2026-12-30")) == "calendar nse ends in 1 day, on 2026-12-31");
    CHECK(nse.end_note(date("2027-01-04")).find("ended on 2026-12-31: only weekends") !=
          std::string::npos);
    CHECK(nse.end_note(date("2023-12-29")).find("begins on 2024-01-01") != std::string::npos);
    CHECK(nse.is_trading_day(date("2027-01-04")));
    CHECK_FALSE(nse.is_trading_day(date("2027-01-03")));
    CHECK(due(nse, "2027-01-04", "15:45") == "2027-01-04T15:45");
    CHECK(shipped("always").end_note(date("2100-01-01")).empty());
    const auto named = nse.named_days(date("2026-11-01"), 3);
    REQUIRE(named.size() == 3);
    CHECK(named[0].date == date("2026-11-08"));
    CHECK(named[0].trading);
    CHECK(named[1].name == "Diwali Balipratipada");
    CHECK_FALSE(named[1].trading);
}

TEST_CASE("a mistake in a calendar is named with file and date", "[format]") {
    CHECK(problem("Republic", "Republic").empty());
    CHECK(problem(R"("weekday":"Mon")", R"("weekday":"Tue")")
              .find("x.json, \"holidays\": 2026-01-26 is a Mon, not Tue") != std::string::npos);
    CHECK(problem("2026-01-26", "2026-02-30").find("2026-02-30") != std::string::npos);
    CHECK(problem(R"("open":"09:15")", R"("open":"15:31")").find("2026-01-01") !=
          std::string::npos);
    CHECK(problem(R"("open":"09:15")", R"("open":"24:00")").find("24:00") != std::string::npos);
    CHECK(problem(R"("close":"15:30")", R"("close":"25:00")").find("25:00") != std::string::npos);
    CHECK(problem(R"("sessions":[{"open":"09:15","close":"15:30"}])", R"("sessions":[])")
              .find("unannounced") != std::string::npos);
    CHECK(
        problem(R"("sessions":[{)", R"("times":"unannounced","sessions":[{)").find("2026-02-01") !=
        std::string::npos);
    CHECK(problem(R"(["Sat","Sun"])", R"(["Saturday"])").find("weekend") != std::string::npos);
    CHECK(problem("Asia/Kolkata", "Asia/Nowhere").find("Asia/Nowhere") != std::string::npos);
    CHECK(problem("\"$schema_version\":1", "\"$schema_version\":2").find("$schema_version") !=
          std::string::npos);
    CHECK(problem("\"valid_through\":\"2026-12-31\"", "\"valid_through\":\"2025-12-31\"")
              .find("valid_through") != std::string::npos);
    CHECK(problem("\"valid_through\":\"2026-12-31\"", "\"valid_through\":null")
              .find("valid_through") != std::string::npos);
    CHECK(problem("\"name\":\"X\"", "\"name\":5").find("name") != std::string::npos);
    CHECK(problem("\"phases\":{}", "\"phases\":{},\"unknown\":[1]").empty());
    CHECK(problem(R"("holidays":[)",
                  R"("holidays":[{"date":"2026-01-26","weekday":"Mon","name":"Again"},)")
              .find("2026-01-26 stands twice") != std::string::npos);
    CHECK(problem(
              R"("special":[)",
              R"("special":[{"date":"2026-02-01","sessions":[{"open":"09:15","close":"15:30"}]},)")
              .find("2026-02-01 stands twice") != std::string::npos);
    CHECK(problem(R"("regular":[)",
                  R"("regular":[{"from":"2025-01-01","to":"2026-01-01","segments":{"cash":[]}},)")
              .find("two rules cover 2026-01-01") != std::string::npos);
    CHECK(problem(R"("regular":[)",
                  R"("regular":[{"from":"2025-01-01","to":"2025-12-30","segments":{"cash":[]}},)")
              .find("no rule covers 2025-12-31") != std::string::npos);
    CHECK(
        problem(R"([{"open":"09:15","close":"15:30"}]},"phases")",
                R"([{"open":"09:15","close":"15:30"},{"open":"15:29","close":"16:00"}]},"phases")")
            .find("overlap") != std::string::npos);
}

TEST_CASE("an owner's file is laid over date by date, and a wrong one changes nothing",
          "[format]") {
    Calendar calendar = must(Calendar::parse(kSmall, "x.json"));
    REQUIRE(calendar.overlay(R"({"$schema_version":1,"id":"x","rollover":"15:40",
        "holidays":[{"date":"2026-01-26","remove":true},{"date":"2026-03-03","name":"Election"}],
        "special":[{"date":"2026-02-01","weekday":"Sun","remove":true},
                   {"date":"2026-11-08","name":"Muhurat","sessions":[{"open":"18:00","close":"19:00"}]}]})",
                             "own.json"));
    CHECK(calendar.is_trading_day(date("2026-01-26")));
    CHECK(!calendar.is_trading_day(date("2026-03-03")));
    CHECK(calendar.name_of(date("2026-03-03")) == "Election");
    CHECK(!calendar.is_trading_day(date("2026-02-01")));
    CHECK(sessions(calendar, "2026-11-08") == "18:00-19:00");
    CHECK(sessions(calendar, "2026-03-04") == "09:15-15:30");
    CHECK(calendar.default_rollover()->str() == "15:40");
    CHECK(!calendar.overlay(R"({"$schema_version":1,"id":"y"})", "own.json"));
    const auto wrong = calendar.overlay(
        R"({"$schema_version":1,"id":"x","holidays":[{"date":"2026-03-04","name":"A"},{"date":"2026-03-05","weekday":"Mon"}]})",
        "own.json");
    REQUIRE(!wrong);
    CHECK(wrong.error().message().find("own.json") != std::string::npos);
    CHECK(calendar.is_trading_day(date("2026-03-04")));
}
