// The records of orders that a plugin may put into the journal: which members each type has.
#pragma once

#include <string_view>

#include <daybook/result.hpp>

#include "host/format/json.hpp"

namespace daybook {

/// "24350.50", "-12", "0.05": at most 40 bytes, no exponent, no sign but "-".
[[nodiscard]] bool is_decimal(std::string_view text) noexcept;

/// Checks the data of an `order`, `refusal`, `fill` or `cancel` (docs/formats.md, "Orders").
/// Members beyond the table pass, but for money and quantities, whose form is checked under
/// whatever type they stand. Errors: invalid (names the member, wanted and got). Thread: [any].
Result<> check_order_record(std::string_view type, const Json& data);

}  // namespace daybook
