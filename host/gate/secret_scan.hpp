// Finds what looks like a key, a token or a personal number in a text. Rules: `reference`
// "Security", rule 10, in docs/memory.md. Thread: [any].
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "host/gate/folded_text.hpp"

namespace daybook {

struct SecretFound {
    std::string_view rule;  ///< "aadhaar number"; static text
    std::size_t begin = 0;  ///< in the original text
    std::size_t end = 0;
    std::string value;  ///< folded, without spaces and dashes: to compare two texts, never to show
};

/// In the order of where they begin; overlapping ones are left out.
[[nodiscard]] std::vector<SecretFound> scan_secrets(std::string_view text);

/// The two halves of scan_secrets: keys by their look, and numbers by their check digits.
void scan_keys(const FoldedText& folded, std::vector<SecretFound>& into);
void scan_numbers(const FoldedText& folded, std::vector<SecretFound>& into);

}  // namespace daybook
