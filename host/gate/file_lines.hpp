// Some lines of a file. Thread: [any].
#pragma once

#include <cstddef>
#include <string_view>

namespace daybook {

/// Which lines: whole ones, from `first_line` (from 1), at most `max_lines` and `max_bytes` (0 = no
/// limit).
struct LineRange {
    std::size_t first_line = 1;
    std::size_t max_lines = 0;
    std::size_t max_bytes = 0;
};

struct FileLines {
    std::string_view text;       ///< into the content
    std::size_t begin = 0;       ///< where the text begins in the content, in bytes
    std::size_t first_line = 1;  ///< of the text; from 1
    std::size_t lines = 0;       ///< in the text
    std::size_t total_lines = 0;
    bool cut_in_line =
        false;  ///< the only line is longer than the limit, and cut between characters
};

[[nodiscard]] FileLines slice_lines(std::string_view content, const LineRange& range);

}  // namespace daybook
