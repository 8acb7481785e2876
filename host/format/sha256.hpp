// SHA-256 of bytes (mbed TLS, which libgit2 brings along).
#pragma once

#include <string>
#include <string_view>

namespace daybook {

/// 64 lower-case hexadecimal digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace daybook
