// Finding a plugin's file, reading it once, and keeping the copy that runners load. Nothing is
// executed. Thread: [any] but [io].
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/config.hpp"
#include "host/os/os.hpp"
#include "host/plugin/plugin_states.hpp"

namespace daybook {

inline constexpr std::size_t kMaxPluginBytes = 256UL * 1024 * 1024;

struct PluginFile {
    std::filesystem::path file;  ///< canonical
    std::vector<std::filesystem::path>
        shadowed;  ///< files of the same name further down the path; not used
};

/// First match wins; a file reached twice (a symlink to itself) counts once. There is no implicit
/// current folder. Errors: not_found (names the folders looked at and what to do), invalid (a
/// relative path with folders).
Result<PluginFile> find_plugin_file(const std::vector<std::filesystem::path>& search_path,
                                    const PluginConfig& config);

/// The file's bytes. Errors: refused (not a regular file; everybody may write it or replace it in
/// its folder), full, io.
Result<std::string> read_plugin_file(Os& os, const std::filesystem::path& file);

/// Keeps the bytes as modules/<sha256>.so (0444) below the state folder, durably; nothing is
/// written when it is there. Returns the path below the state folder. Errors: io, full.
Result<std::string> keep_module(Os& os,
                                int state_dir,
                                std::string_view bytes,
                                const std::string& sha256);

/// modules/<sha256>.so, below the state folder.
[[nodiscard]] std::string module_path(const std::string& sha256);

/// SHA-256 of the plugin's file on the plugin path; "" = there is none, or it cannot be read.
[[nodiscard]] std::string hash_on_path(Os& os,
                                       const std::vector<std::filesystem::path>& search_path,
                                       const PluginConfig& config);

/// Whether what the state pins is to be loaded instead of the file on the plugin path: its copy is
/// whole, and the path holds no file that came after it.
[[nodiscard]] bool pin_stands(Os& os,
                              int state_dir,
                              const std::vector<std::filesystem::path>& search_path,
                              const PluginConfig& config,
                              const PluginState& state);

}  // namespace daybook
