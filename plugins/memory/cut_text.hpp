// Shortens a text between two characters.
#pragma once

#include <cstddef>
#include <string_view>

namespace daybook::memory {

/// The longest start of the text of at most so many bytes that ends between two characters.
[[nodiscard]] std::string_view cut_to_bytes(std::string_view text, std::size_t max_bytes) noexcept;

}  // namespace daybook::memory
