#include "plugins/skills/candles/price_file.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "plugins/skills/candles/moment.hpp"
#include "plugins/skills/candles/price_folder.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/price_rows.hpp"
#include "tests/support/temp_folder.hpp"

using namespace daybook::candles;
using daybook::Errc;
using daybook::test::contains;
using daybook::test::kHeader;
using daybook::test::minute_row;
using daybook::test::TempFolder;

namespace {

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
