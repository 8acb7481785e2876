// JSON: checked reading with limits, and writing. RapidJSON behind a door; its asserts throw and
// never reach a caller that uses the functions here.
//
// Reading refuses what two parsers could read differently: duplicate keys, NaN, trailing text,
// invalid UTF-8, lone surrogates, NUL in strings, depth over the limit. Thread: [any].
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <daybook/result.hpp>

namespace daybook {

struct JsonLimits {
    std::size_t max_bytes = 1024UL * 1024;
    int max_depth = 64;
    std::size_t max_string_bytes = 256UL * 1024;
};

/// An immutable-by-convention JSON value with value semantics. Object members keep their order.
class Json {
  public:
    enum class Kind { null, boolean, integer, number, string, array, object };
    using Array = std::vector<Json>;
    using Member = std::pair<std::string, Json>;
    using Object = std::vector<Member>;

    Json() = default;  ///< null
    Json(bool value)
        : kind_(Kind::boolean), boolean_(value) {}  // NOLINT(google-explicit-constructor)
    Json(std::int64_t value)
        : kind_(Kind::integer), integer_(value) {}  // NOLINT(google-explicit-constructor)
    Json(int value)
        : Json(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
    Json(std::size_t value)
        : Json(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
    Json(double value)
        : kind_(Kind::number), number_(value) {}  // NOLINT(google-explicit-constructor)
    Json(std::string value)
        : kind_(Kind::string), string_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
    Json(std::string_view value)
        : Json(std::string(value)) {}                      // NOLINT(google-explicit-constructor)
    Json(const char* value) : Json(std::string(value)) {}  // NOLINT(google-explicit-constructor)
    static Json array(Array items = {});
    static Json object(Object members = {});

    /// Errors: invalid, with line and column and what was expected; full (over max_bytes).
    static Result<Json> parse(std::string_view text, const JsonLimits& limits = {});
    /// One line, no spaces, members in their order, numbers in the shortest form that reads back
    /// the same. Bytes that are not UTF-8 become U+FFFD, a number that is not finite becomes null.
    [[nodiscard]] std::string dump() const;
    /// Indented by two spaces.
    [[nodiscard]] std::string dump_pretty() const;

    [[nodiscard]] Kind kind() const noexcept { return kind_; }
    [[nodiscard]] bool is_null() const noexcept { return kind_ == Kind::null; }
    [[nodiscard]] bool is_string() const noexcept { return kind_ == Kind::string; }
    [[nodiscard]] bool is_object() const noexcept { return kind_ == Kind::object; }
    [[nodiscard]] bool is_array() const noexcept { return kind_ == Kind::array; }
    [[nodiscard]] bool is_number() const noexcept {
        return kind_ == Kind::integer || kind_ == Kind::number;
    }

    /// The value, or the fallback when the kind is another. Never throws.
    [[nodiscard]] bool as_bool(bool fallback = false) const noexcept;
    [[nodiscard]] std::int64_t as_integer(std::int64_t fallback = 0) const noexcept;
    [[nodiscard]] double as_number(double fallback = 0) const noexcept;
    [[nodiscard]] const std::string& as_string() const noexcept;  ///< "" for another kind
    [[nodiscard]] const Array& items() const noexcept;            ///< empty for another kind
    [[nodiscard]] const Object& members() const noexcept;         ///< empty for another kind

    /// The member of that name, or a null value. For chains: j["a"]["b"].as_string().
    [[nodiscard]] const Json& operator[](std::string_view key) const noexcept;
    [[nodiscard]] bool has(std::string_view key) const noexcept;
    /// Adds or replaces a member; returns *this for chaining. A null value becomes an object first.
    Json& set(std::string_view key, Json value);
    /// Adds a member that is known to be new, without looking for it. Only on an object.
    Json& append_member(std::string key, Json value);
    /// Appends an item. A null value becomes an array first.
    Json& push(Json value);

    friend bool operator==(const Json&, const Json&) = default;

  private:
    Kind kind_ = Kind::null;
    bool boolean_ = false;
    std::int64_t integer_ = 0;
    double number_ = 0;
    std::string string_;
    Array array_;
    Object object_;
};

/// Checks a value against a JSON Schema. Compiles once, checks often, from any thread.
///
/// Understands what the drafts from 4 on have in common: type, enum, const, properties, required,
/// additionalProperties, patternProperties, min/maxProperties, items (a schema or a list),
/// prefixItems, additionalItems, min/maxItems, uniqueItems, min/maxLength, pattern, minimum,
/// maximum, exclusiveMinimum/Maximum (both forms), multipleOf, allOf, anyOf, oneOf, not, and $ref
/// inside the schema. Other keywords are ignored. Our own, since schemas come from plugins:
/// RapidJSON's checker recurses without a bound, its patterns are not safe to share, and it does
/// not say which member is missing.
class JsonSchema {
  public:
    /// Errors: invalid (the schema is malformed, nested deeper than 32, refers outside itself, or
    /// has a pattern that is not understood).
    static Result<JsonSchema> compile(std::string_view schema_text);
    /// Errors: invalid, with the path of the value and the rule it breaks: `"text": missing`,
    /// `"limit": over maximum 500`.
    [[nodiscard]] Result<> check(const Json& value) const;

  private:
    struct Impl;
    explicit JsonSchema(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
};

/// Whether the bytes are well-formed UTF-8 (no surrogates, no overlong forms).
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

}  // namespace daybook
