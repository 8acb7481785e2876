// daybook: the command line. Reads the words, runs one command, ends with its exit code.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>

#include "host/cli/interrupt.hpp"
#include "host/cli/options.hpp"
#include "host/cli/output.hpp"

namespace {

using namespace daybook::cli;

int run(int argc, char** argv) {
    const Parsed parsed = parse_command_line(argc, argv);
    if (const int* code = std::get_if<int>(&parsed)) {
        return *code;
    }
    const auto& options = std::get<Options>(parsed);
    const auto all = commands();
    const auto command = std::find_if(
        all.begin(), all.end(), [&](const Command& each) { return each.path == options.command; });
    if (command == all.end()) {
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);
    watch_interrupts();
    Output output(options);
    return command->run(options, output);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& fault) {
        std::fprintf(stderr, "daybook: ended by a fault of the program: %s\n", fault.what());
        return 1;
    }
}
