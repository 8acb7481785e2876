// Where calendars lie, and reading one with what its owner lays over it. The one part of this
// folder that reads files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/calendar.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// Folders in the order in which they are laid over each other: the shipped ones
/// (share/calendars), the state folder's calendars/, calendars/ beside the configuration file ("" =
/// none).
[[nodiscard]] std::vector<std::filesystem::path> calendar_folders(
    const std::filesystem::path& share,
    const std::filesystem::path& state,
    const std::filesystem::path& config_folder);

/// Reads <id>.json of each folder that has one; the first found is the base, each further one is
/// laid over it, date by date. Thread: [any]. Errors: not_found (names every place), invalid (names
/// file and entry), io.
Result<Calendar> load_calendar(Os& os,
                               const std::vector<std::filesystem::path>& folders,
                               const std::string& id);

}  // namespace daybook
