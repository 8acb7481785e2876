// What a sentence asks of the clerk, by rules on its words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace daybook::clerk {

enum class WishKind { note, list_notes, show_memory, price, bars, unknown };

struct Wish {
    WishKind kind = WishKind::unknown;
    std::string note;    ///< note: the words after "remember:"
    std::string symbol;  ///< price, bars: as written, "" when none was named
    std::vector<std::string>
        fields;            ///< price: of open, high, low, close, gap; empty = the last price
    std::string interval;  ///< bars: 1m 5m 15m 60m 1d
    std::string date;      ///< "2019-01-02", "yesterday" or "" (today)
    std::string time;      ///< "10:15" or ""
};

/// The wish of the owner's words.
[[nodiscard]] Wish read_wish(std::string_view text);

/// The first word that looks like a symbol ("NIFTY", "NIFTY 50", "price of nifty"), or "".
[[nodiscard]] std::string find_symbol(std::string_view text);

/// The words, lower case, in order, without punctuation at their ends.
[[nodiscard]] std::vector<std::string> words_of(std::string_view text);

}  // namespace daybook::clerk
