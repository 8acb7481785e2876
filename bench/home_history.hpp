// A home as it looks after some time of use: desks with sessions, summaries and journals of every
// day up to today.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/clock.hpp"

namespace daybook::bench {

struct PastSize {
    int desks = 1;
    int days = 0;  ///< with a session, a summary and a journal file each; the last is today
    int exchanges_a_day = 0;
};

[[nodiscard]] std::vector<std::string> desk_names(int desks);

/// Writes the configuration and the past of a home that is new. In UTC, with the memory plugin and
/// the clerk. Errors: those of the stores.
Result<> make_home(const std::filesystem::path& home, const PastSize& size);

}  // namespace daybook::bench
