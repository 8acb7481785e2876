// expected.tsv: a row an attempt, a column a way of starting the runner.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace daybook::escape {

/// How the runner of a column is started.
struct Column {
    const char* name;  ///< as in the table's first line
    const char* profile;
    const char* landlock;  ///< --landlock of the driver
    const char* gap;       ///< "" = the runner as it is shipped
};
inline constexpr Column kColumns[] = {{"pure, ABI 7", "pure", "7", ""},
                                      {"pure, ABI 2", "pure", "2", ""},
                                      {"pure, ABI 1", "pure", "1", ""},
                                      {"pure, no Landlock", "pure", "absent", ""},
                                      {"scratch, ABI 7", "scratch", "7", ""},
                                      {"scratch, ABI 2", "scratch", "2", ""},
                                      {"scratch, ABI 1", "scratch", "1", ""},
                                      {"child, ABI 7", "child", "7", ""},
                                      {"child, ABI 2", "child", "2", ""},
                                      {"child, ABI 1", "child", "1", ""},
                                      {"child with a port, ABI 7", "child-net", "7", ""},
                                      {"no walls", "pure", "7", "all"}};
inline constexpr std::size_t kColumnCount = std::size(kColumns);
inline constexpr std::size_t kNoLandlock = 3;
inline constexpr std::size_t kScratch = 4;  ///< and the two that follow
inline constexpr std::size_t kChild = 7;    ///< and the two that follow
inline constexpr std::size_t kChildWithPort = 10;
inline constexpr std::size_t kNoWalls = kColumnCount - 1;

/// One column's verdict. They are equal as root and as an ordinary user nearly always.
struct Cell {
    std::string root, user;
    /// "EPERM", or "EPERM / worked" where the two differ.
    [[nodiscard]] std::string text() const { return root == user ? root : root + " / " + user; }
    [[nodiscard]] bool has_success() const {
        return root.starts_with("worked") || user.starts_with("worked");
    }
};

struct Row {
    std::string attempt, text;
    std::vector<Cell> cells;  ///< kColumnCount
};

/// Throws std::runtime_error with the line that is malformed.
std::vector<Row> parse_table(std::string_view text);
std::string format_table(const std::vector<Row>& rows);

/// Why a success behind walls is meant or accepted; "" when there is no such reason.
std::string reason_for(const Row& row, std::size_t column);

/// docs/wall.md.
std::string wall_page(const std::vector<Row>& rows);

}  // namespace daybook::escape
