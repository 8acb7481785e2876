// The test framework. Only what versions 2 and 3 have in common is used: TEST_CASE, SECTION,
// REQUIRE, CHECK, GENERATE, string matchers.
#pragma once

#include <catch2/catch.hpp>
