// Bytes in zlib's form, as git stores every object. Thread: [any].
#pragma once

#include <string>
#include <string_view>

namespace daybook {

inline constexpr int kDeflateFast = 1;   ///< for what is soon written again
inline constexpr int kDeflateSmall = 9;  ///< for what stays

/// `level` is zlib's, 1 to 9.
[[nodiscard]] std::string deflated(std::string_view bytes, int level);

}  // namespace daybook
