#include "host/gate/folded_text.hpp"

#include "host/os/utf8.hpp"

namespace daybook {
namespace {

constexpr char kOther = '\x80';

bool is_invisible(char32_t c) {
    return c == 0xAD || c == 0x34F || c == 0x61C || c == 0x180E || (c >= 0x200B && c <= 0x200F) ||
           (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
           (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE007F);
}

bool is_space(char32_t c) {
    return c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F ||
           c == 0x3000;
}

bool is_dash(char32_t c) {
    return (c >= 0x2010 && c <= 0x2015) || c == 0x2043 || c == 0x2212 || c == 0xFE58 ||
           c == 0xFE63 || c == 0xFF0D;
}

/// The digit that the character is in another script, or -1. Source: the starts of the decimal
/// ranges in Unicode's general category Nd that people of our markets type, and the mathematical
/// and full-width ones.
int digit_of(char32_t c) {
    for (const char32_t zero : {0x660U,
                                0x6F0U,
                                0x966U,
                                0x9E6U,
                                0xA66U,
                                0xAE6U,
                                0xB66U,
                                0xBE6U,
                                0xC66U,
                                0xCE6U,
                                0xD66U,
                                0xE50U,
                                0xFF10U}) {
        if (c >= zero && c < zero + 10) {
            return static_cast<int>(c - zero);
        }
    }
    if (c >= 0x1D7CE && c <= 0x1D7FF) {
        return static_cast<int>((c - 0x1D7CE) % 10);
    }
    return -1;
}

/// The ASCII form, 0 for an invisible character.
char folded(char32_t c) {
    if (c < 0x80) {
        return static_cast<char>(c);
    }
    if (is_invisible(c)) {
        return 0;
    }
    if (is_space(c)) {
        return ' ';
    }
    if (is_dash(c)) {
        return '-';
    }
    if (const int digit = digit_of(c); digit >= 0) {
        return static_cast<char>('0' + digit);
    }
    if (c >= 0xFF01 && c <= 0xFF5E) {  // the full-width forms of ASCII
        return static_cast<char>(c - 0xFEE0);
    }
    return kOther;
}

}  // namespace

FoldedText FoldedText::of(std::string_view original) {
    FoldedText folded_text;
    folded_text.text.reserve(original.size());
    folded_text.begins.reserve(original.size());
    folded_text.ends.reserve(original.size());
    for (std::size_t i = 0; i < original.size();) {
        const std::size_t length = utf8_sequence_at(original, i);
        const char c = length == 0 ? kOther : folded(utf8_code_point(original.substr(i, length)));
        if (c != 0 || original[i] == '\0') {
            folded_text.text += c;
            folded_text.begins.push_back(static_cast<std::uint32_t>(i));
            folded_text.ends.push_back(static_cast<std::uint32_t>(i + (length == 0 ? 1 : length)));
        }
        i += length == 0 ? 1 : length;
    }
    return folded_text;
}

FoldedText FoldedText::joined() const {
    FoldedText out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != ' ' && text[i] != '-' && text[i] != '\t') {
            out.text += text[i];
            out.begins.push_back(begins[i]);
            out.ends.push_back(ends[i]);
        }
    }
    return out;
}

}  // namespace daybook
