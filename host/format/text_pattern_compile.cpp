// Thompson's construction: the pattern becomes a machine of states. It is parsed to a tree first,
// since a repeat needs its operand more than once.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/format/text_pattern.hpp"
#include "host/os/desk_path.hpp"
#include "host/os/utf8.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxPatternBytes = 1024;
constexpr std::size_t kMaxStates = 1024;
constexpr std::size_t kMaxRanges = 8192;
constexpr std::size_t kMaxSteps = 16UL * kMaxStates;  // empty operands add no state but take time
constexpr int kMaxRepeat = 1000;
constexpr int kMaxGroupDepth = 32;
constexpr int kUnbounded = -1;
constexpr char32_t kLastCodePoint = 0x10FFFF;

}  // namespace

class TextPattern::Compiler {
  public:
    explicit Compiler(std::string_view text) : rest_(text) {}

    Result<TextPattern> run() {
        std::unique_ptr<Node> tree = alternatives(0);
        if (problem_.empty() && !rest_.empty()) {
            problem_ = "unexpected \")\"";
        }
        if (problem_.empty()) {
            const std::uint32_t done = add(State{});
            out_.start_ = emit(*tree, done);
        }
        if (!problem_.empty()) {
            return Error(too_large_ ? Errc::full : Errc::invalid, problem_);
        }
        return std::move(out_);
    }

  private:
    enum class Kind { sequence, choice, repeat, set, begin, end };
    struct Node {
        Kind kind = Kind::sequence;
        std::vector<std::unique_ptr<Node>> children;
        std::vector<Range> ranges;
        bool negated = false;
        int low = 0;
        int high = 0;
    };
    using NodePtr = std::unique_ptr<Node>;

    static NodePtr node(Kind kind) {
        auto made = std::make_unique<Node>();
        made->kind = kind;
        return made;
    }
    void fail(std::string why) {
        if (problem_.empty()) {
            problem_ = std::move(why);
        }
    }
    void fail_size() {
        too_large_ = true;
        fail("its repeats make it too large");
    }
    [[nodiscard]] bool going() const { return problem_.empty() && !rest_.empty(); }
    bool take(std::string_view prefix) {
        if (!rest_.starts_with(prefix)) {
            return false;
        }
        rest_.remove_prefix(prefix.size());
        return true;
    }
    char32_t take_point() {
        const std::size_t length = utf8_sequence_at(rest_, 0);
        if (length == 0) {
            fail("not valid UTF-8");
            rest_ = {};
            return 0;
        }
        const char32_t point = utf8_code_point(rest_.substr(0, length));
        rest_.remove_prefix(length);
        return point;
    }

    NodePtr alternatives(int depth) {
        if (depth > kMaxGroupDepth) {
            fail("groups nested deeper than 32");
            return node(Kind::sequence);
        }
        NodePtr choice = node(Kind::choice);
        do {
            choice->children.push_back(sequence(depth));
        } while (problem_.empty() && take("|"));
        return choice;
    }

    NodePtr sequence(int depth) {
        NodePtr out = node(Kind::sequence);
        while (going() && rest_.front() != '|' && rest_.front() != ')') {
            NodePtr part = atom(depth);
            if (problem_.empty()) {
                out->children.push_back(repeated(std::move(part)));
            }
        }
        return out;
    }

    NodePtr atom(int depth) {
        if (take("^")) {
            return node(Kind::begin);
        }
        if (take("$")) {
            return node(Kind::end);
        }
        if (take("(")) {
            if (rest_.starts_with("?") && !take("?:")) {
                fail("look-around and named groups are not supported");
            }
            NodePtr inner = alternatives(depth + 1);
            if (!take(")")) {
                fail("a group is not closed");
            }
            return inner;
        }
        NodePtr set = node(Kind::set);
        if (take("[")) {
            bracket(*set);
        } else if (take(".")) {
            set->ranges = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};
            set->negated = true;
        } else if (take("\\")) {
            if (const auto point = escape(*set)) {
                set->ranges.push_back({*point, *point});
            }
        } else if (rest_.front() == '*' || rest_.front() == '+' || rest_.front() == '?') {
            fail("nothing to repeat");
        } else {
            const char32_t point = take_point();
            set->ranges.push_back({point, point});
        }
        return set;
    }

    NodePtr repeated(NodePtr part) {
        int low = 0;
        int high = 0;
        if (take("*")) {
            high = kUnbounded;
        } else if (take("+")) {
            low = 1;
            high = kUnbounded;
        } else if (take("?")) {
            high = 1;
        } else if (!braces(low, high)) {
            return part;
        }
        take("?");  // lazy: which match is found makes no difference here
        if (!rest_.empty() &&
            (rest_.front() == '*' || rest_.front() == '+' || rest_.front() == '?')) {
            fail("nothing to repeat");
        }
        NodePtr out = node(Kind::repeat);
        out->children.push_back(std::move(part));
        out->low = low;
        out->high = high;
        return out;
    }

    /// "{n}", "{n,}", "{n,m}"; anything else is a literal brace, as browsers read it.
    bool braces(int& low, int& high) {
        const std::string_view before = rest_;
        if (take("{")) {
            const auto first = number();
            if (first) {
                low = high = *first;
                if (take(",")) {
                    const auto second = number();
                    high = second ? *second : kUnbounded;
                }
                if (take("}")) {
                    if (high != kUnbounded && high < low) {
                        fail("a repeat's bounds are out of order");
                    }
                    if (low > kMaxRepeat || high > kMaxRepeat) {
                        fail_size();
                    }
                    return true;
                }
            }
        }
        rest_ = before;
        return false;
    }

    std::optional<int> number() {
        int value = 0;
        bool any = false;
        while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
            any = true;
            value = value > 100000 ? value : value * 10 + (rest_.front() - '0');
            rest_.remove_prefix(1);
        }
        return any ? std::optional(value) : std::nullopt;
    }

    void bracket(Node& set) {
        set.negated = take("^");
        while (going() && rest_.front() != ']') {
            const auto first = class_atom(set);
            if (!first || !rest_.starts_with("-") || rest_.starts_with("-]")) {
                if (first) {
                    set.ranges.push_back({*first, *first});
                }
                continue;
            }
            take("-");
            const auto last = rest_.empty() ? std::nullopt : class_atom(set);
            if (!last || *last < *first) {
                fail("a range in brackets is out of order");
                return;
            }
            set.ranges.push_back({*first, *last});
        }
        if (!take("]")) {
            fail("a bracket is not closed");
        }
    }

    std::optional<char32_t> class_atom(Node& set) {
        if (!take("\\")) {
            return take_point();
        }
        if (take("b")) {
            return 0x08;
        }
        return escape(set);
    }

    /// After a backslash: one code point, or nothing when it stood for a class, which is added to
    /// the set.
    std::optional<char32_t> escape(Node& set) {
        if (rest_.empty()) {
            fail("a backslash at the end");
            return std::nullopt;
        }
        const char c = rest_.front();
        rest_.remove_prefix(1);
        switch (c) {
            case 'n':
                return U'\n';
            case 't':
                return U'\t';
            case 'r':
                return U'\r';
            case 'f':
                return U'\f';
            case 'v':
                return U'\v';
            case '0':
                return U'\0';
            case 'x':
                return hexadecimal(2);
            case 'u':
                return hexadecimal(4);
            case 'd':
                add_class(set, {{'0', '9'}}, false);
                return std::nullopt;
            case 'D':
                add_class(set, {{'0', '9'}}, true);
                return std::nullopt;
            case 'w':
                add_class(set, {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, false);
                return std::nullopt;
            case 'W':
                add_class(set, {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, true);
                return std::nullopt;
            case 's':
                add_class(set, spaces(), false);
                return std::nullopt;
            case 'S':
                add_class(set, spaces(), true);
                return std::nullopt;
            default:
                break;
        }
        const bool letter =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (letter || static_cast<unsigned char>(c) >= 0x80) {
            fail("the escape \"\\" + printable(std::string_view(&c, 1)) + "\" is not supported");
            return std::nullopt;
        }
        return static_cast<char32_t>(c);
    }

    static std::vector<Range> spaces() {
        return {{0x09, 0x0D},
                {0x20, 0x20},
                {0xA0, 0xA0},
                {0x1680, 0x1680},
                {0x2000, 0x200A},
                {0x2028, 0x2029},
                {0x202F, 0x202F},
                {0x205F, 0x205F},
                {0x3000, 0x3000},
                {0xFEFF, 0xFEFF}};
    }

    /// `sorted` is in order and without overlaps; its opposite is the gaps.
    static void add_class(Node& set, const std::vector<Range>& sorted, bool opposite) {
        char32_t from = 0;
        for (const Range& range : sorted) {
            if (!opposite) {
                set.ranges.push_back(range);
            } else if (range.first > from) {
                set.ranges.push_back({from, range.first - 1});
            }
            from = range.last + 1;
        }
        if (opposite) {
            set.ranges.push_back({from, kLastCodePoint});
        }
    }

    std::optional<char32_t> hexadecimal(std::size_t width) {
        char32_t value = 0;
        for (std::size_t i = 0; i < width; ++i) {
            const char c = rest_.empty() ? ' ' : rest_.front();
            const int digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                              : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                     : -1;
            if (digit < 0) {
                fail("a hexadecimal escape is incomplete");
                return std::nullopt;
            }
            value = value * 16 + static_cast<char32_t>(digit);
            rest_.remove_prefix(1);
        }
        return value;
    }

    std::uint32_t add(State state) {
        if (out_.states_.size() >= kMaxStates) {
            fail_size();
            return 0;
        }
        out_.states_.push_back(state);
        return static_cast<std::uint32_t>(out_.states_.size() - 1);
    }

    /// Adds the machine for `tree` that goes on at `next`; returns where it starts.
    std::uint32_t emit(const Node& tree, std::uint32_t next) {
        if (++steps_ > kMaxSteps || out_.ranges_.size() > kMaxRanges) {
            fail_size();
        }
        if (!problem_.empty()) {
            return 0;
        }
        State state;
        state.next = next;
        switch (tree.kind) {
            case Kind::begin:
                state.step = Step::begin;
                return add(state);
            case Kind::end:
                state.step = Step::end;
                return add(state);
            case Kind::set:
                state.step = Step::set;
                state.negated = tree.negated;
                state.first_range = static_cast<std::uint32_t>(out_.ranges_.size());
                state.range_count = static_cast<std::uint32_t>(tree.ranges.size());
                out_.ranges_.insert(out_.ranges_.end(), tree.ranges.begin(), tree.ranges.end());
                return add(state);
            case Kind::sequence:
                for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child) {
                    next = emit(**child, next);
                }
                return next;
            case Kind::choice: {
                std::uint32_t start = emit(*tree.children.back(), next);
                for (std::size_t i = tree.children.size() - 1; i > 0; --i) {
                    start = split(emit(*tree.children[i - 1], next), start);
                }
                return start;
            }
            case Kind::repeat:
                return emit_repeat(tree, next);
        }
        return next;
    }

    std::uint32_t split(std::uint32_t one, std::uint32_t other) {
        State state;
        state.step = Step::split;
        state.next = one;
        state.other = other;
        return add(state);
    }

    std::uint32_t emit_repeat(const Node& tree, std::uint32_t next) {
        const Node& operand = *tree.children.front();
        std::uint32_t start = next;
        if (tree.high == kUnbounded) {
            const std::uint32_t loop =
                split(next, next);  // its first way is set once the operand is there
            const std::uint32_t body = emit(operand, loop);
            if (problem_.empty()) {
                out_.states_[loop].next = body;
            }
            start = loop;
        } else {
            for (int i = tree.low; i < tree.high && problem_.empty(); ++i) {
                start = split(emit(operand, start), next);
            }
        }
        for (int i = 0; i < tree.low && problem_.empty(); ++i) {
            start = emit(operand, start);
        }
        return start;
    }

    std::string_view rest_;
    std::string problem_;
    bool too_large_ = false;
    std::size_t steps_ = 0;
    TextPattern out_;
};

Result<TextPattern> TextPattern::compile(std::string_view pattern) {
    if (pattern.size() > kMaxPatternBytes) {
        return Error(Errc::full, "pattern: longer than 1024 bytes");
    }
    auto compiled = Compiler(pattern).run();
    if (!compiled) {
        return compiled.error().during("pattern \"" + printable(pattern) + "\"");
    }
    return compiled;
}

}  // namespace daybook
