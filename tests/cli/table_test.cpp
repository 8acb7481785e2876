#include "host/cli/table.hpp"

#include "tests/catch.hpp"

using namespace daybook::cli;

TEST_CASE("columns are as wide as their widest cell, whatever its letters", "[cli]") {
    Table table({"A", "LONGER"});
    table.add({"größer", "x"});
    table.add({"b"});
    CHECK(table.str() == "A       LONGER\ngrößer  x\nb\n");
}

TEST_CASE("numbers are written for people", "[cli]") {
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(32768) == "32,768");
    CHECK(grouped(-1234567) == "-1,234,567");
    CHECK(size_text(12) == "12 B");
    CHECK(size_text(4198) == "4.1 KiB");
    CHECK(size_text(5LL << 20) == "5.0 MiB");
    CHECK(duration_text(59) == "59s");
    CHECK(duration_text(22320) == "6h12m");
    CHECK(duration_text(3 * 86400 + 3600) == "3d1h");
}

TEST_CASE("a long text is cut between letters, on one line", "[cli]") {
    CHECK(shortened("short", 10) == "short");
    CHECK(shortened("a\n b\t\tc", 10) == "a b c");
    CHECK(shortened("größergrößer", 7) == "größer…");
    CHECK(shortened("", 5).empty());
}
