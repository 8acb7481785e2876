#include "plugins/skills/candles/moment.hpp"

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

namespace daybook::candles {

namespace {

using std::chrono::seconds;

constexpr std::int64_t kQuarterSeconds = 900;

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
    if (text.size() < at + count) {
        return std::nullopt;
    }
    int value = 0;
    for (const char c : text.substr(at, count)) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        value = value * 10 + (c - '0');
    }
    return value;
}

/// "09:15" or "09:15:07" as time since midnight.
std::optional<seconds> time_of_day(std::string_view text) {
    const auto hour = digits(text, 0, 2);
    const auto minute = digits(text, 3, 2);
    const bool shape = (text.size() == 5 || (text.size() == 8 && text[5] == ':')) && text[2] == ':';
    const auto second = text.size() == 8 ? digits(text, 6, 2) : std::optional(0);
    if (!shape || !hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) {
        return std::nullopt;
    }
    return std::chrono::hours(*hour) + std::chrono::minutes(*minute) + seconds(*second);
}

/// "+05:30", "-04:00" or "Z".
std::optional<seconds> offset_of(std::string_view text) {
    if (text == "Z") {
        return seconds(0);
    }
    if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') {
        return std::nullopt;
    }
    const auto hours = digits(text, 1, 2);
    const auto minutes = digits(text, 4, 2);
    if (!hours || !minutes || *hours > 18 || *minutes > 59) {
        return std::nullopt;
    }
    const seconds size = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
    return text[0] == '-' ? -size : size;
}

/// The number with at least so many digits.
std::string padded(int number, std::size_t digit_count) {
    std::string text = std::to_string(number);
    return text.size() < digit_count ? std::string(digit_count - text.size(), '0') + text : text;
}

}  // namespace

std::optional<seconds> parse_plain_date(std::string_view text) {
    const auto year = digits(text, 0, 4);
    const auto month = digits(text, 5, 2);
    const auto day = digits(text, 8, 2);
    if (text.size() != 10 || text[4] != '-' || text[7] != '-' || !year || !month || !day) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year(*year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) {
        return std::nullopt;
    }
    return std::chrono::sys_days(date).time_since_epoch();
}

std::optional<seconds> parse_instant(std::string_view text) {
    if (text.size() < 17 || text[10] != 'T') {
        return std::nullopt;
    }
    const auto date = parse_plain_date(text.substr(0, 10));
    const std::size_t clock_size = text[16] == ':' ? 8 : 5;
    const auto clock = time_of_day(text.substr(11, clock_size));
    const auto offset =
        text.size() > 11 + clock_size ? offset_of(text.substr(11 + clock_size)) : std::nullopt;
    if (!date || !clock || !offset) {
        return std::nullopt;
    }
    return *date + *clock - *offset;
}

std::optional<std::chrono::minutes> parse_minute(std::string_view text) {
    if (text == "24:00") {
        return std::chrono::hours(24);
    }
    const auto clock = text.size() == 5 ? time_of_day(text) : std::nullopt;
    return clock ? std::optional(std::chrono::duration_cast<std::chrono::minutes>(*clock))
                 : std::nullopt;
}

std::string text_of(LocalDay day) {
    const std::chrono::year_month_day date{day};
    return padded(static_cast<int>(date.year()), 4) + "-" +
           padded(static_cast<int>(static_cast<unsigned>(date.month())), 2) + "-" +
           padded(static_cast<int>(static_cast<unsigned>(date.day())), 2);
}

std::string minute_text(LocalTime at) {
    const auto since = at - std::chrono::floor<std::chrono::days>(at);
    const auto minutes = static_cast<int>(std::chrono::floor<std::chrono::minutes>(since).count());
    return padded(minutes / 60, 2) + ":" + padded(minutes % 60, 2);
}

std::string text_of(LocalTime at) {
    return text_of(std::chrono::floor<std::chrono::days>(at)) + " " + minute_text(at);
}

Result<ZoneClock> ZoneClock::open(std::string zone) {
    std::error_code ignored;
    const bool named = !zone.empty() && zone.front() != '/' && zone.front() != ':' &&
                       zone.find("..") == std::string::npos;
    if (!named || !std::filesystem::is_regular_file("/usr/share/zoneinfo/" + zone, ignored)) {
        return Error(Errc::not_found,
                     "time zone \"" + zone + "\": not in /usr/share/zoneinfo; install tzdata");
    }
    return ZoneClock(std::move(zone));
}

void ZoneClock::use() const {
    const std::string wanted = ":" + zone_;
    const char* current = std::getenv("TZ");
    if (current == nullptr || wanted != current) {
        setenv("TZ", wanted.c_str(), 1);
        tzset();
    }
}

LocalTime ZoneClock::to_local(Instant at) const {
    const std::int64_t since = at.time_since_epoch().count();
    const std::int64_t quarter =
        since >= 0 ? since / kQuarterSeconds : (since + 1) / kQuarterSeconds - 1;
    if (quarter != quarter_) {
        use();
        const std::time_t time = since;
        std::tm local{};
        localtime_r(&time, &local);
        offset_ = seconds(local.tm_gmtoff);
        quarter_ = quarter;
    }
    return LocalTime(at.time_since_epoch() + offset_);
}

Instant ZoneClock::to_instant(LocalTime at) const {
    use();
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date{day};
    const auto since = at - day;
    std::tm local{};
    local.tm_year = static_cast<int>(date.year()) - 1900;
    local.tm_mon = static_cast<int>(static_cast<unsigned>(date.month())) - 1;
    local.tm_mday = static_cast<int>(static_cast<unsigned>(date.day()));
    local.tm_sec = static_cast<int>(since.count() % 60);
    local.tm_min = static_cast<int>(since.count() / 60 % 60);
    local.tm_hour = static_cast<int>(since.count() / 3600);
    local.tm_isdst = -1;
    return Instant(seconds(std::mktime(&local)));
}

Result<Instant> parse_asked(std::string_view text,
                            LocalDay today,
                            const ZoneClock& zone,
                            bool end_of_day) {
    if (const auto instant = parse_instant(text)) {
        return Instant(*instant);
    }
    if (const auto date = parse_plain_date(text)) {
        const LocalTime start{*date};
        return end_of_day ? zone.to_instant(start + std::chrono::days(1)) - seconds(1)
                          : zone.to_instant(start);
    }
    if (const auto clock = time_of_day(text)) {
        return zone.to_instant(today + *clock);
    }
    if (text.size() >= 16 && (text[10] == ' ' || text[10] == 'T')) {
        const auto date = parse_plain_date(text.substr(0, 10));
        const auto clock = time_of_day(text.substr(11));
        if (date && clock) {
            return zone.to_instant(LocalTime(*date) + *clock);
        }
    }
    return Error(Errc::invalid,
                 "time \"" + std::string(text.substr(0, 40)) +
                     "\": wanted 2019-01-02, 2019-01-02 09:15, 09:15 or a time with offset");
}

}  // namespace daybook::candles
