// A market's trading calendar: which dates trade, when. Format: share/calendars/README.md. No I/O
// here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/clock.hpp"

namespace daybook {

struct MarketSession {
    TimeOfDay open;
    TimeOfDay close;
    bool next_day = false;    ///< the close is on the next date
    bool day_before = false;  ///< the day is that of the close: it opens on the date before
    /// Minutes from the day's midnight to the opening and to the close.
    [[nodiscard]] int start_minutes() const noexcept {
        return open.minutes - (day_before ? 24 * 60 : 0);
    }
    [[nodiscard]] int end_minutes() const noexcept {
        return close.minutes + (next_day ? 24 * 60 : 0);
    }
    [[nodiscard]] Timestamp opens_at(DeskDate day, const Zone& zone) const {
        return zone.instant(day_before ? day.plus_days(-1) : day, open);
    }
    [[nodiscard]] Timestamp closes_at(DeskDate day, const Zone& zone) const {
        return zone.instant(next_day ? day.plus_days(1) : day, close);
    }
};

enum class Market { open, closed, unknown };

/// A date that is no ordinary one.
struct NamedDay {
    DeskDate date;
    std::string name;
    bool trading = false;
};

class Calendar {
  public:
    /// Checks everything the format's README asks. Errors: invalid (names `source_name` and the
    /// date), not_found (zone).
    static Result<Calendar> parse(std::string_view text, std::string_view source_name);
    /// Lays the owner's file of the same id over this one, date by date. Errors: invalid.
    Result<> overlay(std::string_view text, std::string_view source_name);

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] const Zone& zone() const noexcept { return *zone_; }
    [[nodiscard]] std::optional<TimeOfDay> default_rollover() const noexcept { return rollover_; }
    [[nodiscard]] const std::string& display_name() const noexcept { return display_name_; }
    [[nodiscard]] std::optional<DeskDate> valid_from() const noexcept { return valid_from_; }
    [[nodiscard]] std::optional<DeskDate> valid_through() const noexcept { return valid_through_; }
    /// Whether the holiday list covers the date; outside it only weekends are known.
    [[nodiscard]] bool covers(DeskDate day) const;

    [[nodiscard]] bool is_trading_day(DeskDate day) const;
    /// Name of the holiday or special day, "" for none.
    [[nodiscard]] std::string name_of(DeskDate day) const;
    /// Holidays and special days from the date on, in order, at most `limit`.
    [[nodiscard]] std::vector<NamedDay> named_days(DeskDate from, std::size_t limit) const;
    /// Days from `today` to the list's last one, negative behind it; nullopt: it has no end.
    [[nodiscard]] std::optional<int> days_left(DeskDate today) const;
    /// A sentence when the list ends within kEndsSoon days, or does not cover `today`; else "".
    [[nodiscard]] std::string end_note(DeskDate today) const;
    static constexpr int kEndsSoon = 45;
    /// Sessions of a trading day, all segments merged and sorted; empty when the day does not
    /// trade. nullopt: it trades at a time that is not announced.
    [[nodiscard]] std::optional<std::vector<MarketSession>> sessions(DeskDate day) const;
    /// Of the day's segment named (such as "cash"), or of all merged when there is none of that
    /// name.
    [[nodiscard]] std::optional<std::vector<MarketSession>> sessions(
        DeskDate day, std::string_view segment) const;
    [[nodiscard]] Market market_at(Timestamp at) const;
    /// First opening after the instant, within 30 days.
    [[nodiscard]] std::optional<Timestamp> next_open(Timestamp at) const;
    /// When the day's rollover is due: at `configured` in the zone `zone`, or, when the market
    /// closes later than that, 15 minutes after the last close (a Muhurat evening: 19:15). A time
    /// at or before an ordinary day's first opening is that of the next date (round the clock
    /// 00:00, overnight sessions 03:00). nullopt: no timed rollover that day (no trading day, or
    /// times unknown).
    [[nodiscard]] std::optional<Timestamp> rollover_due(DeskDate day,
                                                        TimeOfDay configured,
                                                        const Zone& zone) const;

  private:
    struct Special {
        std::string name;
        bool unknown_times = false;
        std::vector<MarketSession> sessions;
    };
    struct Regular {
        DeskDate from;
        std::optional<DeskDate> to;
        std::map<std::string, std::vector<MarketSession>> segments;
    };
    Calendar() = default;
    Result<> apply(const Json& root, std::string_view source_name, bool overlaying);
    Result<> apply_head(const Json& root, std::string_view source_name, bool overlaying);
    Result<> apply_regular(const Json& root, std::string_view source_name, bool overlaying);
    Result<> apply_days(const Json& root, std::string_view source_name, bool overlaying);
    [[nodiscard]] const Regular& rule_of(DeskDate day) const;
    [[nodiscard]] std::vector<MarketSession> regular_sessions(DeskDate day) const;

    std::string id_;
    std::string display_name_;
    std::optional<Zone> zone_;
    std::optional<DeskDate> valid_from_;
    std::optional<DeskDate> valid_through_;
    std::optional<TimeOfDay> rollover_;
    std::vector<unsigned> weekend_;  ///< C encoding: 0 = Sunday
    std::vector<Regular> regular_;
    std::map<DeskDate, std::string> holidays_;
    std::map<DeskDate, Special> special_;
};

}  // namespace daybook
