#include "plugins/skills/candles/price_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "plugins/skills/candles/moment.hpp"

namespace daybook::candles {

namespace {

constexpr std::string_view kHeader = "time,open,high,low,close,volume";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kFields = 6;
constexpr std::size_t kFoundBytes = 80;

std::string found(std::string_view text) {
    return "found \"" + std::string(text.substr(0, kFoundBytes)) +
           (text.size() > kFoundBytes ? "…\"" : "\"");
}

std::optional<double> number_of(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view line) {
    std::vector<std::string_view> fields;
    while (fields.size() <= kFields) {
        const auto comma = line.find(',');
        fields.push_back(line.substr(0, comma));
        if (comma == std::string_view::npos) {
            break;
        }
        line.remove_prefix(comma + 1);
    }
    return fields;
}

/// "" when the prices agree with each other.
std::string contradiction(const Prices& p) {
    if (p.high < std::max({p.open, p.close, p.low})) {
        return "wanted a high that is the highest of the four prices";
    }
    if (p.low > std::min(p.open, p.close)) {
        return "wanted a low that is the lowest of the four prices";
    }
    return p.volume < 0 ? "wanted a volume of 0 or more" : "";
}

/// One row's value, or the sentence that says what is wrong with it.
std::variant<PriceRow, std::string> parse_row(std::string_view line, Resolution resolution) {
    static constexpr std::array<const char*, kFields> kNames = {
        "time", "open", "high", "low", "close", "volume"};
    const auto fields = split(line);
    if (fields.size() != kFields) {
        return "wanted 6 fields (" + std::string(kHeader) + "), " + found(line);
    }
    PriceRow row;
    const auto at =
        resolution == Resolution::minute ? parse_instant(fields[0]) : parse_plain_date(fields[0]);
    if (!at) {
        return (resolution == Resolution::minute
                    ? "wanted a time with offset such as 2019-01-02T09:15:00+05:30, "
                    : "wanted a plain date such as 2019-01-02, ") +
               found(fields[0]);
    }
    row.at = *at;
    std::array<double, kFields - 1> numbers{};
    for (std::size_t i = 1; i < kFields; ++i) {
        const auto number = number_of(fields[i]);
        if (!number) {
            return std::string("wanted a number for ") + kNames[i] + ", " + found(fields[i]);
        }
        numbers[i - 1] = *number;
    }
    row.prices = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
    if (auto wrong = contradiction(row.prices); !wrong.empty()) {
        return std::move(wrong) + ", " + found(line);
    }
    return row;
}

}  // namespace

Result<PriceFile> parse_price_file(std::string_view text, std::string name, Resolution resolution) {
    PriceFile file;
    file.name = std::move(name);
    file.resolution = resolution;
    if (text.starts_with(kByteOrderMark)) {
        text.remove_prefix(kByteOrderMark.size());
    }
    std::uint32_t number = 0;
    std::uint32_t last_good = 0;
    const auto refuse = [&](std::string what) {
        file.problems.push_back(
            {number, file.name + " row " + std::to_string(number) + ": " + std::move(what)});
    };
    while (!text.empty()) {
        ++number;
        const auto end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        if (number == 1) {
            if (line != kHeader) {
                return Error(Errc::corrupt,
                             file.name + " row 1: wanted the header " + std::string(kHeader) +
                                 ", " + found(line));
            }
            continue;
        }
        auto parsed = parse_row(line, resolution);
        if (auto* wrong = std::get_if<std::string>(&parsed)) {
            refuse(std::move(*wrong));
            continue;
        }
        auto& row = std::get<PriceRow>(parsed);
        if (!file.rows.empty() && row.at <= file.rows.back().at) {
            refuse("wanted a time after that of row " + std::to_string(last_good) + ", " +
                   found(line.substr(0, line.find(','))));
            continue;
        }
        row.row = number;
        last_good = number;
        file.rows.push_back(row);
    }
    if (number == 0) {
        return Error(Errc::corrupt,
                     file.name + ": the file is empty; wanted the header " + std::string(kHeader));
    }
    return file;
}

}  // namespace daybook::candles
