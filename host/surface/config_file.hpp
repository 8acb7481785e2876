// Reads the configuration file.
#pragma once

#include <filesystem>
#include <string>

#include <daybook/result.hpp>

#include "host/format/config.hpp"

namespace daybook {

/// Errors: not_found (says how to make one), invalid (every problem, a line each), full (over 1
/// MiB), io.
Result<std::string> read_config_text(const std::filesystem::path& file,
                                     const std::string& home_flags);
Result<Config> load_config(const std::filesystem::path& file, const std::string& home_flags);

}  // namespace daybook
