// Reads a file line by line, whatever its size, with the lines numbered.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <daybook/result.hpp>

#include "host/os/os.hpp"

namespace daybook {

struct ReadLine {
    std::uint64_t number = 0;    ///< from 1
    std::string_view text;       ///< without its newline; valid during the call
    bool is_unfinished = false;  ///< the file ends in it without a newline
};

/// A line over `max_bytes` is handed over cut to one byte more, so that it is seen to be bad.
/// Errors: io.
Result<> read_lines(Os& os,
                    int fd,
                    std::size_t max_bytes,
                    const std::function<void(const ReadLine&)>& take);

}  // namespace daybook
