// A table for people: columns as wide as their widest cell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace daybook::cli {

class Table {
  public:
    explicit Table(std::vector<std::string> headers);
    /// Missing cells are empty; cells too many are dropped.
    void add(std::vector<std::string> cells);
    [[nodiscard]] bool empty() const noexcept { return rows_.size() == 1; }
    /// Lines with a newline each; no blanks at their ends.
    [[nodiscard]] std::string str() const;

  private:
    std::vector<std::vector<std::string>> rows_;
};

/// Columns that a text takes on a terminal: code points, without control characters. Good enough
/// for names and numbers.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;
/// 4198 -> "4.1 KiB", 12 -> "12 B".
[[nodiscard]] std::string size_text(std::int64_t bytes);
/// 32768 -> "32,768".
[[nodiscard]] std::string grouped(std::int64_t number);
/// 22340 -> "6h12m".
[[nodiscard]] std::string duration_text(std::int64_t seconds);
/// One line, at most `columns` code points, "…" where it was cut.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

}  // namespace daybook::cli
