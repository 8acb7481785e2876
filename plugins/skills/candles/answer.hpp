// What the two tools answer, as compact JSON: every number with its file and row.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "plugins/skills/candles/bars.hpp"
#include "plugins/skills/candles/price_folder.hpp"

namespace daybook::candles {

/// Most tokens of an answer, by estimate_tokens.
inline constexpr std::size_t kMaxTokens = 1600;
inline constexpr std::size_t kDefaultBars = 20;
inline constexpr std::size_t kMaxBars = 60;

/// Tokens of a text for a tokenizer that takes every digit and mark alone, and three letters at
/// once: more than any model in use needs.
[[nodiscard]] std::size_t estimate_tokens(std::string_view text) noexcept;

/// A price as short as it reads back exactly: 10881.7.
[[nodiscard]] std::string number_text(double number);

struct BarsQuestion {
    std::string interval;  ///< 1m 5m 15m 60m 1d
    Instant from;
    Instant to;
    std::size_t limit = kDefaultBars;
};

/// "5m" -> 5 minutes, "1d" -> kWholeDay. Errors: invalid (names the intervals there are).
Result<std::chrono::minutes> parse_interval(std::string_view text);

/// The newest bars of the range that fit, oldest first. `file` is the one of the two that serves
/// the interval.
[[nodiscard]] std::string answer_bars(const Symbol& symbol,
                                      const PriceFile& file,
                                      std::chrono::minutes interval,
                                      const BarsQuestion& question,
                                      Instant now,
                                      SessionTable& sessions);

/// The last price known at `as_of` (not after `now`), with its day so far, the close before and the
/// gap between them. Errors: not_found (no row was over by then).
Result<std::string> answer_price(const Symbol& symbol,
                                 const PriceFile& file,
                                 Instant as_of,
                                 Instant now,
                                 SessionTable& sessions);

}  // namespace daybook::candles
