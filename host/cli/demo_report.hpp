// What the demonstration has to show at its end: a row a day, counted from the records themselves.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/cli/client.hpp"

namespace daybook::cli {

struct DemoDay {
    std::int64_t turns = 0;  ///< ended as completed, the owner's, jobs and alerts
    std::int64_t notes = 0;  ///< written
    std::int64_t checkpoints = 0;
    std::int64_t rollovers = 0;  ///< sessions of the day that were closed
    std::int64_t refused = 0;    ///< writes that the gate refused
};

/// By day. Errors: the host's.
Result<std::map<std::string, DemoDay>> count_days(Client& client,
                                                  const std::string& desk,
                                                  const std::vector<std::string>& days);

/// Keys of the triggers whose turns are over, from the journals of these days. The host itself
/// tells a key only in its newest three files. Errors: the host's.
Result<std::set<std::string>> keys_done(Client& client,
                                        const std::string& desk,
                                        const std::vector<std::string>& days);

[[nodiscard]] Json day_json(const std::string& day, const DemoDay& counts);
[[nodiscard]] std::string days_table(const std::map<std::string, DemoDay>& days);

}  // namespace daybook::cli
