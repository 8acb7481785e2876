#include "plugins/skills/candles/sessions.hpp"

#include <stdexcept>

#include <daybook/json.hpp>

namespace daybook::candles {

namespace {

std::vector<Session> parse_sessions(std::string_view json, LocalDay day, const ZoneClock& zone) {
    std::vector<Session> sessions;
    for (const auto item : json::items_of(json)) {
        const json::ObjectReader in(item);
        const auto open = parse_minute(in.text("open"));
        const auto close = parse_minute(in.text("close"));
        if (!open || !close) {
            throw std::invalid_argument("sessions: a time is no HH:MM");
        }
        // The day is that of the close: it opens on the date before.
        const bool by_close = in.text("day") == "close";
        const bool next_day = !by_close && (in.boolean("next_day") || *close <= *open);
        sessions.push_back({zone.to_instant(day + *open - std::chrono::days(by_close ? 1 : 0)),
                            zone.to_instant(day + *close + std::chrono::days(next_day ? 1 : 0))});
    }
    return sessions;
}

}  // namespace

std::string_view name_of(Phase phase) noexcept {
    switch (phase) {
        case Phase::continuous:
            return "continuous";
        case Phase::before_open:
            return "before the open";
        case Phase::between_sessions:
            return "between sessions";
        case Phase::after_close:
            return "after the close";
        case Phase::no_trading_day:
            break;
    }
    return "no trading day";
}

TradingDay parse_trading_day(std::string_view json, LocalDay day, const ZoneClock& zone) {
    TradingDay parsed;
    parsed.day = day;
    try {
        const json::ObjectReader in(json);
        parsed.trades = in.boolean("trading_day", true);
        const auto list = in.raw("sessions");
        parsed.sessions = parse_sessions(list.empty() ? "[]" : list, day, zone);
        parsed.covered = in.boolean("known", true);
        parsed.known = parsed.trades ? !parsed.sessions.empty() : parsed.covered;
    } catch (const std::invalid_argument&) {
        parsed.trades = true;
        parsed.sessions.clear();
    }
    if (parsed.trades && parsed.sessions.empty()) {
        parsed.sessions.push_back({zone.to_instant(LocalTime(day)),
                                   zone.to_instant(LocalTime(day + std::chrono::days(1)))});
    }
    return parsed;
}

const TradingDay& SessionTable::day(LocalDay day) {
    const auto known = days_.find(day);
    if (known != days_.end()) {
        return known->second;
    }
    return days_.emplace(day, parse_trading_day(ask_(text_of(day)), day, *zone_)).first->second;
}

SessionTable::Place SessionTable::locate(Instant at) {
    const auto date = std::chrono::floor<std::chrono::days>(zone_->to_local(at));
    for (const auto candidate : {date, date - std::chrono::days(1)}) {
        const TradingDay& trading = day(candidate);
        for (const auto& session : trading.sessions) {
            if (trading.trades && session.open <= at && at < session.close) {
                return {Phase::continuous, &trading, &session};
            }
        }
    }
    const TradingDay& trading = day(date);
    if (!trading.trades || trading.sessions.empty()) {
        return {Phase::no_trading_day, &trading, nullptr};
    }
    const bool before = at < trading.sessions.front().open;
    const bool after = at >= trading.sessions.back().close;
    return {before  ? Phase::before_open
            : after ? Phase::after_close
                    : Phase::between_sessions,
            &trading,
            nullptr};
}

}  // namespace daybook::candles
