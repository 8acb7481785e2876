// One price file: CSV with the header `time,open,high,low,close,volume`, rows in rising time order.
//
// A row that does not read is left out and named; the others stay. A file whose header is another
// one is an error as a whole. Row numbers are line numbers: the header is row 1.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

namespace daybook::candles {

enum class Resolution { minute, day };

struct Prices {
    double open = 0;
    double high = 0;
    double low = 0;
    double close = 0;
    double volume = 0;  ///< 0 for an index
};

struct PriceRow {
    /// Minute file: start of the minute, seconds since 1970 UTC. Daily file: the date's own
    /// midnight, no zone.
    std::chrono::seconds at{0};
    Prices prices;
    std::uint32_t row = 0;
};

struct RowProblem {
    std::uint32_t row = 0;
    std::string sentence;  ///< file, row, what was wanted, what was found
};

struct PriceFile {
    std::string name;
    Resolution resolution = Resolution::minute;
    std::vector<PriceRow> rows;
    std::vector<RowProblem> problems;
};

/// Reads the text of a file. `name` is for messages.
/// Errors: corrupt (no such header: names the file and what was found).
Result<PriceFile> parse_price_file(std::string_view text, std::string name, Resolution resolution);

}  // namespace daybook::candles
