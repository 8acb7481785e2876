// The command line of `daybook`, read into one structure. CLI11 stays in options.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/surface/places.hpp"

namespace daybook::cli {

struct Options {
    PlaceOptions places;
    bool json = false;
    bool quiet = false;
    bool no_color = false;
    std::string desk;                ///< --desk
    std::string command;             ///< "checkpoint show"
    std::vector<std::string> words;  ///< what follows it

    // Of some commands.
    std::string key, name, text, file, day, session, reason;
    std::string zone, calendar, model, prices;
    std::vector<std::string> types;
    std::int64_t limit = 0;  ///< 0 = the command's own
    std::string before;
    bool wait = false, no_stream = false, now = false, follow = false, schemas = false,
         keep = false, keys = false, dry_run = false, yes = false;
    /// Of `plugin check`: handed on to the kit as they are.
    std::vector<std::string> check_words;
};

/// What the reader of the command line decided: options to run, or an exit code (help was shown, or
/// it was wrong and said so).
using Parsed = std::variant<Options, int>;

class Output;

struct Command {
    std::string_view path;    ///< "checkpoint show"
    std::string_view words;   ///< "[DESK] CHECKPOINT"
    std::size_t least, most;  ///< words that may follow
    std::string_view help;
    int (*run)(const Options&, Output&);
};

/// Every command, in the order of the help.
[[nodiscard]] std::span<const Command> commands();

[[nodiscard]] Parsed parse_command_line(int argc, const char* const* argv);

}  // namespace daybook::cli
