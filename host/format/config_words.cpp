#include "host/format/config_words.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "host/format/config.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

/// Whether a key's name says that a secret is written beside it.
bool looks_like_a_secret(std::string_view key) {
    std::string lower;
    for (const char c : key) {
        lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    constexpr std::array<std::string_view, 6> kWords = {
        "api_key", "apikey", "api-key", "token", "secret", "password"};
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
        return lower.find(word) != std::string::npos;
    });
}

/// A number and what stands after it.
std::optional<std::pair<std::uint64_t, std::string_view>> number_and_unit(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end == text.data()) {
        return std::nullopt;
    }
    return std::pair(number, text.substr(static_cast<std::size_t>(end - text.data())));
}

/// The number times its unit, unless it is over the limit or the unit is not in the table.
template <std::size_t Count>
std::optional<std::uint64_t> in_units(
    std::string_view text,
    const std::array<std::pair<std::string_view, std::uint64_t>, Count>& units,
    std::uint64_t limit) {
    const auto parts = number_and_unit(text);
    if (!parts) {
        return std::nullopt;
    }
    for (const auto& [unit, factor] : units) {
        if (parts->second == unit) {
            return parts->first <= limit / factor ? std::optional(parts->first * factor)
                                                  : std::nullopt;
        }
    }
    return std::nullopt;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    constexpr std::size_t kMaxWord = 128;
    a = a.substr(0, kMaxWord);
    b = b.substr(0, kMaxWord);
    std::vector<std::size_t> two_back;
    std::vector<std::size_t> back(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) {
        back[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min(
                {back[j] + 1, row[j - 1] + 1, back[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], two_back[j - 2] + 1);
            }
        }
        two_back = back;
        back = row;
    }
    return back[b.size()];
}

std::string unknown_key(std::string_view key, std::initializer_list<std::string_view> known) {
    std::string what = "unknown key \"" + printable(key, 80) + "\"";
    if (looks_like_a_secret(key)) {
        return what + "; a secret never stands in this file: name it with credential = \"NAME\"";
    }
    if (const std::string_view near = nearest(key, known); !near.empty()) {
        return what + "; did you mean \"" + std::string(near) + "\"?";
    }
    what += "; known are";
    for (const std::string_view name : known) {
        what.append(name == *known.begin() ? " " : ", ").append(name);
    }
    return what;
}

bool is_zone_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && name.front() != '/' &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                      c == '/' || c == '_' || c == '-' || c == '+';
           });
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 4> kUnits = {
        {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}}};
    constexpr std::uint64_t kLimit = 1ULL << 40U;
    const auto value = in_units(text, kUnits, kLimit);
    return value ? std::optional(std::chrono::milliseconds(*value)) : std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, std::uint64_t>, 5> kUnits = {
        {{"", 1}, {"B", 1}, {"KiB", 1ULL << 10U}, {"MiB", 1ULL << 20U}, {"GiB", 1ULL << 30U}}};
    return in_units(text, kUnits, std::numeric_limits<std::int64_t>::max());
}

std::string_view name_of(Isolation isolation) noexcept {
    switch (isolation) {
        case Isolation::required:
            return "required";
        case Isolation::seccomp_only:
            return "seccomp-only";
        case Isolation::off:
            return "off";
    }
    return "required";
}

}  // namespace daybook
