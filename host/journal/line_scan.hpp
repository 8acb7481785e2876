// Reading a file of lines piece by piece, without trusting it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <daybook/result.hpp>

#include "host/os/os.hpp"

namespace daybook {

/// Calls `visit` with the offset and the bytes of each complete line from `from` on (a line's
/// start), without its newline, up to byte `to`. A line longer than kMaxJournalLine is handed over
/// cut, one byte longer than that limit, so that it is seen to be bad. `visit` returns false to
/// stop. Returns the offset behind the last line visited. Errors: io.
Result<std::uint64_t> scan_lines(
    Os& os,
    int fd,
    std::uint64_t from,
    std::uint64_t to,
    const std::function<bool(std::uint64_t offset, std::string_view line)>& visit);

}  // namespace daybook
