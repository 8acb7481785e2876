// The one file that compiles toml++.
#include "host/format/toml_text.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

/// What toml++'s asserts call.
[[noreturn]] static void broken_toml_assert(const char* what) {
    throw std::logic_error(what);
}

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/impl/preprocessor.h>
// toml++ 3.3 asserts things of the text that a mistyped file can break, and takes them for granted
// where asserts are off. Here they throw, always, and are caught below.
#undef TOML_ASSERT
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : broken_toml_assert(#expr))
#define TOML_ASSERT_ASSUME(expr) TOML_ASSERT(expr)
#include <toml++/toml.h>

#include "host/format/json.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr int kMaxDepth = 32;

TomlPlace place_of(const toml::source_position& at) {
    return {at.line, at.column};
}

Error wrong(std::string_view source_name, TomlPlace at, std::string_view what) {
    return Error(Errc::invalid,
                 printable(source_name, 200) + ":" + std::to_string(at.line) + ":" +
                     std::to_string(at.column) + ": " + printable(what, 400));
}

/// nullopt: the text broke an assert.
std::optional<toml::parse_result> parsed(std::string_view text) {
    try {
        return toml::parse(text);
    } catch (const std::logic_error&) {
        return std::nullopt;
    }
}

/// The first line with which the text breaks an assert.
TomlPlace broken_line(std::string_view text) {
    constexpr std::uint32_t kMostLines =
        2000;  // reading from the start for each line takes the square of them
    TomlPlace place;
    std::size_t end = 0;
    for (; place.line <= kMostLines && end < text.size(); ++place.line) {
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
        if (!parsed(text.substr(0, end))) {
            break;
        }
    }
    return place;
}

Result<TomlNode> converted(const toml::node& node, std::string_view source_name, int depth) {
    TomlNode out;
    out.place = place_of(node.source().begin);
    if (depth > kMaxDepth) {
        return wrong(source_name, out.place, "nested deeper than 32");
    }
    switch (node.type()) {
        case toml::node_type::table:
            out.kind = TomlNode::Kind::table;
            for (const auto& [key, inner] : *node.as_table()) {
                auto value = converted(inner, source_name, depth + 1);
                if (!value) {
                    return value;
                }
                out.members.push_back(
                    {std::string(key.str()), place_of(key.source().begin), std::move(*value)});
            }
            std::sort(out.members.begin(),
                      out.members.end(),
                      [](const TomlMember& a, const TomlMember& b) { return a.key < b.key; });
            break;
        case toml::node_type::array:
            out.kind = TomlNode::Kind::list;
            for (const toml::node& inner : *node.as_array()) {
                auto value = converted(inner, source_name, depth + 1);
                if (!value) {
                    return value;
                }
                out.items.push_back(std::move(*value));
            }
            break;
        case toml::node_type::string:
            out.kind = TomlNode::Kind::text;
            out.text = node.as_string()->get();
            break;
        case toml::node_type::integer:
            out.kind = TomlNode::Kind::integer;
            out.integer = node.as_integer()->get();
            break;
        case toml::node_type::floating_point:
            out.kind = TomlNode::Kind::number;
            out.number = node.as_floating_point()->get();
            break;
        case toml::node_type::boolean:
            out.kind = TomlNode::Kind::boolean;
            out.boolean = node.as_boolean()->get();
            break;
        case toml::node_type::date:
        case toml::node_type::time:
        case toml::node_type::date_time:
        case toml::node_type::none:
            out.kind = TomlNode::Kind::time;
            break;
    }
    return out;
}

}  // namespace

const TomlNode* TomlNode::find(std::string_view key) const noexcept {
    const auto found = std::find_if(members.begin(), members.end(), [&](const TomlMember& member) {
        return member.key == key;
    });
    return found == members.end() ? nullptr : &found->value;
}

Result<TomlNode> parse_toml(std::string_view text, std::string_view source_name) {
    if (!is_utf8(text)) {
        return wrong(source_name, {}, "not valid UTF-8");
    }
    const auto outcome = parsed(text);
    if (!outcome) {
        return wrong(
            source_name, broken_line(text), "malformed: expected TOML (key = value, [table])");
    }
    if (!*outcome) {
        const toml::parse_error& error = outcome->error();
        return wrong(source_name, place_of(error.source().begin), error.description());
    }
    return converted(outcome->table(), source_name, 0);
}

}  // namespace daybook
