#include "host/gate/file_lines.hpp"

#include "tests/catch.hpp"

using namespace daybook;

TEST_CASE("a slice ends between lines and counts those of the whole file", "[gate]") {
    const std::string_view file = "one\ntwo\nthree";
    CHECK(slice_lines(file, {}).text == file);
    CHECK(slice_lines(file, {}).lines == 3);
    const auto middle = slice_lines(file, {2, 1, 0});
    CHECK(middle.text == "two\n");
    CHECK(middle.begin == 4);
    CHECK(middle.first_line == 2);
    CHECK(middle.lines == 1);
    CHECK(middle.total_lines == 3);
    const auto few_bytes = slice_lines(file, {1, 0, 9});
    CHECK(few_bytes.text == "one\ntwo\n");
    CHECK(few_bytes.lines == 2);
    CHECK_FALSE(few_bytes.cut_in_line);
    const auto beyond = slice_lines(file, {9, 0, 0});
    CHECK(beyond.text.empty());
    CHECK(beyond.lines == 0);
    CHECK(beyond.total_lines == 3);
    CHECK(slice_lines("", {}).total_lines == 0);
}

TEST_CASE("a line longer than the limit is cut between two characters", "[gate]") {
    const auto cut = slice_lines("\u20b9\u20b9\u20b9\u20b9", {1, 0, 4});
    CHECK(cut.text == "\u20b9");
    CHECK(cut.cut_in_line);
    CHECK(cut.lines == 1);
    // Bytes that are no characters end it too.
    CHECK(slice_lines(std::string(100, '\x80'), {1, 0, 10}).text.empty());
}
