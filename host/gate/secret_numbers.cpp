// Personal numbers: Indian tax numbers (PAN), Aadhaar numbers, payment cards.
//
// One in ten arbitrary numbers passes a check digit, and a desk's files are full of numbers. So a
// number must also look like what it would be: its length and first digits, and how its groups of
// digits are set apart. Prices in a row, dates, times, order ids and hashes look different, and the
// tests hold a list of them.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "host/gate/secret_scan.hpp"

namespace daybook {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_word_char(char c) {
    return is_digit(c) || is_letter(c) || c == '_';
}
char upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
int value_of(char digit) {
    return digit - '0';
}

/// Verhoeff's check, of all digits including the check digit. Tables: the dihedral group D5 and its
/// permutation.
bool passes_verhoeff(std::string_view digits) {
    constexpr std::array<std::array<int, 10>, 10> kProduct = {{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
                                                               {1, 2, 3, 4, 0, 6, 7, 8, 9, 5},
                                                               {2, 3, 4, 0, 1, 7, 8, 9, 5, 6},
                                                               {3, 4, 0, 1, 2, 8, 9, 5, 6, 7},
                                                               {4, 0, 1, 2, 3, 9, 5, 6, 7, 8},
                                                               {5, 9, 8, 7, 6, 0, 4, 3, 2, 1},
                                                               {6, 5, 9, 8, 7, 1, 0, 4, 3, 2},
                                                               {7, 6, 5, 9, 8, 2, 1, 0, 4, 3},
                                                               {8, 7, 6, 5, 9, 3, 2, 1, 0, 4},
                                                               {9, 8, 7, 6, 5, 4, 3, 2, 1, 0}}};
    constexpr std::array<std::array<int, 10>, 8> kPermutation = {{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
                                                                  {1, 5, 7, 6, 2, 8, 3, 0, 9, 4},
                                                                  {5, 8, 0, 3, 7, 9, 6, 1, 4, 2},
                                                                  {8, 9, 1, 6, 0, 4, 3, 5, 2, 7},
                                                                  {9, 4, 5, 3, 1, 2, 6, 8, 7, 0},
                                                                  {4, 2, 8, 6, 5, 7, 3, 9, 0, 1},
                                                                  {2, 7, 9, 3, 8, 0, 6, 4, 1, 5},
                                                                  {7, 0, 4, 6, 9, 1, 3, 2, 5, 8}}};
    std::size_t check = 0;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const auto digit = static_cast<std::size_t>(value_of(digits[digits.size() - 1 - i]));
        check = static_cast<std::size_t>(
            kProduct.at(check).at(static_cast<std::size_t>(kPermutation.at(i % 8).at(digit))));
    }
    return check == 0;
}

bool passes_luhn(std::string_view digits) {
    int sum = 0;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        int value = value_of(digits[digits.size() - 1 - i]);
        if (i % 2 == 1) {
            value *= 2;
            value -= value > 9 ? 9 : 0;
        }
        sum += value;
    }
    return sum % 10 == 0;
}

int number_at(std::string_view digits, std::size_t at, std::size_t count) {
    int value = 0;
    for (const char c : digits.substr(at, count)) {
        value = value * 10 + value_of(c);
    }
    return value;
}

/// Whether the digits are a date and time: yyyymmddhhmm..., or yymmddhhmmss.
bool is_time_stamp(std::string_view digits) {
    const auto fits = [&](std::size_t at) {
        const int month = number_at(digits, at, 2);
        const int day = number_at(digits, at + 2, 2);
        return month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
               number_at(digits, at + 4, 2) < 24 && number_at(digits, at + 6, 2) < 60;
    };
    if (digits.size() < 12) {
        return false;
    }
    const int year = number_at(digits, 0, 4);
    return (year >= 1970 && year < 2100 && fits(4)) ||
           (digits.size() == 12 && fits(2) && number_at(digits, 10, 2) < 60);
}

/// Lengths and first digits that card networks use (ISO/IEC 7812 ranges of Visa, Mastercard,
/// American Express, Diners, Discover, JCB, UnionPay, RuPay, Maestro).
bool is_card_range(std::string_view digits) {
    const std::size_t size = digits.size();
    const int one = number_at(digits, 0, 1);
    const int two = number_at(digits, 0, 2);
    const int three = number_at(digits, 0, 3);
    const int four = number_at(digits, 0, 4);
    if (one == 4) {
        return size == 13 || size == 16 || size == 19;
    }
    if ((two >= 51 && two <= 55) || two == 81 || two == 82 || two == 35) {
        return size == 16 || (two == 35 && size <= 19 && size > 16);
    }
    if (four >= 2221 && four <= 2720) {
        // Exchanges number orders so, with a counter behind zeros.
        return size == 16 && digits.find("00000") == std::string_view::npos;
    }
    if (two == 34 || two == 37) {
        return size == 15;
    }
    if (two == 36 || two == 38 || two == 39 || (three >= 300 && three <= 305)) {
        return size == 14 || (two == 36 && size == 16);
    }
    const bool maestro = two == 50 || (two >= 56 && two <= 58);
    return (maestro || one == 6) && size >= 13 && size <= 19;
}

struct Group {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Groups of digits with one space or dash between them.
struct Run {
    std::vector<Group> groups;
    bool has_context = false;  ///< a word on the line says what the number is
};

std::string digits_of(std::string_view text,
                      const std::vector<Group>& groups,
                      std::size_t first,
                      std::size_t count) {
    std::string digits;
    for (std::size_t i = first; i < first + count; ++i) {
        digits += text.substr(groups[i].begin, groups[i].size());
    }
    return digits;
}

/// Whether the token around the group (letters, digits, dashes, underscores) holds other digits.
/// Looks no further than the nearest one, so that a long token is not walked for each of its
/// groups.
bool has_other_digits(std::string_view text, const Group& group) {
    const auto is_token_char = [](char c) { return is_word_char(c) || c == '-'; };
    for (std::size_t at = group.begin; at > 0 && is_token_char(text[at - 1]); --at) {
        if (is_digit(text[at - 1])) {
            return true;
        }
    }
    for (std::size_t at = group.end; at < text.size() && is_token_char(text[at]); ++at) {
        if (is_digit(text[at])) {
            return true;
        }
    }
    return false;
}

/// Whether the group stands alone: not part of a decimal, a word, or an id with other digits in it.
bool is_free(std::string_view text, const Group& group) {
    const char before = group.begin > 0 ? text[group.begin - 1] : ' ';
    const char after = group.end < text.size() ? text[group.end] : ' ';
    const char before_that = group.begin > 1 ? text[group.begin - 2] : ' ';
    const char after_that = group.end + 1 < text.size() ? text[group.end + 1] : ' ';
    if (is_word_char(before) || is_word_char(after)) {
        return false;
    }
    const auto is_point = [](char c) { return c == '.' || c == ',' || c == ':' || c == '/'; };
    return !(is_point(before) && is_digit(before_that)) &&
           !(is_point(after) && is_digit(after_that));
}

/// A word that announces the number, in the 40 characters before it on its line.
bool has_context(std::string_view text, std::size_t at) {
    constexpr std::size_t kReach = 40;
    constexpr std::array<std::string_view, 7> kWords = {
        "CARD", "AADHAAR", "AADHAR", "UIDAI", "VISA", "MASTERCARD", "RUPAY"};
    std::string before;
    for (const char c : text.substr(at > kReach ? at - kReach : 0, std::min(at, kReach))) {
        before += upper(c);
    }
    if (const std::size_t line = before.rfind('\n'); line != std::string::npos) {
        before.erase(0, line + 1);
    }
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
        return before.find(word) != std::string::npos;
    });
}

/// The run that begins at `at`, which is a digit; `at` is then behind it.
Run run_at(std::string_view text, std::size_t& at) {
    Run run{{}, has_context(text, at)};
    for (bool continues = true; continues; at += continues ? 1 : 0) {
        Group group{at, at};
        while (group.end < text.size() && is_digit(text[group.end])) {
            ++group.end;
        }
        run.groups.push_back(group);
        at = group.end;
        continues =
            at + 1 < text.size() && (text[at] == ' ' || text[at] == '-') && is_digit(text[at + 1]);
    }
    return run;
}

/// Prices in a row: groups of one size that differ, and lie within a quarter of each other.
bool are_levels(std::string_view text,
                const std::vector<Group>& groups,
                std::size_t first,
                std::size_t count) {
    std::vector<int> values;
    for (std::size_t i = first; i < first + count; ++i) {
        if (groups[i].size() > 6 || text[groups[i].begin] == '0') {
            return false;
        }
        values.push_back(number_at(text, groups[i].begin, groups[i].size()));
    }
    std::sort(values.begin(), values.end());
    const bool differ = std::adjacent_find(values.begin(), values.end()) == values.end();
    return differ && values.back() - values.front() <= values.front() / 4;
}

std::string_view rule_of(std::string_view digits) {
    if (is_time_stamp(digits)) {
        return "";
    }
    if (digits.size() == 12 && digits[0] >= '2' && passes_verhoeff(digits)) {
        return "aadhaar number";
    }
    const bool all_same = digits.find_first_not_of(digits[0]) == std::string_view::npos;
    return !all_same && is_card_range(digits) && passes_luhn(digits) ? "card number" : "";
}

/// How many groups from `first` on make up a number as it is printed, 0 = none. Sizes of 4-4-4,
/// 4-4-4-4, 4-6-5 and so on.
std::size_t printed_shape(const std::vector<Group>& groups, std::size_t first) {
    constexpr std::array<std::array<std::size_t, 5>, 6> kShapes = {{{4, 4, 4, 4, 3},
                                                                    {4, 4, 4, 4, 0},
                                                                    {4, 4, 5, 0, 0},
                                                                    {4, 6, 5, 0, 0},
                                                                    {4, 6, 4, 0, 0},
                                                                    {4, 4, 4, 0, 0}}};
    for (const auto& shape : kShapes) {
        const auto count = static_cast<std::size_t>(
            std::count_if(shape.begin(), shape.end(), [](std::size_t s) { return s > 0; }));
        bool fits = first + count <= groups.size();
        for (std::size_t i = 0; fits && i < count; ++i) {
            fits = groups[first + i].size() == shape.at(i);
        }
        // The whole of it: a fourth group of four after three is a card, not an Aadhaar number and
        // something else.
        if (fits && (first + count == groups.size() || groups[first + count].size() != 4)) {
            return count;
        }
    }
    return 0;
}

void add(const FoldedText& folded,
         std::string_view rule,
         const Group& from,
         const Group& to,
         std::string digits,
         std::vector<SecretFound>& into) {
    into.push_back({rule, folded.begins[from.begin], folded.ends[to.end - 1], std::move(digits)});
}

/// Every group by itself: twelve to nineteen digits written together.
void scan_single(const FoldedText& folded, const Run& run, std::vector<SecretFound>& into) {
    for (const Group& group : run.groups) {
        if (group.size() < 12 || group.size() > 19 || !is_free(folded.text, group)) {
            continue;
        }
        const std::string digits = folded.text.substr(group.begin, group.size());
        const std::string_view rule = rule_of(digits);
        if (!rule.empty() && (run.has_context || !has_other_digits(folded.text, group))) {
            add(folded, rule, group, group, digits, into);
        }
    }
}

void scan_groups(const FoldedText& folded, const Run& run, std::vector<SecretFound>& into) {
    const std::string_view text = folded.text;
    const auto& groups = run.groups;
    if (groups.size() < 2 || !is_free(text, groups.front()) || !is_free(text, groups.back())) {
        return;
    }
    for (std::size_t first = 0; first < groups.size(); ++first) {
        const std::size_t count = printed_shape(groups, first);
        if (count == 0 || (are_levels(text, groups, first, count) && !run.has_context)) {
            continue;
        }
        std::string digits = digits_of(text, groups, first, count);
        const std::string_view rule = rule_of(digits);
        if (!rule.empty()) {
            add(folded, rule, groups[first], groups[first + count - 1], std::move(digits), into);
            return;
        }
    }
    // Any other way of taking it apart: only digit by digit, or where a word says what it is.
    const bool one_by_one = std::all_of(
        groups.begin(), groups.end(), [](const Group& group) { return group.size() == 1; });
    std::string digits = digits_of(text, groups, 0, groups.size());
    if ((!one_by_one && !run.has_context) || digits.size() > 19) {
        return;
    }
    const std::string_view rule = rule_of(digits);
    if (!rule.empty()) {
        add(folded, rule, groups.front(), groups.back(), std::move(digits), into);
    }
}

/// PAN: five letters, the fourth one of ten, four digits, a letter; a space or dash may stand
/// between them.
void scan_pan(const FoldedText& folded, std::vector<SecretFound>& into) {
    constexpr std::string_view kHolders = "PCHFATBLJG";
    constexpr std::size_t kLength = 10;
    const std::string_view text = folded.text;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!is_letter(text[at]) || (at > 0 && is_word_char(text[at - 1]))) {
            continue;
        }
        std::string pan;
        std::size_t gaps = 0;
        std::size_t end = at;
        while (end < text.size() && pan.size() < kLength) {
            const bool wants_digit = pan.size() >= 5 && pan.size() < 9;
            const char c = text[end];
            if (wants_digit ? is_digit(c) : is_letter(c)) {
                pan += upper(c);
            } else if ((c == ' ' || c == '-') && !pan.empty() && text[end - 1] != ' ' &&
                       text[end - 1] != '-') {
                ++gaps;
            } else {
                break;
            }
            ++end;
        }
        if (pan.size() != kLength || kHolders.find(pan[3]) == std::string_view::npos ||
            (end < text.size() && is_word_char(text[end]))) {
            continue;
        }
        // "CIPLA 1500 C" is an option: a symbol, a strike, call or put.
        const bool is_option =
            gaps == 2 && text[at + 5] == ' ' && (pan.back() == 'C' || pan.back() == 'P');
        if (!is_option) {
            into.push_back({"tax number (PAN)", folded.begins[at], folded.ends[end - 1], pan});
        }
    }
}

}  // namespace

void scan_numbers(const FoldedText& folded, std::vector<SecretFound>& into) {
    scan_pan(folded, into);
    for (std::size_t at = 0; at < folded.text.size();) {
        if (!is_digit(folded.text[at])) {
            ++at;
            continue;
        }
        const Run run = run_at(folded.text, at);
        scan_single(folded, run, into);
        scan_groups(folded, run, into);
    }
}

}  // namespace daybook
