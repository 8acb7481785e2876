// Time: the only place that asks for it or knows a zone.
//
// Instants are UTC with nanoseconds; on disk they are RFC 3339 with nine decimals
// ("2026-10-19T06:02:11.104233871Z"). A trading day is a DeskDate: the date in the desk's own zone.
#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

namespace daybook {

using Timestamp = std::chrono::sys_time<std::chrono::nanoseconds>;
using SteadyTime = std::chrono::steady_clock::time_point;

/// A calendar date in a desk's zone.
struct DeskDate {
    std::chrono::year_month_day value{};

    /// "2026-10-19". Errors: invalid.
    static Result<DeskDate> parse(std::string_view text);
    [[nodiscard]] std::string str() const;
    [[nodiscard]] DeskDate plus_days(int days) const;
    [[nodiscard]] std::chrono::weekday weekday() const;

    friend auto operator<=>(const DeskDate&, const DeskDate&) = default;
    friend bool operator==(const DeskDate&, const DeskDate&) = default;
};

/// A wall-clock time of day, minutes after midnight; 1440 ("24:00") is allowed as a close.
struct TimeOfDay {
    int minutes = 0;
    /// "15:45". Errors: invalid.
    static Result<TimeOfDay> parse(std::string_view text);
    [[nodiscard]] std::string str() const;
    friend auto operator<=>(const TimeOfDay&, const TimeOfDay&) = default;
};

/// An IANA time zone. Cheap to copy. Source of rules: the system's zone files through the date
/// library.
class Zone {
  public:
    /// Errors: not_found (names the zone and says to install tzdata or check the spelling).
    static Result<Zone> find(std::string_view name);
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] DeskDate date_of(Timestamp at) const;
    /// Minutes after local midnight.
    [[nodiscard]] TimeOfDay time_of(Timestamp at) const;
    /// The instant of a wall-clock time: inside a gap the first instant after it, inside an overlap
    /// the earlier one.
    [[nodiscard]] Timestamp instant(DeskDate day, TimeOfDay time) const;
    /// "2026-10-19T11:32:11+05:30".
    [[nodiscard]] std::string local(Timestamp at) const;
    /// "IST", "EDT".
    [[nodiscard]] std::string abbreviation(Timestamp at) const;

  private:
    Zone(std::string name, const void* zone) : name_(std::move(name)), zone_(zone) {}
    std::string name_;
    const void* zone_;  // const date::time_zone*, owned by the library for the life of the process
};

/// RFC 3339 in UTC with nine decimals, and back (also offsets and fewer decimals). Errors: invalid.
[[nodiscard]] std::string to_rfc3339(Timestamp at);
Result<Timestamp> parse_rfc3339(std::string_view text);

/// Thread: [any].
class Clock {
  public:
    Clock() = default;
    virtual ~Clock() = default;
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;
    Clock(Clock&&) = delete;
    Clock& operator=(Clock&&) = delete;
    /// Wall clock: records, trading days, rollovers.
    [[nodiscard]] virtual Timestamp now() const = 0;
    /// Never goes back: deadlines, durations. Real even on a replayed clock.
    [[nodiscard]] SteadyTime steady() const { return std::chrono::steady_clock::now(); }
    /// Whether this is a replayed clock, which moves only when told to.
    [[nodiscard]] virtual bool is_replayed() const { return false; }
};

class SystemClock final : public Clock {
  public:
    [[nodiscard]] Timestamp now() const override;
};

/// Driven by a feed: stands still between advances, never goes back.
class ReplayedClock final : public Clock {
  public:
    explicit ReplayedClock(Timestamp start) : now_(start.time_since_epoch().count()) {}
    [[nodiscard]] Timestamp now() const override {
        return Timestamp(std::chrono::nanoseconds(now_.load()));
    }
    [[nodiscard]] bool is_replayed() const override { return true; }
    /// Errors: invalid (earlier than now).
    Result<> advance_to(Timestamp at);

  private:
    std::atomic<std::int64_t> now_;
};

}  // namespace daybook
