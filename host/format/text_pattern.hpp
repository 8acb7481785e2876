// Regular expressions of JSON Schemas, which come from plugins: matching takes time linear in the
// text, whatever the pattern. (std::regex recurses for each character and can take exponential
// time.)
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

namespace daybook {

/// The part of ECMA-262 that schemas use: literals, ".", classes ("[^a-z]", "\d \w \s" and their
/// opposites), groups, alternatives, "* + ? {n} {n,} {n,m}", anchors "^" and "$", "\uXXXX". Works
/// on code points. No look-around, no back-references. Immutable once compiled. Thread: [any].
class TextPattern {
  public:
    /// Errors: invalid (not understood), full (longer than 1,024 bytes, or over 1,024 states after
    /// repeats).
    static Result<TextPattern> compile(std::string_view pattern);
    /// Whether the pattern matches anywhere in the text (valid UTF-8).
    [[nodiscard]] bool found_in(std::string_view text) const;

  private:
    struct Range {
        char32_t first;
        char32_t last;
    };
    enum class Step : std::uint8_t { set, split, begin, end, done };
    struct State {
        Step step = Step::done;
        bool negated = false;
        std::uint32_t first_range = 0;  ///< into ranges_
        std::uint32_t range_count = 0;
        std::uint32_t next = 0;   ///< into states_
        std::uint32_t other = 0;  ///< second way of a split
    };
    class Compiler;
    class Walk;
    TextPattern() = default;
    [[nodiscard]] bool admits(const State& state, char32_t c) const;

    std::vector<State> states_;
    std::vector<Range> ranges_;
    std::uint32_t start_ = 0;
};

}  // namespace daybook
