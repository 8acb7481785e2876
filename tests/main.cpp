// The framework's main, alone: it takes the longest of any file to compile.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
