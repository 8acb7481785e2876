#include "host/os/clock.hpp"

#include "tests/catch.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::FakeClock;
using daybook::test::must;

namespace {

Zone zone(const char* name) {
    return must(Zone::find(name));
}
DeskDate date(const char* text) {
    return must(DeskDate::parse(text));
}
TimeOfDay time_of(const char* text) {
    return must(TimeOfDay::parse(text));
}
std::string instant(const char* name, const char* day, const char* time) {
    return to_rfc3339(zone(name).instant(date(day), time_of(time))).substr(0, 16);
}

}  // namespace

TEST_CASE("a date reads back as it was written, and only as YYYY-MM-DD", "[os]") {
    CHECK(date("2026-10-19").str() == "2026-10-19");
    CHECK(date("2026-10-19").weekday() == std::chrono::Monday);
    CHECK(date("2024-02-28").plus_days(2).str() == "2024-03-01");
    CHECK(date("2026-01-01").plus_days(-1).str() == "2025-12-31");
    CHECK(date("2025-12-31") < date("2026-01-01"));
    for (const char* text : {"2026-02-29",
                             "2026-13-01",
                             "2026-00-01",
                             "2026-1-01",
                             "26-01-01",
                             "2026-01-01 ",
                             " 2026-01-01",
                             "2026/01/01",
                             "",
                             "2026-01-32",
                             "-026-01-01"}) {
        const auto parsed = DeskDate::parse(text);
        INFO(text);
        REQUIRE(!parsed);
        CHECK(parsed.error().code() == Errc::invalid);
    }
}

TEST_CASE("a time of day goes from 00:00 to 24:00", "[os]") {
    CHECK(time_of("00:00").minutes == 0);
    CHECK(time_of("15:45").minutes == 945);
    CHECK(time_of("24:00").minutes == 1440);
    CHECK(time_of("09:05").str() == "09:05");
    for (const char* text : {"24:01", "9:05", "15:60", "15:4", "15-45", "", "15:45:00", "-1:00"}) {
        INFO(text);
        CHECK(!TimeOfDay::parse(text));
    }
}

TEST_CASE("an instant is written with nine decimals and read with any offset", "[os]") {
    const Timestamp at = FakeClock::at("2026-10-19T11:32:11.104233871+05:30");
    CHECK(to_rfc3339(at) == "2026-10-19T06:02:11.104233871Z");
    CHECK(to_rfc3339(FakeClock::at("2026-10-19T06:02:11Z")) == "2026-10-19T06:02:11.000000000Z");
    CHECK(to_rfc3339(FakeClock::at("1969-12-31T23:59:59.5Z")) == "1969-12-31T23:59:59.500000000Z");
    CHECK(FakeClock::at("2026-10-19T00:00:00-23:59") == FakeClock::at("2026-10-19T23:59:00Z"));
    for (const char* text : {"2026-10-19",
                             "2026-10-19T06:02:11",
                             "2026-10-19T06:02:60Z",
                             "2026-10-19T24:00:00Z",
                             "2026-10-19T06:02:11.Z",
                             "2026-10-19T06:02:11.1234567890Z",
                             "2026-10-19T06:02:11Zx",
                             "1600-01-01T00:00:00Z",
                             "9999-12-31T00:00:00Z",
                             "2026-10-19T06:02:11+5:30",
                             ""}) {
        INFO(text);
        CHECK(!parse_rfc3339(text));
    }
}

TEST_CASE("a zone gives the desk's date, its wall clock and its name", "[os]") {
    const Zone india = zone("Asia/Kolkata");
    const Timestamp at = FakeClock::at("2026-10-19T18:45:10Z");
    CHECK(india.date_of(at).str() == "2026-10-20");
    CHECK(india.time_of(at).str() == "00:15");
    CHECK(india.local(at) == "2026-10-20T00:15:10+05:30");
    CHECK(india.abbreviation(at) == "IST");
    const Zone york = zone("America/New_York");
    CHECK(york.local(FakeClock::at("2026-07-01T20:15:00Z")) == "2026-07-01T16:15:00-04:00");
    CHECK(york.abbreviation(FakeClock::at("2026-07-01T20:15:00Z")) == "EDT");
}

TEST_CASE("a wall-clock time in a gap is the first instant after it, in an overlap the earlier",
          "[os]") {
    CHECK(instant("Asia/Kolkata", "2026-10-19", "15:45") == "2026-10-19T10:15");
    CHECK(instant("America/New_York", "2026-03-08", "02:30") == "2026-03-08T07:00");
    CHECK(instant("America/New_York", "2026-11-01", "01:30") == "2026-11-01T05:30");
    CHECK(instant("America/New_York", "2026-07-01", "16:15") == "2026-07-01T20:15");
    CHECK(instant("Europe/London", "2026-03-29", "01:30") == "2026-03-29T01:00");
    CHECK(instant("Etc/UTC", "2026-03-29", "24:00") == "2026-03-30T00:00");
}

TEST_CASE("an unknown zone is an error that names it and says what to do", "[os]") {
    const auto found = Zone::find("Asia/Kolkatta");
    REQUIRE(!found);
    CHECK(found.error().code() == Errc::not_found);
    CHECK(found.error().message().find("Asia/Kolkatta") != std::string::npos);
    CHECK(found.error().message().find("tzdata") != std::string::npos);
    CHECK(!Zone::find(""));
}

TEST_CASE("a replayed clock stands still and never goes back", "[os]") {
    ReplayedClock clock(FakeClock::at("2019-01-02T03:30:00Z"));
    CHECK(clock.is_replayed());
    CHECK(to_rfc3339(clock.now()) == "2019-01-02T03:30:00.000000000Z");
    REQUIRE(clock.advance_to(FakeClock::at("2019-01-02T03:45:00Z")));
    REQUIRE(clock.advance_to(FakeClock::at("2019-01-02T03:45:00Z")));
    const auto back = clock.advance_to(FakeClock::at("2019-01-02T03:44:59Z"));
    REQUIRE(!back);
    CHECK(back.error().code() == Errc::invalid);
    CHECK(to_rfc3339(clock.now()).substr(0, 19) == "2019-01-02T03:45:00");
    CHECK(!SystemClock().is_replayed());
}
