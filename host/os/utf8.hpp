// Well-formed UTF-8, one sequence at a time.
#pragma once

#include <cstddef>
#include <string_view>

namespace daybook {

/// Bytes of the well-formed sequence that starts at `at` (1–4), or 0: no surrogates, no overlong
/// forms, nothing above U+10FFFF. `at` must be below bytes.size().
[[nodiscard]] constexpr std::size_t utf8_sequence_at(std::string_view bytes,
                                                     std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) {
        return static_cast<unsigned>(static_cast<unsigned char>(bytes[i]));
    };
    const unsigned lead = byte(at);
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) {
        return 0;
    }
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (bytes.size() - at < length) {
        return 0;
    }
    // The second byte's range is narrower after four of the lead bytes (overlong forms, surrogates,
    // the upper end).
    const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte(at + 1) < low || byte(at + 1) > high) {
        return 0;
    }
    for (std::size_t i = 2; i < length; ++i) {
        if ((byte(at + i) & 0xC0U) != 0x80U) {
            return 0;
        }
    }
    return length;
}

/// The code point of a sequence that utf8_sequence_at found.
[[nodiscard]] constexpr char32_t utf8_code_point(std::string_view sequence) noexcept {
    const auto byte = [&](std::size_t i) {
        return static_cast<char32_t>(static_cast<unsigned char>(sequence[i]));
    };
    switch (sequence.size()) {
        case 1:
            return byte(0);
        case 2:
            return ((byte(0) & 0x1FU) << 6U) | (byte(1) & 0x3FU);
        case 3:
            return ((byte(0) & 0x0FU) << 12U) | ((byte(1) & 0x3FU) << 6U) | (byte(2) & 0x3FU);
        default:
            return ((byte(0) & 0x07U) << 18U) | ((byte(1) & 0x3FU) << 12U) |
                   ((byte(2) & 0x3FU) << 6U) | (byte(3) & 0x3FU);
    }
}

}  // namespace daybook
