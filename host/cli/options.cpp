// The only file that compiles CLI11.
#include "host/cli/options.hpp"

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>

#include <CLI/CLI.hpp>

#include <daybook/version.h>

#include "host/cli/output.hpp"
#include "host/os/desk_path.hpp"

namespace daybook::cli {
namespace {

constexpr const char* kAbout =
    "Talks to a daybook host: desks that watch a market and keep a memory that can be trusted.\n"
    "\n"
    "Examples:\n"
    "  daybook demo                                    four real days, replayed; needs nothing\n"
    "  daybook init ~/desk --calendar nse              a home of your own\n"
    "  daybook host start --home ~/desk\n"
    "  daybook say main 'Remember: wait 20 minutes after a gap' --home ~/desk\n"
    "  daybook journal show main --json\n";

constexpr const char* kExits =
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by a rule, 4 not found, 5 host not "
    "reachable,\n"
    "6 conflict or busy, 130 interrupted.";

const std::map<std::string, std::string_view, std::less<>> kNouns = {
    {"desk", "the desks of the host"},
    {"session", "conversations, one a trading day"},
    {"memory", "Memory.md and the day's notes"},
    {"checkpoint", "snapshots before every write"},
    {"checkpoint trash", "what restores took away"},
    {"journal", "the append-only record"},
    {"tool", "what a desk can do"},
    {"plugin", "tools, models and skills"},
    {"model", "model backends"},
    {"calendar", "trading days; needs no host"},
    {"clock", "the host's clock"},
    {"config", "the configuration file"},
    {"host", "the daemon itself"},
};

/// What the conformance kit reads itself.
void add_check_options(CLI::App& leaf, Options& options) {
    const auto hand_on = [&](const char* name, const char* about, const char* value) {
        leaf.add_option_function<std::string>(
                name,
                [&options, name](const std::string& text) {
                    options.check_words.emplace_back(name);
                    options.check_words.push_back(text);
                },
                about)
            ->option_text(value);
    };
    hand_on("--only", "these checks, by their ids", "ID,…");
    hand_on("--strict", "1 loads and answers, 2 also tidy (default), 3 also under abuse", "1-3");
    hand_on("--seed", "of the arguments that are made: the same seed, the same series", "N");
    hand_on("--rounds", "arguments for each tool (default 100)", "N");
    hand_on("--config", "the plugin's configuration", "JSON");
    hand_on("--isolation", "as host.isolation: required, seccomp-only or off", "WORD");
    for (const auto& [name, about] :
         {std::pair{"--list", "say which checks there are"},
          std::pair{"--in-process", "one check without walls, in the kit's process: for gdb"}}) {
        leaf.add_flag_callback(
            name, [&options, word = name] { options.check_words.emplace_back(word); }, about);
    }
}

void add_options_of(std::string_view path, CLI::App& leaf, Options& options) {
    const auto is = [&](std::initializer_list<std::string_view> paths) {
        return std::find(paths.begin(), paths.end(), path) != paths.end();
    };
    if (is({"say", "trigger"})) {
        leaf.add_option("--key", options.key, "a key that is accepted once only")
            ->option_text("KEY");
        leaf.add_option("--file", options.file, "take the text from a file, - for standard input");
    }
    if (is({"say"})) {
        leaf.add_flag("--no-stream", options.no_stream, "print the answer when it is whole");
    }
    if (is({"trigger"})) {
        leaf.add_option("--text", options.text, "what happened");
        leaf.add_option("--name", options.name, "name of the job or alert");
        leaf.add_flag("--wait", options.wait, "wait for the end of its turn");
    }
    if (is({"session show", "checkpoint list", "journal show", "journal tail"})) {
        leaf.add_option("--limit", options.limit, "newest so many")->check(CLI::Range(1, 10000));
    }
    if (is({"calendar today", "calendar next", "calendar show"})) {
        leaf.add_option("--calendar", options.calendar, "a calendar by its name, such as nse");
    }
    if (is({"calendar show"})) {
        leaf.add_option("--day", options.day, "from this day on, such as 2026-10-19");
        leaf.add_option("--limit", options.limit, "so many named days")
            ->check(CLI::Range(1, 10000));
    }
    if (is({"checkpoint list"})) {
        leaf.add_option("--before", options.before, "older than this one, such as c-40");
    }
    if (is({"journal show", "memory notes"})) {
        leaf.add_option("--day", options.day, "a day, such as 2026-10-19");
    }
    if (is({"journal show", "journal tail"})) {
        leaf.add_option("--types", options.types, "only these types")
            ->delimiter(',')
            ->option_text("T,…");
    }
    if (is({"checkpoint restore"})) {
        leaf.add_option("--file", options.file, "only this file")->option_text("FILE");
        leaf.add_flag("--yes,-y", options.yes, "do not ask");
    }
    if (is({"plugin check"})) {
        add_check_options(leaf, options);
    }
    if (is({"plugin trust"})) {
        leaf.add_flag("--yes,-y", options.yes, "do not ask");
    }
    if (is({"checkpoint restore", "checkpoint undo"})) {
        leaf.add_flag("--dry-run", options.dry_run, "show what would change, change nothing");
    }
    if (is({"checkpoint diff"})) {
        leaf.add_flag("--now", options.now, "against the files as they are now");
    }
    if (is({"checkpoint take", "desk pause", "desk resume"})) {
        leaf.add_option("--reason", options.reason, "why, in one line");
    }
    if (is({"journal tail"})) {
        leaf.add_flag("-f,--follow", options.follow, "go on with what is written from now on");
    }
    if (is({"tool list"})) {
        leaf.add_flag("--schemas", options.schemas, "with the arguments' schemas");
    }
    if (is({"init"})) {
        leaf.add_option("--zone", options.zone, "time zone, such as Asia/Kolkata");
        leaf.add_option("--calendar", options.calendar, "nse, nyse, always, or a file of yours");
        leaf.add_option("--model", options.model, "model the desk lists (default clerk)");
        leaf.add_option("--prices", options.prices, "folder of price files that the desk may read");
    }
    if (is({"forget"})) {
        leaf.add_option("--text", options.text, "the text; others may see a command line");
        leaf.add_option("--file", options.file, "take it from a file, - for standard input");
        leaf.add_flag("--dry-run", options.dry_run, "only say what would change");
    }
    if (is({"backup"})) {
        leaf.add_flag("--keys", options.keys, "with the API keys; the backup is a secret then");
    }
    if (is({"demo"})) {
        leaf.add_flag("--keep", options.keep, "keep a temporary home (it is kept in any case)");
    }
}

void add_globals(CLI::App& app, Options& options) {
    app.add_option("--home", options.places.home, "everything below one folder")
        ->option_text("DIR");
    app.add_option("--config", options.places.config, "configuration file")->option_text("FILE");
    app.add_option("--socket", options.places.socket, "control socket")->option_text("PATH");
    app.add_option("--desk", options.desk, "the desk, where a command takes one")
        ->option_text("DESK");
    app.add_flag("--json", options.json, "one JSON object, or one a line");
    app.add_flag("--quiet,-q", options.quiet, "only what was asked for");
    app.add_flag("--no-color", options.no_color, "no colours");
}

std::string usage_error(const CLI::ParseError& error) {
    std::string text = error.what();
    for (char& c : text) {
        c = c == '\n' ? ' ' : c;
    }
    return text;
}

/// The sentence for a command or its words that are missing, or a command that nobody knows.
std::string missing_words(const CLI::App& root) {
    const CLI::App* app = &root;
    std::string line = "daybook";
    while (!app->get_subcommands().empty()) {
        app = app->get_subcommands().front();
        line += " " + app->get_name();
    }
    if (app->get_require_subcommand_min() == 0) {
        const CLI::Option* words = app->get_option_no_throw("words");
        return line + ": words are missing" +
               (words == nullptr ? "" : ", wanted: " + words->get_description());
    }
    const std::vector<std::string> left = root.remaining(true);
    if (left.empty() || left.front().empty()) {
        return "a command is missing behind \"" + line + "\"";
    }
    if (left.front().front() == '-') {
        return "there is no option " + printable(left.front());
    }
    return "there is no command \"" + line + " " + printable(left.front()) + "\"";
}

/// `behind` is how many words stand behind "--" and are not for the reader.
void add_commands(CLI::App& app, Options& options, std::size_t behind) {
    std::map<std::string, CLI::App*, std::less<>> nouns;
    for (const Command& command : commands()) {
        const std::string path(command.path);
        CLI::App* parent = &app;
        std::size_t begin = 0;
        for (auto space = path.find(' '); space != std::string::npos;
             begin = space + 1, space = path.find(' ', begin)) {
            CLI::App*& noun = nouns[path.substr(0, space)];
            if (noun == nullptr) {
                const auto about = kNouns.find(path.substr(0, space));
                noun = parent->add_subcommand(
                    path.substr(begin, space - begin),
                    about == kNouns.end() ? std::string() : std::string(about->second));
                noun->require_subcommand(1)->fallthrough();
            }
            parent = noun;
        }
        CLI::App* leaf = parent->add_subcommand(path.substr(begin), std::string(command.help));
        leaf->fallthrough();
        if (command.most > 0) {
            const std::size_t least = command.least - std::min(command.least, behind);
            const std::size_t most = command.most - std::min(command.most, behind);
            leaf->add_option("words", options.words, std::string(command.words))
                ->option_text(" ")
                ->expected(static_cast<int>(least), static_cast<int>(most))
                ->required(least > 0);
        }
        add_options_of(command.path, *leaf, options);
        leaf->callback([&options, path] { options.command = path; });
    }
}

}  // namespace

Parsed parse_command_line(int argc, const char* const* argv) {
    Options options;
    // Words behind "--" are text whatever they look like; the reader would look for options in
    // them.
    int end = 1;
    while (end < argc && std::string_view(argv[end]) != "--") {
        ++end;
    }
    std::vector<std::string> behind;
    for (int i = end + 1; i < argc; ++i) {
        behind.emplace_back(argv[i]);
    }
    CLI::App app(kAbout, "daybook");
    app.require_subcommand(1);
    app.footer(kExits);
    app.set_version_flag("--version", "daybook " DAYBOOK_VERSION_STRING, "version of this program");
    app.get_formatter()->column_width(34);
    add_globals(app, options);
    add_commands(app, options, behind.size());
    try {
        app.parse(end, argv);
    } catch (const CLI::CallForHelp&) {
        std::cout << app.help();
        return 0;
    } catch (const CLI::CallForAllHelp&) {
        std::cout << app.help("", CLI::AppFormatMode::All);
        return 0;
    } catch (const CLI::CallForVersion& version) {
        std::cout << version.what() << "\n";
        return 0;
    } catch (const CLI::RequiredError&) {
        Output output(options);
        return output.fail(Error(Errc::invalid, missing_words(app)), "see: daybook --help");
    } catch (const CLI::ParseError& error) {
        Output output(options);
        return output.fail(Error(Errc::invalid, usage_error(error)),
                           "see: daybook --help; words that begin with a dash go behind --");
    }
    options.words.insert(options.words.end(), behind.begin(), behind.end());
    return options;
}

}  // namespace daybook::cli
