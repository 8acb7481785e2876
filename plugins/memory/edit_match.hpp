// Why a text to be exchanged did not match a file exactly once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace daybook::memory {

/// Lines (from 1) on which `wanted` begins, every occurrence, overlapping ones too.
[[nodiscard]] std::vector<std::size_t> lines_of(std::string_view content, std::string_view wanted);

struct NearestLine {
    std::size_t line = 0;  ///< 0 = the file has no line like it
    std::string text;      ///< at most 160 bytes of it
};

/// The line most like the first line of `wanted` that has words.
[[nodiscard]] NearestLine nearest_line(std::string_view content, std::string_view wanted);

/// One sentence for the model: how often the text occurs and on which lines, or which line comes
/// nearest; "" when it does occur exactly once.
[[nodiscard]] std::string explain_mismatch(std::string_view path,
                                           std::string_view content,
                                           std::string_view wanted);

}  // namespace daybook::memory
