#include <string>
#include <vector>

#include <daybook/json.hpp>

#include "plugins/skills/candles/answer.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/fake_host.hpp"
#include "tests/plugins/price_rows.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook::candles;
using daybook::json::ObjectReader;
using daybook::test::contains;
using daybook::test::FakeHost;
using daybook::test::kHeader;
using daybook::test::minute_row;
using daybook::test::TempFolder;

namespace {

const std::string kDemoConfig =
    std::string(R"({"folders":[")") + DAYBOOK_SOURCE_DIR + R"(/demo/prices"]})";

std::string folder_config(const TempFolder& folder) {
    return R"({"folder":")" + folder.path().string() + R"("})";
}
/// A member of the answer, decoded.
std::string member(const std::string& json, std::string_view key) {
    return ObjectReader(json).text(key);
}
std::string object_member(const std::string& json, std::string_view object, std::string_view key) {
    const ObjectReader in(json);
    const ObjectReader inner(in.raw(object));
    const auto raw = inner.raw(key);
    return daybook::json::text_of(raw.empty() ? "null" : raw).value_or(std::string(raw));
}
std::vector<std::string> lines_of(const std::string& table) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < table.size();) {
        const auto end = table.find('\n', at);
        lines.push_back(table.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

}  // namespace

TEST_CASE("bars of the real NIFTY day equal values computed by hand", "[plugins]") {
    FakeHost host("2019-01-02T16:00:00");
    REQUIRE(host.open("candles", kDemoConfig).empty());
    const auto bars = [&](const std::string& interval, const std::string& range) {
        const auto outcome = host.call(
            "candles", R"({"symbol":"NIFTY50","interval":")" + interval + "\"" + range + "}");
        REQUIRE(outcome.ok());
        return lines_of(member(outcome.json, "table"));
    };
    CHECK(bars("5m", R"(,"from":"09:15","to":"09:19")") ==
          std::vector<std::string>{"2019-01-02", "09:15 10879.95 10885.3 10840.55 10840.55 3-7"});
    CHECK(bars("15m", R"(,"from":"09:15","to":"09:29")")[1] ==
          "09:15 10879.95 10885.3 10832.9 10850.7 3-17");
    const auto hours = bars("60m", "");
    REQUIRE(hours.size() == 8);
    CHECK(hours[1] == "09:15 10879.95 10885.3 10813.65 10826.4 3-62");
    CHECK(hours[7] == "15:15 10901.9 10923.6 10901.2 10915.75 363-377");  // ends with the session
    CHECK(bars("1d", "") ==
          std::vector<std::string>{"2019-01-02 10879.95 10923.6 10807.1 10915.75 3-377"});
    CHECK(bars("1m", R"(,"from":"09:00","to":"09:16")") ==
          std::vector<std::string>{"2019-01-02",
                                   "09:15 10879.95 10885.3 10872.3 10874.1 3",
                                   "09:16 10875.75 10879.15 10873.85 10873.85 4"});
}

TEST_CASE("prints before the open and after the close are in no bar, but are told", "[plugins]") {
    FakeHost host("2019-01-02T16:00:00");
    REQUIRE(host.open("candles", kDemoConfig).empty());
    const auto day = host.call("candles", R"({"symbol":"NIFTY50","interval":"1d"})");
    REQUIRE(day.ok());
    CHECK(contains(day.json, "2019-01-02 09:07 10881.7, row 2 (before the open)"));
    CHECK(contains(day.json, "2019-01-02 15:31 10910.1, row 379 (after the close)"));
    CHECK(contains(member(day.json, "note"), "volume is 0"));
    const auto price = host.call("price", R"({"symbol":"NIFTY50"})");
    CHECK(ObjectReader(price.json).number("price") == 10910.1);
    CHECK(member(price.json, "phase") == "after the close");
    CHECK(object_member(price.json, "day", "close") == "10915.75");
}

TEST_CASE("nothing later than now is ever shown, at any minute of a day", "[plugins]") {
    // Each minute's prices are the minute's number, so that a later one would show.
    const TempFolder folder;
    std::string text = kHeader;
    for (int minute = 0; minute < 120; ++minute) {
        const int clock = 9 * 60 + minute;
        std::string time = (clock / 60 < 10 ? "0" : "") + std::to_string(clock / 60) + ":" +
                           (clock % 60 < 10 ? "0" : "") + std::to_string(clock % 60);
        text += minute_row(time, 1000 + minute);
        if (minute == 60) {
            text += "broken row of 10:00\n";
        }
    }
    folder.write("X-1m.csv", text);
    FakeHost host;
    REQUIRE(host.open("candles", folder_config(folder)).empty());
    for (int minute = 0; minute < 115; ++minute) {
        const int clock = 9 * 60 + minute;
        const std::string time = (clock / 60 < 10 ? "0" : "") + std::to_string(clock / 60) + ":" +
                                 (clock % 60 < 10 ? "0" : "") + std::to_string(clock % 60);
        host.set_now("2019-01-02T" + time + ":59");  // one second before the minute is over
        std::string seen;
        for (const std::string interval : {"1m", "5m", "60m", "1d"}) {
            seen += host.call("candles", R"({"symbol":"X","interval":")" + interval + "\"}").json;
        }
        const auto price = host.call("price", R"({"symbol":"X"})");
        seen += price.json + price.message;
        for (int later = minute; later < 120; ++later) {
            INFO("now " << time << " saw minute " << later);
            CHECK_FALSE(contains(seen, std::to_string(1000 + later)));
        }
        if (minute > 0) {
            CHECK(contains(price.json, std::to_string(1000 + minute - 1)));
        }
        CHECK(contains(seen, "broken row") == (minute > 61));
    }
}

TEST_CASE("a question about later is refused, a date that has begun means so far", "[plugins]") {
    FakeHost host("2019-01-03T10:17:30");
    REQUIRE(host.open("candles", kDemoConfig).empty());
    const auto later =
        host.call("candles", R"({"symbol":"NIFTY50","interval":"5m","from":"11:00"})");
    CHECK(later.status == DAYBOOK_INVALID);
    CHECK(contains(later.message, "2019-01-03 10:17"));
    CHECK(host.call("price", R"({"symbol":"NIFTY50","at":"2019-01-04"})").status ==
          DAYBOOK_INVALID);
    CHECK(host.call("price", R"({"symbol":"NIFTY50","at":"10:18"})").status == DAYBOOK_INVALID);
    const auto today = host.call("price", R"({"symbol":"NIFTY50","at":"2019-01-03"})");
    REQUIRE(today.ok());
    CHECK(member(today.json, "bar") == "2019-01-03 10:16");
    const auto beyond =
        host.call("candles", R"({"symbol":"NIFTY50","interval":"5m","to":"2019-01-07"})");
    REQUIRE(beyond.ok());
    CHECK(lines_of(member(beyond.json, "table")).back() ==
          "10:15 10867 10874.7 10865.1 10873.8 441-442 unfinished");
    CHECK(member(beyond.json, "unfinished") == "2019-01-03 10:15: 2 minutes so far, ends 10:20");
}

TEST_CASE("price gives the close before, the gap and the first bar with their rows", "[plugins]") {
    FakeHost host("2019-01-03T09:16:00");
    REQUIRE(host.open("candles", kDemoConfig).empty());
    const auto price = host.call("price", R"({"symbol":"NIFTY"})");
    REQUIRE(price.ok());
    CHECK(object_member(price.json, "previous_close", "price") == "10915.75");
    CHECK(object_member(price.json, "previous_close", "date") == "2019-01-02");
    CHECK(object_member(price.json, "previous_close", "row") == "377");
    CHECK(object_member(price.json, "gap", "points") == "-54.55");
    CHECK(object_member(price.json, "gap", "percent") == "-0.5");
    CHECK(contains(
        price.json,
        R"("first_bar":{"time":"09:15","open":10861.2,"high":10864.2,"low":10840.95,"close":10843.25,"row":381})"));
    host.set_now("2019-01-03T09:15:59");  // the first minute is not over: no day yet
    const auto before = host.call("price", R"({"symbol":"NIFTY"})");
    CHECK(member(before.json, "phase") == "before the open");
    CHECK_FALSE(ObjectReader(before.json).has("day"));
    host.set_now("2019-01-02T09:00:00");
    CHECK(host.call("price", R"({"symbol":"NIFTY"})").status == DAYBOOK_NOT_FOUND);
}

TEST_CASE("bars follow the sessions: two with a gap, an evening, a night over midnight",
          "[plugins]") {
    const TempFolder folder;
    folder.write("X-1m.csv",
                 kHeader + minute_row("09:59", 1) + minute_row("10:00", 2) +
                     minute_row("11:30", 3) + minute_row("11:31", 4) + minute_row("12:30", 5));
    FakeHost host("2019-01-02T13:00:00");
    REQUIRE(host.open("candles", folder_config(folder)).empty());
    host.sessions = [](const std::string& day) {
        return R"({"day":")" + day +
               R"(","trading_day":true,"known":true,"sessions":[{"open":"09:15","close":"10:00"},{"open":"11:30","close":"12:30"}]})";
    };
    const auto hour = host.call("candles", R"({"symbol":"X","interval":"60m"})");
    CHECK(lines_of(member(hour.json, "table")) ==
          std::vector<std::string>{"2019-01-02", "09:15 1 1 1 1 10 2", "11:30 3 4 3 4 20 4-5"});
    CHECK(contains(hour.json, "2019-01-02 10:00 2, row 3 (between sessions)"));
    CHECK(lines_of(member(host.call("candles", R"({"symbol":"X","interval":"1d"})").json,
                          "table")) == std::vector<std::string>{"2019-01-02 1 4 1 4 30 2-5"});
    host.sessions = [](const std::string& day) {
        return R"({"day":")" + day +
               R"(","trading_day":true,"known":true,"sessions":[{"open":"12:00","close":"11:31","next_day":true}]})";
    };
    // 11:30 still belongs to the day that opened before; 12:30 to the new one.
    const auto night =
        lines_of(member(host.call("candles", R"({"symbol":"X","interval":"1d"})").json, "table"));
    REQUIRE(night.size() == 2);
    CHECK(night[0] == "2019-01-01 1 3 1 3 30 2-4");
    CHECK(night[1] == "2019-01-02 5 5 5 5 10 6 unfinished");
}

TEST_CASE("a missing minute is counted and never filled in", "[plugins]") {
    const TempFolder folder;
    folder.write(
        "X-1m.csv",
        kHeader + minute_row("09:15", 1) + minute_row("09:18", 4) + minute_row("09:26", 6));
    FakeHost host("2019-01-02T09:28:00");
    REQUIRE(host.open("candles", folder_config(folder)).empty());
    const auto bars = host.call("candles", R"({"symbol":"X","interval":"5m"})");
    CHECK(lines_of(member(bars.json, "table")) ==
          std::vector<std::string>{
              "2019-01-02", "09:15 1 4 1 4 20 2-3", "09:25 6 6 6 6 10 4 unfinished"});
    CHECK(contains(member(bars.json, "note"),
                   "5 minutes of these bars have no row"));  // 16 17 19, 25 27
}

TEST_CASE("days whose sessions are unknown or that do not trade are told apart", "[plugins]") {
    const TempFolder folder;
    folder.write("X-1m.csv", kHeader + minute_row("09:07", 1) + minute_row("09:15", 2));
    FakeHost host("2019-01-02T10:00:00");
    REQUIRE(host.open("candles", folder_config(folder)).empty());
    for (const std::string answer :
         {R"({"trading_day":true,"known":false,"sessions":[]})", "no json", "{}"}) {
        host.sessions = [&](const std::string&) { return answer; };
        const auto day = host.call("candles", R"({"symbol":"X","interval":"1d"})");
        CHECK(contains(member(day.json, "note"), "does not know this date's sessions"));
        CHECK(contains(member(day.json, "table"), "2019-01-02 1 2 1 2 20 2-3"));
    }
    host.sessions = [](const std::string&) {  // past the end of the calendar's list
        return R"({"trading_day":true,"known":false,"sessions":[{"open":"09:15","close":"15:30"}]})";
    };
    const auto beyond = host.call("candles", R"({"symbol":"X","interval":"1d"})");
    CHECK(contains(member(beyond.json, "note"), "list does not reach these dates"));
    CHECK(contains(member(beyond.json, "table"), "2019-01-02 2 2 2 2 10 3"));
    host.sessions = [](const std::string&) {
        return R"({"trading_day":false,"known":true,"sessions":[]})";
    };
    const auto closed = host.call("candles", R"({"symbol":"X","interval":"1d"})");
    CHECK(member(closed.json, "table").empty());
    CHECK(member(host.call("price", R"({"symbol":"X"})").json, "phase") == "no trading day");
}

TEST_CASE("a daily file serves days, today's only after the close, and splits stay as they are",
          "[plugins]") {
    const TempFolder folder;
    folder.write(
        "A-1d.csv",
        kHeader +
            "2019-01-01,400,400,400,400,5\n2019-01-02,100,101,99,100,20\n2019-01-03,7,7,7,7,1\n");
    FakeHost host("2019-01-02T15:29:59");
    REQUIRE(host.open("candles", folder_config(folder)).empty());
    const std::string args = R"({"symbol":"A","interval":"1d"})";
    CHECK(member(host.call("candles", args).json, "table") == "2019-01-01 400 400 400 400 5 2\n");
    CHECK(ObjectReader(host.call("price", R"({"symbol":"A"})").json).number("price") == 400);
    host.set_now("2019-01-02T15:30:00");
    CHECK(lines_of(member(host.call("candles", args).json, "table")).back() ==
          "2019-01-02 100 101 99 100 20 3");
    const auto minutes = host.call("candles", R"({"symbol":"A","interval":"5m"})");
    CHECK(minutes.status == DAYBOOK_NOT_FOUND);
    CHECK(contains(minutes.message, "ask for interval 1d"));
}

TEST_CASE("an answer stays under 1,600 tokens by an estimate that no tokenizer exceeds",
          "[plugins]") {
    const TempFolder folder;
    std::string text = kHeader;
    for (int day = 1; day <= 28; ++day) {
        const std::string date =
            std::string("2019-02-") + (day < 10 ? "0" : "") + std::to_string(day);
        text += date + ",123456.1234,123456.9999,123450.0001,123455.5555,123456789012\n";
        text += date + "," + std::string(300, '9') + ",broken\n";
    }
    folder.write("LONG-1d.csv", text);
    FakeHost host("2019-03-01T10:00:00");
    REQUIRE(host.open("candles", folder_config(folder)).empty());
    const auto full = host.call("candles", R"({"symbol":"LONG","interval":"1d","limit":60})");
    REQUIRE(full.ok());
    CHECK(estimate_tokens(full.json) <= kMaxTokens);
    CHECK(contains(member(full.json, "note"), "older bars"));
    CHECK(contains(full.json, "LONG-1d.csv row 3"));
    CHECK(contains(full.json, "more rows left out"));
    FakeHost demo("2019-01-07T16:00:00");
    REQUIRE(demo.open("candles", kDemoConfig).empty());
    for (const std::string interval : {"1m", "5m", "15m", "60m", "1d"}) {
        const auto bars = demo.call(
            "candles", R"({"symbol":"NIFTY50","limit":60,"interval":")" + interval + "\"}");
        CHECK(estimate_tokens(bars.json) <= kMaxTokens);
    }
}

TEST_CASE("one bad file does not touch the other symbols", "[plugins]") {
    const TempFolder folder;
    folder.write("BAD-1m.csv", "not a price file\n");
    folder.write("GOOD-1m.csv",
                 kHeader + minute_row("09:15", 1) + "oops\n" + minute_row("09:16", 2));
    FakeHost host("2019-01-02T10:00:00");
    REQUIRE(host.open("candles", folder_config(folder)).empty());
    const auto bad = host.call("price", R"({"symbol":"BAD"})");
    CHECK(bad.status == DAYBOOK_CORRUPT);
    CHECK(contains(bad.message, "BAD-1m.csv row 1"));
    const auto good = host.call("price", R"({"symbol":"GOOD"})");
    REQUIRE(good.ok());
    CHECK(ObjectReader(good.json).number("price") == 2);
    CHECK(contains(good.json, "GOOD-1m.csv row 3: wanted 6 fields"));
}

TEST_CASE("candles without a folder, zone or sense fail with one sentence", "[plugins]") {
    FakeHost host("2019-01-02T10:00:00");
    REQUIRE(host.open("candles", "{}").empty());
    const auto none = host.call("price", R"({"symbol":"X"})");
    CHECK(none.status == DAYBOOK_UNAVAILABLE);
    CHECK(contains(none.message, "reads ="));
    host.zone = "Mars/Olympus";
    CHECK(host.call("price", R"({"symbol":"X"})").status == DAYBOOK_NOT_FOUND);
    host.zone = "Asia/Kolkata";
    FakeHost demo("2019-01-02T10:00:00");
    REQUIRE(demo.open("candles", kDemoConfig).empty());
    for (const std::string args :
         {"",
          "{",
          "[]",
          R"({"symbol":7,"interval":1})",
          R"({"symbol":"NIFTY50"})",
          R"({"symbol":"NIFTY50","interval":"7m"})",
          R"({"symbol":"NIFTY50","interval":"5m","from":"soon"})",
          R"({"symbol":"NIFTY50","interval":"5m","limit":-99999999999999999999})"}) {
        CHECK(demo.call("candles", args).endings == 1);
        CHECK(demo.call("price", args).endings == 1);
    }
    demo.cancelled = true;
    CHECK(demo.call("candles", R"({"symbol":"NIFTY50","interval":"5m"})").status ==
          DAYBOOK_CANCELLED);
}
