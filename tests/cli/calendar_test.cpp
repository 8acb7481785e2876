// The calendar's commands, with and without a host.
#include "tests/catch.hpp"
#include "tests/cli/program.hpp"

using namespace daybook;
using daybook::test::Home;

namespace {

constexpr const char* kBudget =
    R"({"$schema_version":1,"id":"nse","holidays":[],
        "special":[{"date":"2026-12-05","weekday":"Sat","name":"Drill","kind":"special",
                    "sessions":[{"open":"11:30","close":"12:30"}]}]})";

}  // namespace

TEST_CASE("the calendar's commands need no host and read what the owner lays over", "[cli]") {
    const Home home({"--calendar", "nse", "--zone", "Asia/Kolkata"});
    const Json shown = home.ask({"calendar", "show", "--day", "2026-11-08", "--limit", "2"});
    CHECK(shown["desk"].as_string() == "main");
    CHECK(shown["day"]["times"].as_string() == "unannounced");
    CHECK(shown["day"]["rollover"].is_null());
    CHECK(shown["named_days"].items().size() == 2);
    CHECK(home.ask({"calendar", "today"})["valid_through"].as_string() == "2026-12-31");
    CHECK(home.ask({"calendar", "next", "main"})["day"]["trading_day"].as_bool());
    CHECK(home.ask({"calendar", "next", "--calendar", "always"})["days_left"].is_null());

    CHECK_FALSE(
        home.ask({"calendar", "show", "--day", "2026-12-05"})["day"]["trading_day"].as_bool());
    home.write("calendars/nse.json", kBudget);
    const Json laid = home.ask({"calendar", "show", "--day", "2026-12-05"});
    CHECK(laid["day"]["sessions"].items()[0]["open"].as_string() == "11:30");
    CHECK(laid["day"]["rollover"].as_string() == "2026-12-05T15:45:00+05:30");
    CHECK(home.daybook({"calendar", "check"}).code == 0);
}

TEST_CASE("a mistake in the owner's calendar is named with file and entry", "[cli]") {
    const Home home({"--calendar", "nse"});
    std::string wrong = kBudget;
    wrong.replace(wrong.find("Sat"), 3, "Sun");
    home.write("calendars/nse.json", wrong);
    const auto ran = home.daybook({"calendar", "check"});
    CHECK(ran.code == 2);
    CHECK_THAT(ran.err, Catch::Contains("calendars/nse.json"));
    CHECK_THAT(ran.err, Catch::Contains("2026-12-05 is a Sat, not Sun"));
    CHECK(home.daybook({"calendar", "today"}).code == 2);
    CHECK(home.daybook({"calendar", "today", "nowhere"}).code == 4);
    CHECK(home.daybook({"calendar", "check", "--calendar"}).code == 2);
}

TEST_CASE("past the end of its list a calendar says what it goes by", "[cli]") {
    const Home home({"--calendar", "nse"});
    const auto ran = home.daybook({"calendar", "show", "--day", "2028-01-03"});
    CHECK(ran.code == 0);
    CHECK_THAT(ran.out, Catch::Contains("only weekends and the usual hours are known"));
}
