// Times as text, and the desk's zone. All of the plugin's dealing with clocks and calendars' text.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <daybook/result.hpp>

namespace daybook::candles {

using Instant = std::chrono::sys_seconds;
using LocalTime = std::chrono::local_seconds;
using LocalDay = std::chrono::local_days;

/// "2019-01-02T09:15:00+05:30" (seconds may be missing, Z is an offset) as seconds since 1970 UTC.
[[nodiscard]] std::optional<std::chrono::seconds> parse_instant(std::string_view text);
/// "2019-01-02" as seconds from 1970-01-01 to that date, no zone.
[[nodiscard]] std::optional<std::chrono::seconds> parse_plain_date(std::string_view text);
/// "09:15" to "24:00" as time since midnight.
[[nodiscard]] std::optional<std::chrono::minutes> parse_minute(std::string_view text);

/// "2019-01-02"
[[nodiscard]] std::string text_of(LocalDay day);
/// "09:15"
[[nodiscard]] std::string minute_text(LocalTime at);
/// "2019-01-02 09:15"
[[nodiscard]] std::string text_of(LocalTime at);

/// Wall-clock time of one zone, by the C library and the system's zone files.
///
/// It sets TZ of the process, which is the plugin's own, and does so again when another zone is
/// asked for. Not for use on two threads at once.
class ZoneClock {
  public:
    /// Errors: not_found (no such zone on this machine).
    static Result<ZoneClock> open(std::string zone);

    [[nodiscard]] const std::string& zone() const noexcept { return zone_; }
    [[nodiscard]] LocalTime to_local(Instant at) const;
    /// A wall-clock time that is skipped or shown twice (summer time) gives one of the instants
    /// beside it.
    [[nodiscard]] Instant to_instant(LocalTime at) const;

  private:
    explicit ZoneClock(std::string zone) : zone_(std::move(zone)) {}
    void use() const;

    std::string zone_;
    // Offsets change on quarters of an hour only: one conversion serves a quarter.
    mutable std::int64_t quarter_ = INT64_MIN;
    mutable std::chrono::seconds offset_{0};
};

/// What a person writes for a time: an instant with offset, or in the desk's zone
/// "2019-01-02 09:15", "2019-01-02T09:15:00", "09:15" (of `today`), or "2019-01-02" alone, which is
/// the date's start, or its last second when `end_of_day` is set. Errors: invalid.
Result<Instant> parse_asked(std::string_view text,
                            LocalDay today,
                            const ZoneClock& zone,
                            bool end_of_day);

}  // namespace daybook::candles
