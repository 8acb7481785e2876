// Rows of a price file for tests.
#pragma once

#include <string>
#include <string_view>

#include "plugins/skills/candles/answer.hpp"

namespace daybook::test {

inline const std::string kHeader = "time,open,high,low,close,volume\n";

/// A minute of 2019-01-02 in which nothing moved.
inline std::string minute_row(const std::string& time, double price) {
    const std::string p = candles::number_text(price);
    return "2019-01-02T" + time + ":00+05:30," + p + "," + p + "," + p + "," + p + ",10\n";
}

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

}  // namespace daybook::test
