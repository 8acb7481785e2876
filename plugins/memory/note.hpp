// One note as one line of the day's file, and the search for the same note in it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace daybook::memory {

inline constexpr std::size_t kMaxNoteCharacters = 2000;

/// The text on one line: runs of white space, line ends (U+0085, U+2028, U+2029 too) and control
/// characters become one space, none at the ends.
[[nodiscard]] std::string fold_to_line(std::string_view text);

/// Characters (not bytes) of a UTF-8 text.
[[nodiscard]] std::size_t count_characters(std::string_view text) noexcept;

/// "10:31" out of "2019-01-02T10:31:07+05:30"; "" when the text has another form.
[[nodiscard]] std::string minute_of(std::string_view rfc3339);

/// `- 10:31 text` or `- 10:31 text (from: "quote")`, with its line end. The parts are folded.
[[nodiscard]] std::string format_note(std::string_view minute,
                                      std::string_view text,
                                      std::string_view quote);

struct EarlierNote {
    std::size_t line = 0;  ///< from 1
    std::string minute;    ///< "" when the item has none
};

/// The item of `notes` that says exactly `text` (folded), whatever its time and quote.
[[nodiscard]] std::optional<EarlierNote> find_note(std::string_view notes, std::string_view text);

}  // namespace daybook::memory
