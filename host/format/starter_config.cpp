// The configuration that a new home begins with.
#include "host/format/config.hpp"
#include "host/os/utf8.hpp"

namespace daybook {
namespace {

/// A TOML basic string.
std::string toml_text(std::string_view text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_sequence_at(text, i);
        const auto byte = static_cast<unsigned char>(text[i]);
        if (length == 0) {
            out += "\xEF\xBF\xBD";
        } else if (length == 1 && (byte == '"' || byte == '\\')) {
            out += '\\';
            out += text[i];
        } else if (length == 1 && (byte < 0x20 || byte == 0x7F)) {
            out += "\\u00";
            out += kHex[byte >> 4U];
            out += kHex[byte & 0x0FU];
        } else {
            out += text.substr(i, length);
        }
        i += length == 0 ? 1 : length;
    }
    return out + "\"";
}

template <class List>
std::string toml_list(const List& texts) {
    std::string out = "[";
    for (const auto& text : texts) {
        out += (out.size() > 1 ? ", " : "") + toml_text(std::string(text));
    }
    return out + "]";
}

constexpr std::string_view kHead =
    R"(# Daybook's configuration. `daybook config check` reads it and says what is wrong, with line and column;
# `systemctl reload daybook` (or SIGHUP) reads it again: a new log level holds at once, all else with the next start.
# Secrets never stand here: only their names.

[host]
# The walls around every plugin. "required": refuse to run a plugin without Landlock and seccomp.
# "seccomp-only" accepts a kernel without Landlock, "off" runs plugins without walls; both are shown by `daybook doctor`.
isolation = "required"
log_level = "info"          # debug, info, warn, error
# min_free = "64MiB"        # with less free space turns are refused before they start; reading goes on
# call_timeout = "30s"      # a tool call's default deadline
# model_timeout = "5m"      # a model turn's default deadline
# stop_grace = "60s"        # how long a running turn may go on after `stop`
# runner_idle = "60s"       # a plugin's process ends after being idle for so long
# scratch_max = "2GiB"      # a plugin's index for one desk may grow to this
# queue_limit = 256         # triggers that may wait for one desk
)";

constexpr std::string_view kModels = R"(
# --- Models ---------------------------------------------------------------------------------------------------------
# A desk lists models in order of preference; the first one that is ready answers.

# The clerk needs no network and no key. It keeps notes, answers from prices and notes by rules, and says what it cannot do.
[model.clerk]
plugin = "clerk"

# A language model of your own, served by llama.cpp, vLLM, Ollama or LM Studio. This version does not ship the
# openai_compatible backend yet: once it does, take the # away here and put "qwen" first in the desk's `models`.
# [model.qwen]
# plugin = "openai_compatible"
# url = "http://127.0.0.1:8080/v1"
# model = "qwen3-14b"
# # credential = "qwen-key"   # a name in the folder of keys, only if the server asks for one
# # window = 32768            # tokens; 0 or nothing = ask the server

# --- Plugins --------------------------------------------------------------------------------------------------------
# A plugin needs a table here only for settings of its own, or to be switched off:
# [plugin.candles]
# enabled = true
# [plugin.candles.config]
# ...

# --- Desks ----------------------------------------------------------------------------------------------------------
)";

}  // namespace

std::string starter_config(const DeskConfig& desk, const std::optional<std::string>& replay_start) {
    std::string out(kHead);
    if (replay_start) {
        out += "replay_start = " + toml_text(*replay_start) +
               "   # the clock is replayed: it starts here and moves with the triggers\n";
    }
    out += kModels;
    out += "[desk." + desk.name + "]\n";
    out +=
        "calendar = " + toml_text(desk.calendar) + "   # nse, nyse, always, or a file of yours\n";
    if (desk.zone.empty()) {
        out += "# zone = \"Asia/Kolkata\"   # the calendar's zone unless you name another\n";
    } else {
        out += "zone = " + toml_text(desk.zone) + "\n";
    }
    if (desk.rollover) {
        out += "rollover = " + toml_text(desk.rollover->str()) +
               "   # when the day is closed and summarised\n";
    } else {
        out +=
            "# rollover = \"15:45\"   # when the day is closed and summarised; the calendar's own "
            "time unless set\n";
    }
    out += "models = " + toml_list(desk.models) + "\n";
    out += "plugins = " + toml_list(desk.plugins) + "   # tools and skills of the desk\n";
    std::vector<std::string> folders;
    for (const std::filesystem::path& folder : desk.reads) {
        folders.push_back(folder.string());
    }
    out += "reads = " + toml_list(folders) +
           "   # folders that the desk's plugins may read, such as your price files\n";
    if (desk.instructions.empty()) {
        out += "# instructions = \"Watch NIFTY 50. Be brief.\"\n";
    } else {
        out += "instructions = " + toml_text(desk.instructions) + "\n";
    }
    return out;
}

}  // namespace daybook
