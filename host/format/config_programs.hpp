// Programs in the configuration: what a plugin may start in a walled child, by process/1.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "host/format/config_http.hpp"

namespace daybook {

/// One program: [plugin.NAME.programs.PROGRAM].
struct ProgramConfig {
    std::string name;
    std::filesystem::path path;  ///< absolute; a script's interpreter, never the script
    std::vector<std::string> arguments;
    std::map<std::string, std::string> environment;
    std::vector<std::filesystem::path> reads;  ///< files and folders, absolute
    std::vector<std::filesystem::path> runs;   ///< further programs that it may start, absolute
    std::vector<std::uint16_t> network;  ///< TCP ports that it may connect to; none = no socket
    bool unconfined_network = false;     ///< anywhere, where the kernel cannot hold it to ports
    std::chrono::seconds idle{600};      ///< without a call for so long it is ended

    bool operator==(const ProgramConfig&) const = default;
};

/// Whether a program may be given that variable: a plain name, and none that the host sets or that
/// tells the loader of programs what to do.
[[nodiscard]] bool is_program_variable(std::string_view name);

[[nodiscard]] std::map<std::string, ProgramConfig> read_programs(const TomlNode& table,
                                                                 const ConfigProblem& problem);

}  // namespace daybook
