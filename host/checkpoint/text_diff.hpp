// A unified diff of two contents. libgit2's differ on bytes in memory: no repository, no
// attributes, no drivers. Thread: [any].
#pragma once

#include <string>
#include <string_view>

#include <daybook/result.hpp>

namespace daybook {

/// "binary" when either side holds a NUL byte. "" when both are equal. Errors: internal.
Result<std::string> unified_diff(std::string_view path,
                                 std::string_view before,
                                 std::string_view after);

}  // namespace daybook
