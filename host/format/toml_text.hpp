// TOML read into a plain tree that remembers where everything stands. The door to toml++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

namespace daybook {

struct TomlPlace {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

struct TomlMember;

/// One value. Only the member that belongs to its kind is filled.
struct TomlNode {
    enum class Kind { table, list, text, integer, number, boolean, time };
    Kind kind = Kind::table;
    TomlPlace place;
    std::string text;
    std::int64_t integer = 0;
    double number = 0;
    bool boolean = false;
    std::vector<TomlNode> items;
    std::vector<TomlMember> members;  ///< sorted by key

    [[nodiscard]] const TomlNode* find(std::string_view key) const noexcept;
};

struct TomlMember {
    std::string key;
    TomlPlace key_place;
    TomlNode value;
};

/// Reads a whole file. Errors: invalid, "SOURCE:LINE:COLUMN: what is wrong"; nested deeper than 32
/// too.
Result<TomlNode> parse_toml(std::string_view text, std::string_view source_name);

}  // namespace daybook
