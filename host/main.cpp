// daybookd: reads the command line, runs the daemon, says in one sentence what kept it from
// serving.
#include <array>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/version.h>

#include "host/surface/api_vault.hpp"
#include "host/surface/config_file.hpp"
#include "host/surface/daemon.hpp"
#include "host/surface/reply.hpp"

namespace {

using daybook::Errc;
using daybook::Error;
using daybook::Result;

constexpr std::string_view kUsage =
    "usage: daybookd [--home DIR | --config FILE] [--socket PATH] [--foreground] [--check-config]\n"
    "       daybookd --version\n"
    "       daybookd [--home DIR | --config FILE] --once REQUEST\n"
    "\n"
    "  --home DIR       everything below one folder: DIR/daybook.toml, DIR/state, DIR/run\n"
    "  --config FILE    configuration; the state is where a service or a user has it\n"
    "  --socket PATH    control socket\n"
    "  --foreground     log to stderr\n"
    "  --check-config   read the configuration, say what is wrong, and end\n"
    "  --once REQUEST   one request on the files, without serving; arguments are JSON on stdin\n"
    "\n"
    "Signals: TERM or INT ends it after running turns (twice: at once), HUP reads the "
    "configuration again.\n";

struct CommandLine {
    daybook::DaemonOptions daemon;
    bool check_config = false;
    bool version = false;
    bool help = false;
    std::string once;
};

Result<CommandLine> read_command_line(const std::vector<std::string>& arguments) {
    CommandLine line;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string name = arguments[i].substr(0, arguments[i].find('='));
        std::optional<std::filesystem::path>* path =
            name == "--home"     ? &line.daemon.places.home
            : name == "--config" ? &line.daemon.places.config
            : name == "--socket" ? &line.daemon.places.socket
                                 : nullptr;
        if (path != nullptr) {
            if (name.size() != arguments[i].size()) {
                *path = arguments[i].substr(name.size() + 1);
            } else if (i + 1 < arguments.size()) {
                *path = arguments[++i];
            }
            if (!path->has_value() || path->value().empty()) {
                return Error(Errc::invalid, name + " wants a path");
            }
        } else if (arguments[i] == "--once" && i + 1 < arguments.size()) {
            line.once = arguments[++i];
        } else if (arguments[i] == "--foreground") {
            line.daemon.foreground = true;
        } else if (arguments[i] == "--check-config") {
            line.check_config = true;
        } else if (arguments[i] == "--version") {
            line.version = true;
        } else if (arguments[i] == "--help" || arguments[i] == "-h") {
            line.help = true;
        } else {
            return Error(Errc::invalid,
                         "unknown argument " + arguments[i] + "; see daybookd --help");
        }
    }
    return line;
}

Result<> check_config(const daybook::DaemonOptions& options) {
    auto places = daybook::find_places(options.places, daybook::Surroundings::of_process());
    if (!places) {
        return places.error();
    }
    auto config = daybook::load_config(places->config, places->flags());
    if (!config) {
        return config.error();
    }
    for (const std::string& warning : config->warnings) {
        std::fprintf(stderr, "daybookd: warning: %s\n", warning.c_str());
    }
    std::printf("%s: fine, %zu desks\n", places->config.c_str(), config->desks.size());
    return {};
}

/// Prints the outcome as one line, as the control socket would.
int answer_once(const CommandLine& line) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), stdin)) > 0;) {
        text.append(buffer.data(), got);
    }
    auto args = daybook::Json::parse(text);
    auto outcome = args ? daybook::run_once(line.daemon.places, line.once, *args)
                        : Result<daybook::Json>(args.error());
    const daybook::Json answer =
        outcome ? daybook::Json::object().set("ok", true).set("result", *outcome)
                : daybook::Json::object()
                      .set("ok", false)
                      .set("error", daybook::error_json(outcome.error()));
    std::puts(answer.dump().c_str());
    return outcome ? 0 : daybook::exit_code_of(outcome.error().code());
}

int run(const std::vector<std::string>& arguments) {
    auto line = read_command_line(arguments);
    Result<> outcome = line ? Result<>() : Result<>(line.error());
    if (line && line->help) {
        std::fwrite(kUsage.data(), 1, kUsage.size(), stdout);
    } else if (line && line->version) {
        std::puts("daybookd " DAYBOOK_VERSION_STRING);
    } else if (line && !line->once.empty()) {
        return answer_once(*line);
    } else if (line) {
        outcome =
            line->check_config ? check_config(line->daemon) : daybook::run_daemon(line->daemon);
    }
    if (!outcome) {
        std::fprintf(stderr, "daybookd: %s\n", outcome.error().message().c_str());
        return daybook::exit_code_of(outcome.error().code());
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "daybookd: ended by a fault of the program: %s\n", fault.what());
        return 1;
    }
}
