#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <daybook/json.hpp>

#include "plugins/skills/candles/answer.hpp"
#include "plugins/skills/candles/bars.hpp"
#include "plugins/skills/candles/moment.hpp"
#include "plugins/skills/candles/price_file.hpp"
#include "plugins/skills/candles/price_folder.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/fake_host.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook::candles;
using daybook::Errc;
using daybook::json::ObjectReader;
using daybook::test::FakeHost;
using daybook::test::TempFolder;

namespace {

const std::string kHeader = "time,open,high,low,close,volume\n";
const std::string kDemoConfig =
    std::string(R"({"folders":[")") + DAYBOOK_SOURCE_DIR + R"(/demo/prices"]})";

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}
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
std::string minute_row(const std::string& time, double price) {
    const std::string p = number_text(price);
    return "2019-01-02T" + time + ":00+05:30," + p + "," + p + "," + p + "," + p + ",10\n";
}
Instant at(const std::string& text) {
    return Instant(parse_instant(text).value());
}

}  // namespace

TEST_CASE("times read with offset, dates without, and nothing else", "[plugins]") {
    CHECK(parse_instant("2019-01-02T09:15:00+05:30")->count() == 1546400700);
    CHECK(parse_instant("2019-01-02T03:45Z")->count() == 1546400700);
    CHECK(parse_instant("2019-01-01T22:45:00-05:00")->count() == 1546400700);
    for (const char* bad : {"2019-01-02",
                            "2019-01-02T09:15:00",
                            "2019-02-30T09:15:00Z",
                            "2019-01-02T24:15:00Z",
                            "2019-01-02T09:60:00Z",
                            "2019-01-02 09:15:00Z",
                            "2019-01-02T09:15:00+05:30x",
                            "",
                            "2019-01-02T",
                            "2019-01-02T09:15:0 Z"}) {
        CHECK_FALSE(parse_instant(bad).has_value());
    }
    CHECK(parse_plain_date("2020-02-29").has_value());
    CHECK_FALSE(parse_plain_date("2019-02-29").has_value());
    CHECK_FALSE(parse_plain_date("2019-1-2").has_value());
    CHECK(parse_minute("24:00")->count() == 1440);
    CHECK_FALSE(parse_minute("25:00").has_value());
}

TEST_CASE("a zone's clock follows summer time, and an unknown zone is an error", "[plugins]") {
    const auto york = ZoneClock::open("America/New_York");
    REQUIRE(york);
    CHECK(text_of(york->to_local(at("2026-03-08T06:59:00Z"))) == "2026-03-08 01:59");
    CHECK(text_of(york->to_local(at("2026-03-08T07:00:00Z"))) == "2026-03-08 03:00");
    CHECK(york->to_instant(york->to_local(at("2026-07-01T20:15:00Z"))) ==
          at("2026-07-01T20:15:00Z"));
    const auto india = ZoneClock::open("Asia/Kolkata");
    REQUIRE(india);
    CHECK(text_of(india->to_local(at("2019-01-02T03:45:00Z"))) == "2019-01-02 09:15");
    CHECK(text_of(york->to_local(at("2026-01-01T12:00:00Z"))) ==
          "2026-01-01 07:00");  // taken in turns
    for (const char* bad : {"Mars/Olympus", "", "../../etc/passwd", "/etc/localtime", ":UTC"}) {
        CHECK_FALSE(ZoneClock::open(bad));
    }
}

TEST_CASE("a bad row is named with file, row and what was found, and only it is left out",
          "[plugins]") {
    const std::string good = minute_row("09:15", 1);
    const struct {
        std::string row;
        std::string says;
    } cases[] = {
        {"2019-01-02T09:16:00+05:30,1,2,1\n", "wanted 6 fields"},
        {"2019-01-02T09:16:00+05:30,1,2,1,1,5,6\n", "wanted 6 fields"},
        {"2019-01-02T09:16:00+05:30,1,abc,1,1,0\n", "wanted a number for high, found \"abc\""},
        {"2019-01-02T09:16:00+05:30,1,nan,1,1,0\n", "wanted a number for high"},
        {"2019-01-02T09:16:00+05:30,1,inf,1,1,0\n", "wanted a number for high"},
        {"2019-01-02T09:16:00+05:30,1,1e999,1,1,0\n", "wanted a number for high"},
        {"2019-01-02T09:16:00+05:30,,1,1,1,0\n", "wanted a number for open, found \"\""},
        {"02/01/2019 09:16,1,2,1,1,0\n", "wanted a time with offset"},
        {"2019-01-02,1,2,1,1,0\n", "wanted a time with offset"},
        {"2019-01-02T09:14:00+05:30,1,2,1,1,0\n", "wanted a time after that of row 2"},
        {"2019-01-02T09:15:00+05:30,1,2,1,1,0\n", "wanted a time after that of row 2"},
        {"2019-01-02T09:16:00+05:30,1,0.5,1,1,0\n", "wanted a high"},
        {"2019-01-02T09:16:00+05:30,1,2,1.5,1,0\n", "wanted a low"},
        {"2019-01-02T09:16:00+05:30,1,2,1,1,-5\n", "wanted a volume"},
        {"\n", "wanted 6 fields"},
        {std::string("\0\0,\n", 4), "wanted 6 fields"},
    };
    for (const auto& bad : cases) {
        const auto file = parse_price_file(
            kHeader + good + bad.row + minute_row("09:17", 3), "X-1m.csv", Resolution::minute);
        REQUIRE(file);
        REQUIRE(file->problems.size() == 1);
        INFO(file->problems[0].sentence);
        CHECK(file->problems[0].row == 3);
        CHECK(file->problems[0].sentence.starts_with("X-1m.csv row 3: "));
        CHECK(contains(file->problems[0].sentence, bad.says));
        REQUIRE(file->rows.size() == 2);
        CHECK(file->rows[1].row == 4);
    }
}

TEST_CASE("files with a byte order mark, CRLF or no final line end read the same", "[plugins]") {
    const std::string row = "2019-01-02T09:15:00+05:30,1,2,1,1.5,0";
    for (const std::string& text : {kHeader + row,
                                    "\xEF\xBB\xBF" + kHeader + row + "\n",
                                    "time,open,high,low,close,volume\r\n" + row + "\r\n"}) {
        const auto file = parse_price_file(text, "X-1m.csv", Resolution::minute);
        REQUIRE(file);
        CHECK(file->problems.empty());
        REQUIRE(file->rows.size() == 1);
        CHECK(file->rows[0].prices.close == 1.5);
    }
}

TEST_CASE("a file with another header is an error that says what was found", "[plugins]") {
    const auto file = parse_price_file("date;price\n1;2\n", "X-1m.csv", Resolution::minute);
    REQUIRE_FALSE(file);
    CHECK(file.error().code() == Errc::corrupt);
    CHECK(contains(file.error().message(), "X-1m.csv row 1"));
    CHECK(contains(file.error().message(), "date;price"));
    CHECK_FALSE(parse_price_file("", "X-1m.csv", Resolution::minute));
}

TEST_CASE("any bytes are safe to read as a price file", "[plugins]") {
    std::string seed =
        kHeader + minute_row("09:15", 1) + minute_row("09:16", 2) + "2019-01-03,1,2,1,1,0\n";
    std::uint32_t random = 12345;
    for (int round = 0; round < 3000; ++round) {
        std::string bytes = seed;
        for (int i = 0; i < 4; ++i) {
            random = random * 1664525 + 1013904223;
            bytes[random % bytes.size()] = static_cast<char>(random >> 24U);
        }
        for (const auto resolution : {Resolution::minute, Resolution::day}) {
            const auto file = parse_price_file(bytes, "X", resolution);
            if (file) {
                CHECK(file->rows.size() + file->problems.size() <= 6);
                CHECK(std::is_sorted(file->rows.begin(),
                                     file->rows.end(),
                                     [](const auto& a, const auto& b) { return a.at < b.at; }));
            }
        }
    }
}

TEST_CASE("a symbol is found by case, spaces and a beginning that only one has", "[plugins]") {
    const TempFolder folder;
    const TempFolder other;
    folder.write("NIFTY50-1m.csv", kHeader);
    folder.write("BANKNIFTY-1m.csv", kHeader);
    folder.write("BANKEX-1d.csv", kHeader);
    folder.write("notes.txt", "no price file");
    folder.write("-1m.csv", "no symbol");
    other.write("AAPL-1d.csv", kHeader);
    other.write("NIFTY50-1m.csv", "shadowed");
    const PriceFolder prices({folder.path(), other.path()});
    CHECK(prices.symbols()->size() == 4);
    CHECK(prices.find("nifty 50")->name == "NIFTY50");
    CHECK(prices.find("NIFTY")->minute_file == folder / "NIFTY50-1m.csv");
    CHECK(prices.find("aapl")->day_file == other / "AAPL-1d.csv");
    CHECK(prices.find("BANK").error().code() == Errc::invalid);
    const auto unknown = prices.find("../../etc/passwd");
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().code() == Errc::not_found);
    CHECK(contains(unknown.error().message(), "AAPL, BANKEX, BANKNIFTY, NIFTY50"));
    CHECK(prices.find("").error().code() == Errc::not_found);
    CHECK(PriceFolder({}).find("X").error().code() == Errc::unavailable);
    CHECK(PriceFolder({folder / "absent"}).find("X").error().code() == Errc::unavailable);
}

TEST_CASE("a price file that changed is read again", "[plugins]") {
    const TempFolder folder;
    folder.write("X-1m.csv", kHeader + minute_row("09:15", 1));
    PriceFolder prices({folder.path()});
    CHECK((*prices.load(folder / "X-1m.csv", Resolution::minute))->rows.size() == 1);
    folder.write("X-1m.csv", kHeader + minute_row("09:15", 1) + minute_row("09:16", 2));
    CHECK((*prices.load(folder / "X-1m.csv", Resolution::minute))->rows.size() == 2);
    std::filesystem::create_directory(folder / "D-1m.csv");
    CHECK(prices.load(folder / "D-1m.csv", Resolution::minute).error().code() == Errc::refused);
    CHECK_FALSE(prices.load(folder / "absent-1m.csv", Resolution::minute));
}

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
