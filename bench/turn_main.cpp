// The bench "turn": the host's own share of a turn, the start of a home with a past, idle desks
// (docs/performance.md). No figure here is a test; --smoke only says whether each part runs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "bench/turn_parts.hpp"

namespace daybook::bench {
namespace {

constexpr std::string_view kUsage =
    "usage: turn [--json] [--rounds N] [--only PART] [--smoke]\n"
    "\n"
    "  --json       one object a line\n"
    "  --rounds N   rounds of each part (default 21)\n"
    "  --only PART  turn, start or idle\n"
    "  --smoke      small sizes; fails only when a part does not run\n";

struct Part {
    std::string_view name;
    Result<> (*measure)(const Options&, Report&);
};

constexpr Part kParts[] = {
    {"turn", measure_turn}, {"start", measure_daemon}, {"idle", measure_idle_desks}};

int run(const std::vector<std::string>& arguments) {
    Options options;
    bool json = false;
    std::string only;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const bool more = i + 1 < arguments.size();
        if (arguments[i] == "--json") {
            json = true;
        } else if (arguments[i] == "--smoke") {
            options.smoke = true;
            options.rounds = 3;
        } else if (arguments[i] == "--rounds" && more) {
            options.rounds = std::max(1, std::atoi(arguments[++i].c_str()));
        } else if (arguments[i] == "--only" && more) {
            only = arguments[++i];
        } else {
            std::fwrite(kUsage.data(), 1, kUsage.size(), stderr);
            return 2;
        }
    }
    Report report(json);
    int code = 0;
    bool any = false;
    for (const Part& part : kParts) {
        if (!only.empty() && only != part.name) {
            continue;
        }
        any = true;
        if (auto done = part.measure(options, report); !done) {
            Report::progress("part " + std::string(part.name) +
                             " did not run: " + done.error().message());
            code = 1;
        }
    }
    return any ? code : 2;
}

}  // namespace
}  // namespace daybook::bench

int main(int argc, char** argv) {
    try {
        return daybook::bench::run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "turn: ended by a fault of the program: %s\n", fault.what());
        return 1;
    }
}
