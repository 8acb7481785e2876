// Writes docs/wall.md: wall_page EXPECTED_TSV PAGE.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>

#include "tests/escape/verdict_table.hpp"

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: wall_page EXPECTED_TSV PAGE\n", stderr);
        return EXIT_FAILURE;
    }
    try {
        std::ostringstream table;
        table << std::ifstream(argv[1]).rdbuf();
        std::ofstream(argv[2]) << daybook::escape::wall_page(
            daybook::escape::parse_table(table.str()));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "wall_page: %s\n", error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
