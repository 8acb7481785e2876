#include "plugins/skills/candles/bars.hpp"

#include <algorithm>

namespace daybook::candles {

namespace {

constexpr std::chrono::minutes kMinute{1};

/// Where the bar that holds an instant of a session begins and ends.
struct Frame {
    Instant start;
    Instant end;
};

Frame frame_of(const SessionTable::Place& place, Instant at, std::chrono::minutes interval) {
    if (interval == kWholeDay) {
        return {place.day->sessions.front().open, place.day->sessions.back().close};
    }
    const Session& session = *place.session;
    const Instant start = session.open + (at - session.open) / interval * interval;
    return {start, std::min<Instant>(start + interval, session.close)};
}

/// Minutes of the bar's sessions that are over at `now`.
std::size_t minutes_over(const Bar& bar, Instant now, const TradingDay& day) {
    std::chrono::seconds over{0};
    for (const auto& session : day.sessions) {
        const Instant begin = std::max(session.open, bar.start);
        const Instant end = std::min({session.close, bar.end, now});
        over += std::max(std::chrono::seconds(0), end - begin);
    }
    return static_cast<std::size_t>(over / kMinute);
}

void add_row(Bar& bar, const PriceRow& row) {
    const Prices& p = row.prices;
    if (bar.rows == 0) {
        bar.prices = p;
        bar.first_row = row.row;
    } else {
        bar.prices.high = std::max(bar.prices.high, p.high);
        bar.prices.low = std::min(bar.prices.low, p.low);
        bar.prices.close = p.close;
        bar.prices.volume += p.volume;
    }
    bar.last_row = row.row;
    ++bar.rows;
}

void finish(Bar& bar, Instant now, SessionTable& sessions) {
    const TradingDay& day = sessions.day(bar.day);
    bar.finished = bar.end <= now;
    const std::size_t over = day.known ? minutes_over(bar, now, day) : bar.rows;
    bar.missing = over > bar.rows ? over - bar.rows : 0;
}

}  // namespace

std::span<const PriceRow> rows_known_at(const PriceFile& file, Instant now) {
    const auto over =
        std::partition_point(file.rows.begin(), file.rows.end(), [&](const PriceRow& row) {
            return row.at + kMinute <= now.time_since_epoch();
        });
    return {file.rows.begin(), over};
}

Bars make_bars(std::span<const PriceRow> rows,
               std::chrono::minutes interval,
               Instant from,
               Instant to,
               Instant now,
               SessionTable& sessions) {
    Bars made;
    Bar bar;
    const auto close_bar = [&] {
        if (bar.rows != 0) {
            finish(bar, now, sessions);
            made.bars.push_back(bar);
        }
        bar = Bar{};
    };
    // A bar that touches the range may have rows up to a day outside it; whole days are looked at.
    const auto first = std::partition_point(rows.begin(), rows.end(), [&](const PriceRow& row) {
        return row.at < from.time_since_epoch() - std::chrono::days(1);
    });
    for (const PriceRow& row : rows.subspan(static_cast<std::size_t>(first - rows.begin()))) {
        const Instant at(row.at);
        if (at > to + std::chrono::days(1)) {
            break;
        }
        const auto place = sessions.locate(at);
        if (place.session == nullptr) {
            if (from <= at && at <= to) {
                made.prints.push_back({row, place.phase});
            }
            continue;
        }
        const Frame frame = frame_of(place, at, interval);
        if (frame.end <= from || frame.start > to) {
            continue;
        }
        if (bar.rows == 0 || bar.start != frame.start) {
            close_bar();
            bar.day = place.day->day;
            bar.start = frame.start;
            bar.end = frame.end;
            made.times_unknown = made.times_unknown || !place.day->known;
            made.not_covered = made.not_covered || !place.day->covered;
        }
        add_row(bar, row);
    }
    close_bar();
    return made;
}

std::span<const PriceRow> days_known_at(const PriceFile& file,
                                        Instant now,
                                        SessionTable& sessions) {
    const LocalDay today = std::chrono::floor<std::chrono::days>(sessions.zone().to_local(now));
    // Today is over when its last session is, if the calendar knows when that was.
    const TradingDay& trading = sessions.day(today);
    const bool over = trading.known && trading.trades && trading.sessions.back().close <= now;
    const LocalDay first_hidden = today + std::chrono::days(over ? 1 : 0);
    const auto hidden =
        std::partition_point(file.rows.begin(), file.rows.end(), [&](const PriceRow& row) {
            return row.at < first_hidden.time_since_epoch();
        });
    return {file.rows.begin(), hidden};
}

Bars daily_bars(std::span<const PriceRow> rows, LocalDay from, LocalDay to, const ZoneClock& zone) {
    Bars made;
    for (const PriceRow& row : rows) {
        const LocalDay day = std::chrono::floor<std::chrono::days>(LocalTime(row.at));
        if (day < from || day > to) {
            continue;
        }
        Bar bar;
        bar.day = day;
        bar.start = zone.to_instant(LocalTime(day));
        bar.end = zone.to_instant(LocalTime(day + std::chrono::days(1)));
        add_row(bar, row);
        made.bars.push_back(bar);
    }
    return made;
}

}  // namespace daybook::candles
