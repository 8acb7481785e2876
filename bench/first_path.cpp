// A smoke run of the whole first path: a guarded write, a plugin call, a runner's start, the
// daemon's start, each beside what it is compared with, in the same rounds (docs/performance.md).
#include <charconv>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "bench/parts.hpp"

namespace daybook::bench {
namespace {

constexpr std::string_view kUsage =
    "usage: first_path [--json] [--rounds N] [--only PART]... [--smoke] [--with-git]\n"
    "\n"
    "  --json       one object a line: name, median, min, p95, mean, count, unit, ratio_to_floor\n"
    "  --rounds N   rounds of each part, 1 to 500 (default 21)\n"
    "  --only PART  write, call, runner or daemon; may be given several times\n"
    "  --smoke      3 rounds of everything in small sizes; fails only when a part does not run\n"
    "  --with-git   fail when the git program is not there to compare with\n"
    "\n"
    "Files are made below TMPDIR (default /tmp); figures of the disk mean something only when "
    "that\n"
    "is a disk.\n";

struct Part {
    std::string_view name;
    Result<> (*measure)(const Options&, Report&);
};

constexpr Part kParts[] = {
    {"write", measure_writes},
    {"call", measure_calls},
    {"runner", measure_runners},
    {"daemon", measure_daemon},
};

struct CommandLine {
    Options options;
    bool json = false;
    bool help = false;
    std::vector<const Part*> parts;
};

const Part* find_part(std::string_view name) {
    for (const Part& part : kParts) {
        if (part.name == name) {
            return &part;
        }
    }
    return nullptr;
}

Result<int> rounds_of(const std::string& text) {
    constexpr int kMostRounds = 500;
    int rounds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rounds);
    if (error != std::errc() || end != text.data() + text.size() || rounds < 1 ||
        rounds > kMostRounds) {
        return Error(Errc::invalid, "--rounds wants a number from 1 to 500");
    }
    return rounds;
}

Result<CommandLine> read_command_line(const std::vector<std::string>& arguments) {
    constexpr int kSmokeRounds = 3;
    CommandLine line;
    bool has_rounds = false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        const std::string value = i + 1 < arguments.size() ? arguments[i + 1] : "";
        if (argument == "--json") {
            line.json = true;
        } else if (argument == "--smoke") {
            line.options.smoke = true;
        } else if (argument == "--with-git") {
            line.options.with_git = true;
        } else if (argument == "--help" || argument == "-h") {
            line.help = true;
        } else if (argument == "--rounds") {
            auto rounds = rounds_of(value);
            if (!rounds) {
                return rounds.error();
            }
            line.options.rounds = *rounds;
            has_rounds = true;
            ++i;
        } else if (argument == "--only" && find_part(value) != nullptr) {
            line.parts.push_back(find_part(value));
            ++i;
        } else if (argument == "--only") {
            return Error(Errc::invalid, "--only wants write, call, runner or daemon");
        } else {
            return Error(Errc::invalid, "unknown argument " + argument + "; see --help");
        }
    }
    if (line.options.smoke && !has_rounds) {
        line.options.rounds = kSmokeRounds;
    }
    if (line.parts.empty()) {
        for (const Part& part : kParts) {
            line.parts.push_back(&part);
        }
    }
    return line;
}

int run(const std::vector<std::string>& arguments) {
    const auto line = read_command_line(arguments);
    if (!line) {
        std::fprintf(stderr, "first_path: %s\n", line.error().message().c_str());
        return exit_code_of(line.error().code());
    }
    if (line->help) {
        std::fwrite(kUsage.data(), 1, kUsage.size(), stdout);
        return 0;
    }
    Report report(line->json);
    int code = 0;
    for (const Part* part : line->parts) {
        if (auto done = part->measure(line->options, report); !done) {
            Report::progress("part " + std::string(part->name) +
                             " did not run: " + done.error().message());
            code = 1;
        }
    }
    return code;
}

}  // namespace

}  // namespace daybook::bench

int main(int argc, char** argv) {
    try {
        return daybook::bench::run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "first_path: ended by a fault of the program: %s\n", fault.what());
        return 1;
    }
}
