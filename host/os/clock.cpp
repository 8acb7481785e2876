#include "host/os/clock.hpp"

#include <array>
#include <cstdio>
#include <limits>
#include <stdexcept>

#include <date/date.h>
#include <date/tz.h>

#include "host/os/desk_path.hpp"

// Only this file knows the date library; dt, since its names and those of std::chrono are ambiguous
// together.
namespace dt = date;

namespace daybook {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

/// Exactly `width` digits at the front of `text`, which moves past them.
std::optional<int> take_digits(std::string_view& text, std::size_t width) {
    if (text.size() < width) {
        return std::nullopt;
    }
    int value = 0;
    for (std::size_t i = 0; i < width; ++i) {
        if (text[i] < '0' || text[i] > '9') {
            return std::nullopt;
        }
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(width);
    return value;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

std::optional<std::chrono::year_month_day> take_date(std::string_view& text) {
    const auto year = take_digits(text, 4);
    if (!year || !take(text, '-')) {
        return std::nullopt;
    }
    const auto month = take_digits(text, 2);
    if (!month || !take(text, '-')) {
        return std::nullopt;
    }
    const auto day = take_digits(text, 2);
    if (!day) {
        return std::nullopt;
    }
    const std::chrono::year_month_day value(std::chrono::year(*year),
                                            std::chrono::month(static_cast<unsigned>(*month)),
                                            std::chrono::day(static_cast<unsigned>(*day)));
    return value.ok() ? std::optional(value) : std::nullopt;
}

std::string digits(long long value, int width) {
    std::array<char, 24> text = {};
    std::snprintf(text.data(), text.size(), "%0*lld", width, value);
    return text.data();
}

std::string date_text(const std::chrono::year_month_day& day) {
    return digits(static_cast<int>(day.year()), 4) + "-" +
           digits(static_cast<unsigned>(day.month()), 2) + "-" +
           digits(static_cast<unsigned>(day.day()), 2);
}

std::string time_text(seconds since_midnight) {
    const auto total = since_midnight.count();
    return digits(total / 3600, 2) + ":" + digits(total / 60 % 60, 2) + ":" + digits(total % 60, 2);
}

/// ".104233871" up to nine digits, or nothing.
std::optional<nanoseconds> take_fraction(std::string_view& text) {
    if (!take(text, '.')) {
        return nanoseconds(0);
    }
    std::int64_t value = 0;
    int count = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9' && count < 9) {
        value = value * 10 + (text.front() - '0');
        text.remove_prefix(1);
        ++count;
    }
    if (count == 0) {
        return std::nullopt;
    }
    for (; count < 9; ++count) {
        value *= 10;
    }
    return nanoseconds(value);
}

/// "Z" or "+05:30": how far the text's clock is ahead of UTC.
std::optional<minutes> take_offset(std::string_view& text) {
    if (take(text, 'Z') || take(text, 'z')) {
        return minutes(0);
    }
    const bool ahead = take(text, '+');
    if (!ahead && !take(text, '-')) {
        return std::nullopt;
    }
    const auto hour = take_digits(text, 2);
    if (!hour || *hour > 23 || !take(text, ':')) {
        return std::nullopt;
    }
    const auto minute = take_digits(text, 2);
    if (!minute || *minute > 59) {
        return std::nullopt;
    }
    const minutes offset = hours(*hour) + minutes(*minute);
    return ahead ? offset : -offset;
}

std::optional<Timestamp> read_rfc3339(std::string_view text) {
    const auto day = take_date(text);
    if (!day || !(take(text, 'T') || take(text, 't') || take(text, ' '))) {
        return std::nullopt;
    }
    const auto hour = take_digits(text, 2);
    if (!hour || *hour > 23 || !take(text, ':')) {
        return std::nullopt;
    }
    const auto minute = take_digits(text, 2);
    if (!minute || *minute > 59 || !take(text, ':')) {
        return std::nullopt;
    }
    const auto second = take_digits(text, 2);
    if (!second || *second > 59) {
        return std::nullopt;
    }
    const auto fraction = take_fraction(text);
    if (!fraction) {
        return std::nullopt;
    }
    const auto offset = take_offset(text);
    // Nanoseconds in 64 bits reach from 1677 to 2262; a year inside keeps the sum below from
    // overflowing.
    const int year = static_cast<int>(day->year());
    if (!offset || !text.empty() || year < 1678 || year > 2261) {
        return std::nullopt;
    }
    return Timestamp(std::chrono::sys_days(*day)) + hours(*hour) + minutes(*minute) +
           seconds(*second) + *fraction - *offset;
}

const dt::time_zone& zone_at(const void* zone) {
    return *static_cast<const dt::time_zone*>(zone);
}

seconds offset_at(const void* zone, Timestamp at) {
    return zone_at(zone).get_info(dt::floor<seconds>(at)).offset;
}

}  // namespace

Result<DeskDate> DeskDate::parse(std::string_view text) {
    std::string_view rest = text;
    const auto value = take_date(rest);
    if (!value || !rest.empty()) {
        return Error(Errc::invalid,
                     "date \"" + printable(text, 40) + "\": expected a day such as 2026-10-19");
    }
    return DeskDate{*value};
}

std::string DeskDate::str() const {
    return date_text(value);
}

DeskDate DeskDate::plus_days(int count) const {
    return DeskDate{std::chrono::year_month_day(std::chrono::sys_days(value) + days(count))};
}

std::chrono::weekday DeskDate::weekday() const {
    return std::chrono::weekday(std::chrono::sys_days(value));
}

Result<TimeOfDay> TimeOfDay::parse(std::string_view text) {
    std::string_view rest = text;
    const auto hour = take_digits(rest, 2);
    const bool colon = hour && take(rest, ':');
    const auto minute = colon ? take_digits(rest, 2) : std::nullopt;
    const int total = hour && minute ? *hour * 60 + *minute : -1;
    if (!minute || !rest.empty() || *minute > 59 || total > 24 * 60) {
        return Error(Errc::invalid,
                     "time \"" + printable(text, 40) + "\": expected HH:MM from 00:00 to 24:00");
    }
    return TimeOfDay{total};
}

std::string TimeOfDay::str() const {
    return digits(minutes / 60, 2) + ":" + digits(minutes % 60, 2);
}

Result<Zone> Zone::find(std::string_view name) {
    const std::string text(name);
    try {
        return Zone(text, dt::locate_zone(text));
    } catch (const std::exception&) {
        return Error(Errc::not_found,
                     "time zone \"" + printable(text, 80) +
                         "\": not found; check the spelling (such as Asia/Kolkata) or "
                         "install tzdata");
    }
}

DeskDate Zone::date_of(Timestamp at) const {
    const auto local = at + offset_at(zone_, at);
    return DeskDate{std::chrono::year_month_day(std::chrono::floor<days>(local))};
}

TimeOfDay Zone::time_of(Timestamp at) const {
    const auto local = at + offset_at(zone_, at);
    const auto since_midnight = local - std::chrono::floor<days>(local);
    return TimeOfDay{static_cast<int>(std::chrono::floor<minutes>(since_midnight).count())};
}

Timestamp Zone::instant(DeskDate day, TimeOfDay time) const {
    const auto wall = std::chrono::sys_days(day.value).time_since_epoch() + minutes(time.minutes);
    const dt::local_seconds local{std::chrono::duration_cast<seconds>(wall)};
    const dt::local_info info = zone_at(zone_).get_info(local);
    if (info.result == dt::local_info::nonexistent) {
        return info.first.end;  // the first instant after the gap
    }
    return dt::sys_seconds(local.time_since_epoch() -
                           info.first.offset);  // inside an overlap the earlier one
}

std::string Zone::local(Timestamp at) const {
    const seconds offset = offset_at(zone_, at);
    const auto wall = std::chrono::floor<seconds>(at + offset);
    const auto midnight = std::chrono::floor<days>(wall);
    const auto ahead = offset.count() < 0 ? -offset : offset;
    return date_text(std::chrono::year_month_day(midnight)) + "T" + time_text(wall - midnight) +
           (offset.count() < 0 ? "-" : "+") + time_text(ahead).substr(0, 5);
}

std::string Zone::abbreviation(Timestamp at) const {
    return zone_at(zone_).get_info(dt::floor<seconds>(at)).abbrev;
}

std::string to_rfc3339(Timestamp at) {
    const auto midnight = std::chrono::floor<days>(at);
    const auto second = std::chrono::floor<seconds>(at);
    return date_text(std::chrono::year_month_day(midnight)) + "T" + time_text(second - midnight) +
           "." + digits((at - second).count(), 9) + "Z";
}

Result<Timestamp> parse_rfc3339(std::string_view text) {
    const auto at = read_rfc3339(text);
    if (!at) {
        return Error(Errc::invalid,
                     "time \"" + printable(text, 60) +
                         "\": expected RFC 3339, such as 2026-10-19T06:02:11Z");
    }
    return *at;
}

Timestamp SystemClock::now() const {
    return std::chrono::time_point_cast<nanoseconds>(std::chrono::system_clock::now());
}

Result<> ReplayedClock::advance_to(Timestamp at) {
    const std::int64_t wanted = at.time_since_epoch().count();
    std::int64_t current = now_.load();
    while (true) {
        if (wanted < current) {
            return Error(Errc::invalid,
                         "advance the replayed clock to " + to_rfc3339(at) + ": it is already " +
                             to_rfc3339(now()));
        }
        if (now_.compare_exchange_weak(current, wanted)) {
            return {};
        }
    }
}

}  // namespace daybook
