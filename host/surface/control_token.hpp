// The control socket's token: 256 random bits in keys/control.token (0600), where no walled child
// can read.
//
// The peer's uid alone proves nothing: a desk's own children share it. Thread: [any].
#pragma once

#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/os/os.hpp"

namespace daybook {

inline constexpr std::string_view kTokenFile = "keys/control.token";

/// Reads the token beneath the state folder, and makes it first when it is missing.
/// Errors: refused (others may read the file: says how to put it right), corrupt (not 64
/// hexadecimal digits), io.
Result<std::string> load_or_make_token(Os& os, int state_dir);

/// Reads the token for a client. Errors: not_found (no host was ever started there), refused,
/// corrupt, io.
Result<std::string> load_token(Os& os, int state_dir);

/// Whether two tokens are equal, in a time that does not depend on where they differ.
[[nodiscard]] bool same_token(std::string_view known, std::string_view given) noexcept;

}  // namespace daybook
