// Sentences about prices out of the answer of the tool `price`. Numbers are quoted as they came.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace daybook::clerk {

/// "NIFTY50 was 10873.85 at 09:17 (bar 2019-01-02 09:16, ...)". Throws std::invalid_argument for an
/// answer of another form; so do the others.
[[nodiscard]] std::string last_price(std::string_view price_json);

/// Some of open, high, low, close and gap of the answer's day.
[[nodiscard]] std::string day_fields(std::string_view price_json,
                                     const std::vector<std::string>& fields);

/// The close before, the gap, the first bar.
[[nodiscard]] std::string opening_report(std::string_view price_json);

/// The date that the answer's day has, or "".
[[nodiscard]] std::string day_of(std::string_view price_json);
/// The date of the close before it, or "".
[[nodiscard]] std::string date_before(std::string_view price_json);

}  // namespace daybook::clerk
