// SHA-256 (FIPS 180-4), so that a tool can name the content it has shown.
#pragma once

#include <string>
#include <string_view>

namespace daybook::memory {

/// 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace daybook::memory
