// JSON for plugin authors, with the standard library only: writers that escape, and a reader for
// text that the host has checked already. A plugin with larger needs brings a library of its own.
//
// With RapidJSON, define RAPIDJSON_ASSERT before its first include so that a wrong access throws
// instead of ending the process: #define RAPIDJSON_ASSERT(x) ((x) ? void() : throw
// std::runtime_error("json: " #x))
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace daybook::json {

namespace detail {

/// Length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none.
inline std::size_t utf8_length(std::string_view text) noexcept {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = at(0);
    if (first < 0x80) {
        return 1;
    }
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((at(i) & 0xC0U) != 0x80) {
            return 0;
        }
    }
    const bool overlong = (first == 0xE0 && at(1) < 0xA0) || (first == 0xF0 && at(1) < 0x90);
    const bool outside = (first == 0xED && at(1) > 0x9F) || (first == 0xF4 && at(1) > 0x8F);
    return overlong || outside ? 0 : length;
}

inline void append_utf8(std::string& out, std::uint32_t code) {
    const auto put = [&](std::uint32_t byte) {
        out += static_cast<char>(static_cast<unsigned char>(byte));
    };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xC0U | (code >> 6U));
        put(0x80U | (code & 0x3FU));
    } else if (code < 0x10000) {
        put(0xE0U | (code >> 12U));
        put(0x80U | ((code >> 6U) & 0x3FU));
        put(0x80U | (code & 0x3FU));
    } else {
        put(0xF0U | (code >> 18U));
        put(0x80U | ((code >> 12U) & 0x3FU));
        put(0x80U | ((code >> 6U) & 0x3FU));
        put(0x80U | (code & 0x3FU));
    }
}

}  // namespace detail

/// The text as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
inline std::string quote(std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string out = "\"";
    while (!text.empty()) {
        const char c = text.front();
        std::size_t length = 1;
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            out += kHex[static_cast<unsigned char>(c) >> 4U];
            out += kHex[static_cast<unsigned char>(c) & 0xFU];
        } else if (const std::size_t whole = detail::utf8_length(text); whole != 0) {
            out.append(text.substr(0, whole));
            length = whole;
        } else {
            out += "\xEF\xBF\xBD";
        }
        text.remove_prefix(length);
    }
    return out + "\"";
}

/// A value as JSON text: text, whole numbers, fractions (NaN and infinity become null), true and
/// false.
inline std::string value(std::string_view text) {
    return quote(text);
}
template <std::same_as<bool> Bool>
std::string value(Bool yes) {
    return yes ? "true" : "false";
}
template <std::integral Number>
requires(!std::same_as<Number, bool>) std::string value(Number number) {
    return std::to_string(number);
}
inline std::string value(double number) {
    if (!std::isfinite(number)) {
        return "null";
    }
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, number);
    return std::string(buffer, end.ptr);
}

/// Writes an object, member by member: ObjectWriter().add("bars", 3).add("symbol", "NIFTY
/// 50").str().
class ObjectWriter {
  public:
    template <class Value>
    ObjectWriter& add(std::string_view key, const Value& member) {
        return add_raw(key, value(member));
    }
    /// `json` is JSON text already.
    ObjectWriter& add_raw(std::string_view key, std::string_view json) {
        text_ += text_.size() == 1 ? "" : ",";
        text_.append(quote(key)).append(":").append(json);
        return *this;
    }
    [[nodiscard]] std::string str() const { return text_ + "}"; }

  private:
    std::string text_ = "{";
};

/// Writes an array, item by item.
class ArrayWriter {
  public:
    template <class Value>
    ArrayWriter& add(const Value& item) {
        return add_raw(value(item));
    }
    ArrayWriter& add_raw(std::string_view json) {
        text_ += text_.size() == 1 ? "" : ",";
        text_.append(json);
        return *this;
    }
    [[nodiscard]] bool empty() const noexcept { return text_.size() == 1; }
    [[nodiscard]] std::string str() const { return text_ + "]"; }

  private:
    std::string text_ = "[";
};

/// Walks JSON text. Safe for any bytes: malformed text throws std::invalid_argument.
class Scanner {
  public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    /// The next character that is no white space, 0 at the end.
    char peek() {
        const auto at = rest_.find_first_not_of(" \t\r\n");
        rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
        return rest_.empty() ? '\0' : rest_.front();
    }
    bool take(char wanted) {
        if (peek() != wanted) {
            return false;
        }
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char wanted) {
        if (!take(wanted)) {
            throw std::invalid_argument(std::string("json: expected '") + wanted + "'");
        }
    }
    /// The next value as it stands, without decoding it.
    std::string_view skip_value() {
        peek();
        const std::string_view start = rest_;
        int depth = 0;
        do {
            const char c = peek();
            if (c == '"') {
                skip_string();
            } else if (c == '{' || c == '[') {
                rest_.remove_prefix(1);
                ++depth;
            } else if (depth > 0 && (c == '}' || c == ']')) {
                rest_.remove_prefix(1);
                --depth;
            } else if (depth > 0 && (c == ',' || c == ':')) {
                rest_.remove_prefix(1);
            } else {
                skip_plain();
            }
        } while (depth > 0);
        return start.substr(0, start.size() - rest_.size());
    }
    /// The next value, which must be a string, decoded.
    std::string string() {
        peek();
        const std::string_view start = rest_;
        skip_string();
        return decode(start.substr(1, start.size() - rest_.size() - 2));
    }

  private:
    void skip_string() {
        expect('"');
        for (std::size_t i = 0; i < rest_.size(); ++i) {
            if (rest_[i] == '\\') {
                ++i;
            } else if (rest_[i] == '"') {
                rest_.remove_prefix(i + 1);
                return;
            }
        }
        throw std::invalid_argument("json: a string has no end");
    }
    void skip_plain() {
        const auto end = rest_.find_first_of(",:]}[{\" \t\r\n");
        if (rest_.empty() || end == 0) {
            throw std::invalid_argument("json: expected a value");
        }
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
    }
    static std::uint32_t hex4(std::string_view text) {
        std::uint32_t code = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code, 16);
        if (text.size() != 4 || error != std::errc() || end != text.data() + 4) {
            throw std::invalid_argument("json: \\u needs four hexadecimal digits");
        }
        return code;
    }
    static std::string decode(std::string_view text) {
        std::string out;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] != '\\') {
                out += text[i];
                continue;
            }
            const char kind = text[++i];
            if (kind != 'u') {
                static constexpr std::string_view kFrom = "nrtbf";
                const auto at = kFrom.find(kind);
                out += at == std::string_view::npos ? kind : "\n\r\t\b\f"[at];
                continue;
            }
            std::uint32_t code = hex4(text.substr(i + 1, 4));
            i += 4;
            const bool high = code >= 0xD800 && code < 0xDC00;
            if (high && text.substr(i + 1, 2) == "\\u") {
                const std::uint32_t low = hex4(text.substr(i + 3, 4));
                if (low >= 0xDC00 && low < 0xE000) {
                    code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
                    i += 6;
                }
            }
            detail::append_utf8(out, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
        }
        return out;
    }

    std::string_view rest_;
};

/// A decoded string value, or nullopt when `json` is something else.
inline std::optional<std::string> text_of(std::string_view json) {
    Scanner scanner(json);
    return scanner.peek() == '"' ? std::optional(scanner.string()) : std::nullopt;
}

/// The items of an array as they stand; empty when `json` is something else.
inline std::vector<std::string_view> items_of(std::string_view json) {
    std::vector<std::string_view> items;
    Scanner scanner(json);
    if (!scanner.take('[') || scanner.take(']')) {
        return items;
    }
    do {
        items.push_back(scanner.skip_value());
    } while (scanner.take(','));
    scanner.expect(']');
    return items;
}

/// The members of an object, e.g. a tool's arguments. Views into the text given, which must outlive
/// it.
class ObjectReader {
  public:
    explicit ObjectReader(std::string_view object) {
        Scanner scanner(object);
        scanner.expect('{');
        if (scanner.take('}')) {
            return;
        }
        do {
            std::string key = scanner.string();
            scanner.expect(':');
            members_.emplace_back(std::move(key), scanner.skip_value());
        } while (scanner.take(','));
        scanner.expect('}');
    }

    [[nodiscard]] bool has(std::string_view key) const noexcept { return !raw(key).empty(); }
    /// The member's value as it stands, or empty.
    [[nodiscard]] std::string_view raw(std::string_view key) const noexcept {
        for (const auto& [name, json] : members_) {
            if (name == key) {
                return json;
            }
        }
        return {};
    }
    /// The member's value, or the fallback when there is none of that kind.
    [[nodiscard]] std::string text(std::string_view key, std::string_view fallback = {}) const {
        return text_of(raw(key)).value_or(std::string(fallback));
    }
    [[nodiscard]] std::int64_t integer(std::string_view key,
                                       std::int64_t fallback = 0) const noexcept {
        return parsed(raw(key), fallback);
    }
    [[nodiscard]] double number(std::string_view key, double fallback = 0) const noexcept {
        return parsed(raw(key), fallback);
    }
    [[nodiscard]] bool boolean(std::string_view key, bool fallback = false) const noexcept {
        const auto json = raw(key);
        return json == "true" || (json != "false" && fallback);
    }
    [[nodiscard]] const std::vector<std::pair<std::string, std::string_view>>& members()
        const noexcept {
        return members_;
    }

  private:
    template <class Number>
    static Number parsed(std::string_view json, Number fallback) noexcept {
        Number number{};
        const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), number);
        return error == std::errc() && end == json.data() + json.size() && !json.empty() ? number
                                                                                         : fallback;
    }

    std::vector<std::pair<std::string, std::string_view>> members_;
};

}  // namespace daybook::json
