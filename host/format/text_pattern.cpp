// Matching walks all states side by side, one code point at a time; the machine is built in
// text_pattern_compile.cpp.
#include "host/format/text_pattern.hpp"

#include <algorithm>
#include <utility>

#include "host/os/utf8.hpp"

namespace daybook {

/// The states that a match stands in, each once.
class TextPattern::Walk {
  public:
    explicit Walk(const TextPattern& pattern)
        : pattern_(pattern), seen_at_(pattern.states_.size(), 0) {}

    void next_round() {
        ++round_;
        current_.swap(following_);
        following_.clear();
    }

    /// Adds a state and all that it reaches without a character. Returns whether the match is done.
    bool enter(std::uint32_t index, bool at_begin, bool at_end) {
        pending_.assign(1, index);
        while (!pending_.empty()) {
            const std::uint32_t at = pending_.back();
            pending_.pop_back();
            if (std::exchange(seen_at_[at], round_) == round_) {
                continue;
            }
            const State& state = pattern_.states_[at];
            switch (state.step) {
                case Step::done:
                    return true;
                case Step::set:
                    following_.push_back(at);
                    break;
                case Step::split:
                    pending_.push_back(state.next);
                    pending_.push_back(state.other);
                    break;
                case Step::begin:
                    if (at_begin) {
                        pending_.push_back(state.next);
                    }
                    break;
                case Step::end:
                    if (at_end) {
                        pending_.push_back(state.next);
                    }
                    break;
            }
        }
        return false;
    }

    [[nodiscard]] const std::vector<std::uint32_t>& current() const { return current_; }

  private:
    const TextPattern& pattern_;
    std::vector<std::uint32_t> seen_at_;
    std::vector<std::uint32_t> current_;
    std::vector<std::uint32_t> following_;
    std::vector<std::uint32_t> pending_;
    std::uint32_t round_ = 1;
};

bool TextPattern::admits(const State& state, char32_t c) const {
    for (std::uint32_t i = 0; i < state.range_count; ++i) {
        const Range& range = ranges_[state.first_range + i];
        if (c >= range.first && c <= range.last) {
            return !state.negated;
        }
    }
    return state.negated;
}

bool TextPattern::found_in(std::string_view text) const {
    Walk walk(*this);
    if (walk.enter(start_, true, text.empty())) {
        return true;
    }
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = std::max<std::size_t>(utf8_sequence_at(text, i), 1);
        const char32_t point = utf8_code_point(text.substr(i, length));
        i += length;
        walk.next_round();
        const bool at_end = i == text.size();
        for (const std::uint32_t index : walk.current()) {
            if (admits(states_[index], point) && walk.enter(states_[index].next, false, at_end)) {
                return true;
            }
        }
        if (walk.enter(start_, false, at_end)) {  // a match may begin anywhere
            return true;
        }
    }
    return false;
}

}  // namespace daybook
