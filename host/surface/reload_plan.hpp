// What a new configuration changes, by its tables. No I/O.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/format/config.hpp"

namespace daybook {

struct ReloadPlan {
    std::vector<std::string> added, removed, changed;  ///< desks
    std::vector<std::string> at_next_start;            ///< settings that only a start takes over
    [[nodiscard]] bool is_empty() const {
        return added.empty() && removed.empty() && changed.empty();
    }
};

/// A desk is changed when its own table is, one of a model or plugin that it uses, or a limit of
/// the host's. `tables` are those of config_tables().
[[nodiscard]] ReloadPlan plan_reload(const std::map<std::string, std::string>& before,
                                     const Config& old,
                                     const std::map<std::string, std::string>& after,
                                     const Config& fresh);

}  // namespace daybook
