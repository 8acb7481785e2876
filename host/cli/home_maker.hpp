// Makes a home: configuration, state folder and token. Never overwrites.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/config.hpp"
#include "host/surface/places.hpp"

namespace daybook::cli {

/// Writes the configuration (with the candles' price folders) and makes the state folder. Returns
/// the files and folders that were made. Errors: conflict (there is a configuration already), busy
/// (a host runs there), io, full.
Result<std::vector<std::filesystem::path>> make_home_at(
    const Places& places, const DeskConfig& desk, const std::optional<std::string>& replay_start);

}  // namespace daybook::cli
