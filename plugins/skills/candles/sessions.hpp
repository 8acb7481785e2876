// When the market of the desk's calendar trades, as instants, asked of the host a date at a time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/skills/candles/moment.hpp"

namespace daybook::candles {

struct Session {
    Instant open;
    Instant close;  ///< the first instant that does not belong to it
};

struct TradingDay {
    LocalDay day;
    bool trades = false;
    /// False when the calendar does not tell the times; the whole date then counts as one session.
    bool known = false;
    /// False when the calendar's list does not reach the date: holidays are then not known.
    bool covered = false;
    std::vector<Session> sessions;  ///< in rising order
};

/// Where an instant lies in its day.
enum class Phase { continuous, before_open, between_sessions, after_close, no_trading_day };
[[nodiscard]] std::string_view name_of(Phase phase) noexcept;

/// Reads the answer of the clock's `sessions`. What does not read counts as unknown times.
[[nodiscard]] TradingDay parse_trading_day(std::string_view json,
                                           LocalDay day,
                                           const ZoneClock& zone);

/// Trading days by date, each asked once. `ask` gets "2019-01-02" and returns the clock's JSON.
class SessionTable {
  public:
    using Ask = std::function<std::string(const std::string& day)>;
    /// `zone` outlives the table.
    SessionTable(const ZoneClock& zone, Ask ask) : zone_(&zone), ask_(std::move(ask)) {}

    [[nodiscard]] const TradingDay& day(LocalDay day);

    struct Place {
        Phase phase = Phase::no_trading_day;
        const TradingDay* day = nullptr;   ///< the day it belongs to
        const Session* session = nullptr;  ///< set when continuous
    };
    /// A session that runs past midnight belongs to the day on which it opened.
    [[nodiscard]] Place locate(Instant at);

    [[nodiscard]] const ZoneClock& zone() const noexcept { return *zone_; }

  private:
    const ZoneClock* zone_;
    Ask ask_;
    std::map<LocalDay, TradingDay> days_;
};

}  // namespace daybook::candles
