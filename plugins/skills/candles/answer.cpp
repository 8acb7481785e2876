#include "plugins/skills/candles/answer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <daybook/json.hpp>

namespace daybook::candles {

namespace {

constexpr std::size_t kShownPrints = 4;
constexpr std::size_t kShownProblems = 4;
constexpr std::size_t kShownProblemBytes = 200;
/// What the members around the table need; the table gets the rest.
constexpr std::size_t kTokensAround = 420;
/// Days looked back for the close before: longer than any run of holidays.
constexpr std::chrono::days kLookBack{20};

std::string rows_text(std::uint32_t first, std::uint32_t last) {
    return std::to_string(first) + (last == first ? "" : "-" + std::to_string(last));
}

std::string ohlc_text(const Prices& p) {
    return number_text(p.open) + " " + number_text(p.high) + " " + number_text(p.low) + " " +
           number_text(p.close);
}

/// Rounded for showing a difference; prices themselves are never rounded.
double rounded(double number, int decimals) {
    const double scale = std::pow(10.0, decimals);
    return std::round(number * scale) / scale;
}

/// Problems of rows before the last one known: a later row must not show through its error either.
std::string problems_text(const PriceFile& file, std::size_t known_rows) {
    const bool all_known = known_rows == file.rows.size();
    const std::uint32_t hidden_from = all_known         ? std::numeric_limits<std::uint32_t>::max()
                                      : known_rows == 0 ? 0
                                                        : file.rows[known_rows - 1].row;
    json::ArrayWriter list;
    std::size_t count = 0;
    for (const auto& problem : file.problems) {
        if (problem.row < hidden_from && ++count <= kShownProblems) {
            list.add(problem.sentence.substr(0, kShownProblemBytes) + "; row left out");
        }
    }
    if (count > kShownProblems) {
        list.add("and " + std::to_string(count - kShownProblems) + " more rows left out");
    }
    return count == 0 ? std::string() : list.str();
}

struct Table {
    std::string text;
    std::size_t first = 0;  ///< index of the first bar shown
};

/// One line a bar, and one for each day where a day has several.
class TableWriter {
  public:
    TableWriter(const Bars& bars, bool days, const ZoneClock& zone)
        : bars_(bars), days_(days), zone_(zone) {
        volume_ = std::any_of(bars.bars.begin(), bars.bars.end(), [](const Bar& bar) {
            return bar.prices.volume != 0;
        });
    }
    [[nodiscard]] std::string columns() const {
        return std::string(days_ ? "date" : "time") + " open high low close" +
               (volume_ ? " volume" : "") + " rows";
    }
    [[nodiscard]] bool has_volume() const noexcept { return volume_; }

    /// The newest bars, at most `limit`, that need at most `max_tokens`.
    [[nodiscard]] Table newest(std::size_t limit, std::size_t max_tokens) const {
        Table table;
        table.first = bars_.bars.size();
        std::size_t tokens = 0;
        while (table.first > 0 && bars_.bars.size() - table.first < limit) {
            const std::size_t next = table.first - 1;
            tokens += estimate_tokens(line(next)) + (begins_day(next, next) ? 12 : 1);
            if (tokens > max_tokens) {
                break;
            }
            table.first = next;
        }
        for (std::size_t i = table.first; i < bars_.bars.size(); ++i) {
            if (begins_day(i, table.first)) {
                table.text += text_of(bars_.bars[i].day) + "\n";
            }
            table.text += line(i) + "\n";
        }
        return table;
    }

  private:
    [[nodiscard]] bool begins_day(std::size_t i, std::size_t first) const {
        return !days_ && (i == first || bars_.bars[i].day != bars_.bars[i - 1].day);
    }
    [[nodiscard]] std::string line(std::size_t i) const {
        const Bar& bar = bars_.bars[i];
        return (days_ ? text_of(bar.day) : minute_text(zone_.to_local(bar.start))) + " " +
               ohlc_text(bar.prices) + (volume_ ? " " + number_text(bar.prices.volume) : "") + " " +
               rows_text(bar.first_row, bar.last_row) + (bar.finished ? "" : " unfinished");
    }

    const Bars& bars_;
    bool days_;
    const ZoneClock& zone_;
    bool volume_ = false;
};

std::string print_text(const Print& print, const ZoneClock& zone) {
    return text_of(zone.to_local(Instant(print.row.at))) + " " +
           number_text(print.row.prices.close) + ", row " + std::to_string(print.row.row) + " (" +
           std::string(name_of(print.phase)) + ")";
}

/// Prints of the days that the table shows.
std::string prints_text(const Bars& bars, std::size_t first_shown, const ZoneClock& zone) {
    json::ArrayWriter list;
    std::size_t count = 0;
    for (const Print& print : bars.prints) {
        const auto day =
            std::chrono::floor<std::chrono::days>(zone.to_local(Instant(print.row.at)));
        const bool shown = first_shown < bars.bars.size() && day >= bars.bars[first_shown].day;
        if (shown && ++count <= kShownPrints) {
            list.add(print_text(print, zone));
        }
    }
    if (count > kShownPrints) {
        list.add("and " + std::to_string(count - kShownPrints) + " more");
    }
    return count == 0 ? std::string() : list.str();
}

std::string note_text(const Symbol& symbol, const Bars& bars, const Table& table, bool has_volume) {
    std::string note;
    const auto say = [&](const std::string& sentence) {
        note += (note.empty() ? "" : "; ") + sentence;
    };
    if (bars.bars.empty()) {
        return "no bar of " + symbol.name + " in this range is known yet";
    }
    if (table.first > 0) {
        say(std::to_string(table.first) + (table.first == 1 ? " older bar" : " older bars") +
            " of the range left out: ask with an earlier to, or a longer interval");
    }
    std::size_t missing = 0;
    for (std::size_t i = table.first; i < bars.bars.size(); ++i) {
        missing += bars.bars[i].missing;
    }
    if (missing > 0) {
        say(std::to_string(missing) + (missing == 1 ? " minute" : " minutes") +
            " of these bars have no row; nothing was filled in");
    }
    if (!has_volume) {
        say("volume is 0 in every row");
    }
    if (bars.times_unknown) {
        say("the calendar does not know this date's sessions, so the whole date counts as one");
    } else if (bars.not_covered) {
        say("the calendar's list does not reach these dates; its usual hours were taken");
    }
    return note;
}

/// The bar of one row, such as the day's first minute.
std::string row_json(const PriceRow& row, const ZoneClock& zone) {
    return json::ObjectWriter()
        .add("time", minute_text(zone.to_local(Instant(row.at))))
        .add("open", row.prices.open)
        .add("high", row.prices.high)
        .add("low", row.prices.low)
        .add("close", row.prices.close)
        .add("row", row.row)
        .str();
}

std::string print_json(const PriceRow& row, const ZoneClock& zone) {
    return json::ObjectWriter()
        .add("price", row.prices.close)
        .add("time", minute_text(zone.to_local(Instant(row.at))))
        .add("row", row.row)
        .str();
}

std::string day_json(const Bar& day, std::span<const PriceRow> rows, const ZoneClock& zone) {
    json::ObjectWriter out;
    out.add("date", text_of(day.day))
        .add("open", day.prices.open)
        .add("high", day.prices.high)
        .add("low", day.prices.low)
        .add(day.finished ? "close" : "last", day.prices.close)
        .add("finished", day.finished)
        .add("rows", rows_text(day.first_row, day.last_row));
    if (day.missing > 0) {
        out.add("minutes_without_row", day.missing);
    }
    const auto first = std::find_if(
        rows.begin(), rows.end(), [&](const PriceRow& row) { return row.row == day.first_row; });
    if (first != rows.end()) {
        out.add_raw("first_bar", row_json(*first, zone));
    }
    return out.str();
}

/// The day's print in that phase, the last one of the date.
std::optional<PriceRow> print_of(const Bars& bars,
                                 LocalDay day,
                                 Phase phase,
                                 const ZoneClock& zone) {
    for (auto print = bars.prints.rbegin(); print != bars.prints.rend(); ++print) {
        const LocalTime at = zone.to_local(Instant(print->row.at));
        if (print->phase == phase && std::chrono::floor<std::chrono::days>(at) == day) {
            return print->row;
        }
    }
    return std::nullopt;
}

void add_close_before(json::ObjectWriter& out,
                      const Bars& days,
                      const Bar& before,
                      const ZoneClock& zone) {
    json::ObjectWriter close;
    close.add("price", before.prices.close)
        .add("date", text_of(before.day))
        .add("row", before.last_row);
    if (const auto after = print_of(days, before.day, Phase::after_close, zone)) {
        close.add_raw("print_after_close", print_json(*after, zone));
    }
    out.add_raw("previous_close", close.str());
}

void add_gap(json::ObjectWriter& out, const Bar& day, const Bar& before) {
    const double points = day.prices.open - before.prices.close;
    out.add_raw("gap",
                json::ObjectWriter()
                    .add("points", rounded(points, 4))
                    .add("percent", rounded(points / before.prices.close * 100, 2))
                    .str());
}

}  // namespace

std::size_t estimate_tokens(std::string_view text) noexcept {
    std::size_t thirds = 0;
    for (const char c : text) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        thirds += letter ? 1 : 3;
    }
    return (thirds + 2) / 3;
}

std::string number_text(double number) {
    std::array<char, 400> buffer{};  // the longest double without an exponent has 310 digits
    const auto end = std::to_chars(
        buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::fixed);
    return std::string(buffer.data(), end.ptr);
}

Result<std::chrono::minutes> parse_interval(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::chrono::minutes>, 5> kIntervals = {
        {{"1m", std::chrono::minutes(1)},
         {"5m", std::chrono::minutes(5)},
         {"15m", std::chrono::minutes(15)},
         {"60m", std::chrono::minutes(60)},
         {"1d", kWholeDay}}};
    for (const auto& [name, interval] : kIntervals) {
        if (name == text) {
            return interval;
        }
    }
    return Error(
        Errc::invalid,
        "interval \"" + std::string(text.substr(0, 20)) + "\": there are 1m 5m 15m 60m 1d");
}

std::string answer_bars(const Symbol& symbol,
                        const PriceFile& file,
                        std::chrono::minutes interval,
                        const BarsQuestion& question,
                        Instant now,
                        SessionTable& sessions) {
    const ZoneClock& zone = sessions.zone();
    const auto day_of = [&](Instant at) {
        return std::chrono::floor<std::chrono::days>(zone.to_local(at));
    };
    const bool daily_file = file.resolution == Resolution::day;
    const auto known = daily_file ? days_known_at(file, now, sessions) : rows_known_at(file, now);
    const Bars bars = daily_file
                          ? daily_bars(known, day_of(question.from), day_of(question.to), zone)
                          : make_bars(known, interval, question.from, question.to, now, sessions);
    const TableWriter writer(bars, interval == kWholeDay, zone);
    const std::string problems = problems_text(file, known.size());
    const std::size_t around = kTokensAround + estimate_tokens(problems);
    const Table table = writer.newest(std::min(question.limit, kMaxBars),
                                      kMaxTokens > around ? kMaxTokens - around : 0);
    json::ObjectWriter out;
    out.add("symbol", symbol.name)
        .add("interval", question.interval)
        .add("zone", zone.zone())
        .add("now", text_of(zone.to_local(now)))
        .add("source", file.name)
        .add("columns", writer.columns())
        .add("table", table.text);
    if (!bars.bars.empty() && !bars.bars.back().finished) {
        const Bar& last = bars.bars.back();
        out.add("unfinished",
                (interval == kWholeDay ? text_of(last.day) : text_of(zone.to_local(last.start))) +
                    ": " + std::to_string(last.rows) + " minutes so far, ends " +
                    minute_text(zone.to_local(last.end)));
    }
    if (const auto prints = prints_text(bars, table.first, zone); !prints.empty()) {
        out.add_raw("not_in_bars", prints);
    }
    if (const auto note = note_text(symbol, bars, table, writer.has_volume()); !note.empty()) {
        out.add("note", note);
    }
    if (!problems.empty()) {
        out.add_raw("problems", problems);
    }
    return out.str();
}

Result<std::string> answer_price(const Symbol& symbol,
                                 const PriceFile& file,
                                 Instant as_of,
                                 Instant now,
                                 SessionTable& sessions) {
    const ZoneClock& zone = sessions.zone();
    const bool daily_file = file.resolution == Resolution::day;
    const auto day_of = [&](Instant at) {
        return std::chrono::floor<std::chrono::days>(zone.to_local(at));
    };
    const auto rows =
        daily_file ? days_known_at(file, as_of, sessions) : rows_known_at(file, as_of);
    if (rows.empty()) {
        return Error(Errc::not_found,
                     "price of " + symbol.name + ": " + file.name +
                         " has no row that was over by " + text_of(zone.to_local(as_of)) + " " +
                         zone.zone());
    }
    const Instant last(rows.back().at);
    const LocalDay date =
        daily_file ? LocalDay(std::chrono::floor<std::chrono::days>(rows.back().at)) : day_of(last);
    const Bars days = daily_file
                          ? daily_bars(rows, date - kLookBack, date, zone)
                          : make_bars(rows, kWholeDay, last - kLookBack, as_of, as_of, sessions);
    json::ObjectWriter out;
    out.add("symbol", symbol.name)
        .add("price", rows.back().prices.close)
        .add("bar", daily_file ? text_of(date) : text_of(zone.to_local(last)))
        .add("phase", daily_file ? "close of the day" : name_of(sessions.locate(last).phase))
        .add("row", rows.back().row)
        .add("source", file.name)
        .add("zone", zone.zone())
        .add("as_of", text_of(zone.to_local(as_of)))
        .add("now", text_of(zone.to_local(now)));
    const bool has_day = !days.bars.empty() && days.bars.back().day == date;
    const std::size_t before = days.bars.size() - (has_day ? 1U : 0U);
    if (has_day) {
        out.add_raw("day",
                    daily_file ? day_json(days.bars.back(), {}, zone)
                               : day_json(days.bars.back(), rows, zone));
    }
    if (const auto print = print_of(days, date, Phase::before_open, zone)) {
        out.add_raw("before_open", print_json(*print, zone));
    }
    if (before > 0) {
        add_close_before(out, days, days.bars[before - 1], zone);
        if (has_day) {
            add_gap(out, days.bars.back(), days.bars[before - 1]);
        }
    }
    if (const auto problems = problems_text(file, rows.size()); !problems.empty()) {
        out.add_raw("problems", problems);
    }
    return out.str();
}

}  // namespace daybook::candles
