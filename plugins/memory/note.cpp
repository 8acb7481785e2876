#include "plugins/memory/note.hpp"

#include <algorithm>
#include <array>

namespace daybook::memory {

namespace {

constexpr std::string_view kQuoteOpens = " (from: \"";

bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

bool is_minute(std::string_view text) noexcept {
    return text.size() == 5 && text[2] == ':' && is_digit(text[0]) && is_digit(text[1]) &&
           is_digit(text[3]) && is_digit(text[4]);
}

/// Bytes of the white space or control character at the start, 0 for anything else.
std::size_t blank_length(std::string_view text) noexcept {
    static constexpr std::array<std::string_view, 3> kLineEnds = {
        "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
    const auto first = static_cast<unsigned char>(text.front());
    if (first <= 0x20 || first == 0x7F) {
        return 1;
    }
    for (const auto end : kLineEnds) {
        if (text.starts_with(end)) {
            return end.size();
        }
    }
    return 0;
}

}  // namespace

std::string fold_to_line(std::string_view text) {
    std::string line;
    bool gap = false;
    while (!text.empty()) {
        if (const auto blank = blank_length(text); blank != 0) {
            gap = true;
            text.remove_prefix(blank);
            continue;
        }
        if (gap && !line.empty()) {
            line += ' ';
        }
        gap = false;
        line += text.front();
        text.remove_prefix(1);
    }
    return line;
}

std::size_t count_characters(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
    }));
}

std::string minute_of(std::string_view rfc3339) {
    if (rfc3339.size() < 16 || rfc3339[10] != 'T') {
        return {};
    }
    const auto minute = rfc3339.substr(11, 5);
    return is_minute(minute) ? std::string(minute) : std::string();
}

std::string format_note(std::string_view minute, std::string_view text, std::string_view quote) {
    std::string item = "- ";
    if (!minute.empty()) {
        item.append(minute).append(" ");
    }
    item.append(text);
    if (!quote.empty()) {
        item.append(kQuoteOpens).append(quote).append("\")");
    }
    return item + "\n";
}

std::optional<EarlierNote> find_note(std::string_view notes, std::string_view text) {
    for (std::size_t line = 1; !notes.empty(); ++line) {
        const auto end = std::min(notes.find('\n'), notes.size());
        std::string_view item = notes.substr(0, end);
        notes.remove_prefix(std::min(end + 1, notes.size()));
        if (!item.starts_with("- ")) {
            continue;
        }
        item.remove_prefix(2);
        std::string minute;
        if (is_minute(item.substr(0, 5)) && item.substr(5).starts_with(" ")) {
            minute = item.substr(0, 5);
            item.remove_prefix(6);
        }
        const std::string said = fold_to_line(item);
        const bool same = said == text || (said.starts_with(text) &&
                                           said.substr(text.size()).starts_with(kQuoteOpens));
        if (same) {
            return EarlierNote{line, std::move(minute)};
        }
    }
    return std::nullopt;
}

}  // namespace daybook::memory
