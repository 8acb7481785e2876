// Bars out of minute rows, along the sessions of the desk's calendar.
//
// Nothing later than `now` is ever seen: a minute counts once it is over. A bar begins at a
// session's open plus a multiple of the interval and ends at the session's close at the latest; a
// day's bar covers all its sessions. Rows outside sessions (a pre-open print, a print after the
// close) are in no bar. A minute without a row stays missing: it is counted, never filled.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plugins/skills/candles/price_file.hpp"
#include "plugins/skills/candles/sessions.hpp"

namespace daybook::candles {

/// The rows that were over at `now`. Minute files only.
[[nodiscard]] std::span<const PriceRow> rows_known_at(const PriceFile& file, Instant now);

struct Bar {
    LocalDay day;  ///< the trading day
    Instant start;
    Instant end;  ///< first instant after it
    Prices prices;
    std::uint32_t first_row = 0;
    std::uint32_t last_row = 0;
    std::size_t rows = 0;     ///< minutes that have a row
    std::size_t missing = 0;  ///< minutes of it that are over and have none
    bool finished = true;     ///< its end is not after `now`
};

/// A row that is in no bar.
struct Print {
    PriceRow row;
    Phase phase = Phase::no_trading_day;
};

struct Bars {
    std::vector<Bar> bars;       ///< in rising order
    std::vector<Print> prints;   ///< in rising order
    bool times_unknown = false;  ///< the calendar does not tell some day's sessions
    bool not_covered = false;    ///< its list does not reach some day
};

inline constexpr std::chrono::minutes kWholeDay{24 * 60};

/// `interval` is whole minutes; kWholeDay makes one bar of each trading day. Bars that do not touch
/// [from, to] are left out.
[[nodiscard]] Bars make_bars(std::span<const PriceRow> rows,
                             std::chrono::minutes interval,
                             Instant from,
                             Instant to,
                             Instant now,
                             SessionTable& sessions);

/// The rows of a daily file whose day was over at `now`.
[[nodiscard]] std::span<const PriceRow> days_known_at(const PriceFile& file,
                                                      Instant now,
                                                      SessionTable& sessions);

/// Rows of a daily file as bars.
[[nodiscard]] Bars daily_bars(std::span<const PriceRow> rows,
                              LocalDay from,
                              LocalDay to,
                              const ZoneClock& zone);

}  // namespace daybook::candles
