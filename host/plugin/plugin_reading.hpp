// A plugin's file, read and judged by its bytes alone: manifest, ABI, wants. Nothing of it is
// executed. Thread: [any] but [io].
#pragma once

#include <filesystem>
#include <string>

#include <daybook/result.hpp>

#include "host/os/os.hpp"
#include "host/plugin/registry.hpp"

namespace daybook {

/// Reads `entry.file`, fills manifest, groups and sha256, and returns the file's bytes. The errors'
/// sentences name the file, what was wanted, what was found and what to do. Errors: refused (not a
/// plain file, a want that is not served), invalid, unsupported (ABI, architecture), not_found (no
/// note), io.
Result<std::string> read_plugin(Os& os, PluginEntry& entry);

/// `plugin "clerk" 1.2.0 (/path/clerk.so): `, for sentences.
[[nodiscard]] std::string described(const Manifest& manifest, const std::filesystem::path& file);

}  // namespace daybook
