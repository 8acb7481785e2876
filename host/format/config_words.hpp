// Reading the values of a configuration: units, and what a mistyped word may have meant.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace daybook {

/// Letters to insert, delete, replace or swap to turn one word into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The word of `known` that is nearest to `word`, or "" when none is near (at most 2 edits, or a
/// third of its letters).
template <class Words>
[[nodiscard]] std::string_view nearest(std::string_view word, const Words& known) {
    std::string_view found;
    std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const std::string_view candidate : known) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < least && distance < candidate.size()) {
            least = distance;
            found = candidate;
        }
    }
    return found;
}

/// The sentence about a key that is not among `known`: what was meant, what there is, or where
/// secrets belong.
[[nodiscard]] std::string unknown_key(std::string_view key,
                                      std::initializer_list<std::string_view> known);

/// Whether the text is spelled like an IANA zone; not whether there is one.
[[nodiscard]] bool is_zone_name(std::string_view name);

/// "250ms", "60s", "5m", "1h".
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
/// "512", "64KiB", "64MiB", "2GiB": bytes.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace daybook
