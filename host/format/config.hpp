// The configuration file (TOML). Parsing and checking, no I/O beyond reading the text given.
//
// An unknown key is an error that names the nearest known one; every error has file, line and
// column.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/config_http.hpp"
#include "host/format/config_programs.hpp"
#include "host/format/json.hpp"
#include "host/os/clock.hpp"

namespace daybook {

enum class Isolation { required, seccomp_only, off };
[[nodiscard]] std::string_view name_of(Isolation isolation) noexcept;

struct HostConfig {
    Isolation isolation = Isolation::required;
    std::string log_level = "info";             ///< debug, info, warn, error
    std::string checkpoints = "journalled";     ///< journalled, plain: docs/formats.md
    std::uint64_t min_free_bytes = 64UL << 20;  ///< below it turns are refused before they start
    std::chrono::seconds stop_grace{60};
    std::chrono::milliseconds call_timeout{30000};    ///< default deadline of a tool call
    std::chrono::milliseconds model_timeout{300000};  ///< default deadline of a model's turn
    std::chrono::milliseconds cancel_grace{2000};
    std::chrono::seconds desk_idle{300};   ///< a desk that had nothing to do for it is closed
    std::chrono::seconds runner_idle{60};  ///< an idle runner is stopped after it
    std::uint64_t scratch_max_bytes = 2UL << 30;  ///< of one plugin's scratch folder for one desk
    std::size_t queue_limit = 256;                ///< triggers waiting for one desk
    std::optional<std::string> replay_start;  ///< RFC 3339: the clock is replayed and starts there
};

struct PluginConfig {
    std::string name;  ///< key of [plugin.NAME]
    std::string file;  ///< "" = NAME.so on the plugin path; else a file name or absolute path
    bool enabled = true;
    std::vector<OriginConfig> origins;              ///< where its tools may reach by http/1
    std::map<std::string, ProgramConfig> programs;  ///< what it may start by process/1
    Json config = Json::object();                   ///< [plugin.NAME.config]
};

struct ModelConfig {
    std::string name;  ///< key of [model.NAME]
    std::string plugin;
    std::string model;  ///< the backend's own name of the model, may be ""
    std::string url;
    std::string credential;         ///< by name only
    std::string credential_header;  ///< "" = as the backend asks
    bool private_network = false;   ///< plain http, and names that stand for private addresses
    std::int64_t window = 0;        ///< tokens, 0 = ask the backend
    Json config = Json::object();
};

struct DeskConfig {
    std::string name;
    std::string zone;  ///< "" = the calendar's
    std::string calendar = "always";
    std::optional<TimeOfDay> rollover;         ///< default: the calendar's, else 00:00
    std::vector<std::string> models;           ///< in order of preference
    std::vector<std::string> plugins;          ///< tools and skills of the desk
    std::vector<std::filesystem::path> reads;  ///< folders the desk's plugins may read
    std::string instructions;
    std::map<std::string, Json>
        plugin_config;  ///< [desk.NAME.config.PLUGIN], laid over the plugin's own
};

struct Config {
    HostConfig host;
    std::map<std::string, PluginConfig> plugins;
    std::map<std::string, ModelConfig> models;
    std::map<std::string, DeskConfig> desks;
    std::vector<std::string> warnings;

    /// `source_name` is for messages. Errors: invalid, all problems of the file in one message, a
    /// line each.
    static Result<Config> parse(std::string_view text, std::string_view source_name);
};

/// The text that `daybook init` writes: commented, with one desk and a ready [model.qwen] block
/// that is commented out.
[[nodiscard]] std::string starter_config(const DeskConfig& desk,
                                         const std::optional<std::string>& replay_start);

}  // namespace daybook
