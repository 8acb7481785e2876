// Text as a careful reader sees it: digits of other scripts and full-width letters as ASCII, odd
// spaces and dashes as plain ones, invisible characters gone. Each byte remembers where it came
// from. Thread: [any].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {

struct FoldedText {
    std::string text;                   ///< what has no ASCII form stands as one \x80 a character
    std::vector<std::uint32_t> begins;  ///< where each byte's character begins in the original
    std::vector<std::uint32_t> ends;    ///< and where it ends

    static FoldedText of(std::string_view original);
    /// Without spaces, tabs and dashes (line breaks stay): for keys that were taken apart.
    [[nodiscard]] FoldedText joined() const;
};

}  // namespace daybook
