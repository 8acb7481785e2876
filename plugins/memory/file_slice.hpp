// Some lines of a file, as much as a model can take at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace daybook::memory {

inline constexpr std::size_t kMaxShownBytes = 16 * 1024;

/// The longest start of the text of at most so many bytes that ends between two characters.
[[nodiscard]] std::string_view cut_to_bytes(std::string_view text, std::size_t max_bytes) noexcept;

struct FileSlice {
    std::string_view text;      ///< into the content
    std::size_t from_line = 1;  ///< first line shown; from 1
    std::size_t to_line = 0;    ///< last line shown; from_line - 1 when none is
    std::size_t lines = 0;      ///< of the whole file
    bool cut_in_line = false;   ///< the last line shown is longer than the limit
    /// Whether lines follow that are not shown.
    [[nodiscard]] bool has_more() const noexcept { return cut_in_line || to_line < lines; }
};

/// Whole lines from `from_line` (from 1), at most `max_lines` (0 = no limit) and `max_bytes`.
[[nodiscard]] FileSlice slice_lines(std::string_view content,
                                    std::size_t from_line,
                                    std::size_t max_lines,
                                    std::size_t max_bytes = kMaxShownBytes);

}  // namespace daybook::memory
