// JSON Schema, interpreted over the parsed schema. Everything here may be hostile: the schema comes
// from a plugin, the value from a model. A check has a budget of steps, so that schemas that refer
// to themselves cannot run away.
#include <algorithm>
#include <cmath>

#include "host/format/json.hpp"
#include "host/format/schema_shape.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr int kMaxCheckDepth = 128;
constexpr int kMaxSteps = 200'000;

bool is_type(const Json& value, std::string_view type) {
    switch (value.kind()) {
        case Json::Kind::null:
            return type == "null";
        case Json::Kind::boolean:
            return type == "boolean";
        case Json::Kind::integer:
            return type == "integer" || type == "number";
        case Json::Kind::number:
            return type == "number" ||
                   (type == "integer" && std::trunc(value.as_number()) == value.as_number());
        case Json::Kind::string:
            return type == "string";
        case Json::Kind::array:
            return type == "array";
        case Json::Kind::object:
            return type == "object";
    }
    return false;
}

/// Equality as JSON Schema has it: 1 equals 1.0, members in any order.
bool equal(const Json& a, const Json& b) {
    if (a.is_number() && b.is_number()) {
        return a.kind() == b.kind() && a.kind() == Json::Kind::integer
                   ? a.as_integer() == b.as_integer()
                   : a.as_number() == b.as_number();
    }
    if (a.kind() != b.kind()) {
        return false;
    }
    if (a.is_array()) {
        return std::equal(
            a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), equal);
    }
    if (a.is_object()) {
        return a.members().size() == b.members().size() &&
               std::all_of(a.members().begin(), a.members().end(), [&](const Json::Member& member) {
                   return b.has(member.first) && equal(member.second, b[member.first]);
               });
    }
    return a == b;
}

std::size_t code_points(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
}

std::string shown(const Json& value) {
    return printable(value.dump(), 60);
}

class ValueCheck {
  public:
    ValueCheck(const Json& root, const SchemaPatterns& patterns)
        : root_(root), patterns_(patterns) {}

    bool run(const Json& value) { return check(root_, value); }
    [[nodiscard]] const std::string& problem() const { return problem_; }

  private:
    /// Keeps the first problem, with the path of the value, and returns false.
    bool fail(std::string_view rule) {
        if (problem_.empty()) {
            problem_ = path_.empty() ? "the value" : "\"" + printable(path_, 200) + "\"";
            problem_.append(": ").append(rule);
        }
        return false;
    }

    /// Whether a part matches; its problem is dropped, since the caller has its own sentence.
    bool matches(const Json& schema, const Json& value) {
        const std::string before = problem_;
        const bool matched = check(schema, value);
        if (!exhausted_) {
            problem_ = before;
        }
        return matched;
    }

    bool check(const Json& schema, const Json& value) {
        if (exhausted_ || --steps_ < 0 || depth_ > kMaxCheckDepth) {
            exhausted_ = true;
            return fail("the schema is too complex for this value");
        }
        if (schema.kind() == Json::Kind::boolean) {
            return schema.as_bool() || fail("not allowed");
        }
        ++depth_;
        const bool matched = check_keywords(schema, value);
        --depth_;
        return matched;
    }

    bool check_keywords(const Json& schema, const Json& value) {
        if (schema.has("$ref")) {
            const Json* target = resolve_reference(root_, schema["$ref"].as_string());
            if (target == nullptr || !check(*target, value)) {
                return false;
            }
        }
        if (!check_type(schema, value) || !check_choices(schema, value)) {
            return false;
        }
        bool matched = true;
        switch (value.kind()) {
            case Json::Kind::integer:
            case Json::Kind::number:
                matched = check_number(schema, value);
                break;
            case Json::Kind::string:
                matched = check_text(schema, value.as_string());
                break;
            case Json::Kind::array:
                matched = check_items(schema, value);
                break;
            case Json::Kind::object:
                matched = check_members(schema, value);
                break;
            case Json::Kind::null:
            case Json::Kind::boolean:
                break;
        }
        return matched && check_combined(schema, value);
    }

    bool check_type(const Json& schema, const Json& value) {
        const Json& type = schema["type"];
        if (type.is_null()) {
            return true;
        }
        if (type.is_string()) {
            return is_type(value, type.as_string()) || fail("expected " + type.as_string());
        }
        std::string names;
        for (const Json& name : type.items()) {
            if (is_type(value, name.as_string())) {
                return true;
            }
            names += (names.empty() ? "" : " or ") + name.as_string();
        }
        return fail("expected " + names);
    }

    bool check_choices(const Json& schema, const Json& value) {
        if (schema.has("const") && !equal(schema["const"], value)) {
            return fail("expected " + shown(schema["const"]));
        }
        if (!schema.has("enum")) {
            return true;
        }
        const Json::Array& choices = schema["enum"].items();
        if (std::any_of(choices.begin(), choices.end(), [&](const Json& choice) {
                return equal(choice, value);
            })) {
            return true;
        }
        return fail(shown(value) + " is not one of " + printable(schema["enum"].dump(), 200));
    }

    bool check_number(const Json& schema, const Json& value) {
        const double number = value.as_number();
        if (const Json& low = schema["minimum"]; low.is_number()) {
            const bool exclusive = schema["exclusiveMinimum"].as_bool();
            if (number < low.as_number() || (exclusive && number == low.as_number())) {
                return fail((exclusive ? "not over " : "under minimum ") + low.dump());
            }
        }
        if (const Json& high = schema["maximum"]; high.is_number()) {
            const bool exclusive = schema["exclusiveMaximum"].as_bool();
            if (number > high.as_number() || (exclusive && number == high.as_number())) {
                return fail((exclusive ? "not under " : "over maximum ") + high.dump());
            }
        }
        if (const Json& low = schema["exclusiveMinimum"];
            low.is_number() && number <= low.as_number()) {
            return fail("not over " + low.dump());
        }
        if (const Json& high = schema["exclusiveMaximum"];
            high.is_number() && number >= high.as_number()) {
            return fail("not under " + high.dump());
        }
        if (const Json& step = schema["multipleOf"]; step.is_number()) {
            const double ratio = number / step.as_number();
            if (std::abs(ratio - std::round(ratio)) > 1e-9 * std::max(1.0, std::abs(ratio))) {
                return fail("not a multiple of " + step.dump());
            }
        }
        return true;
    }

    /// `count` against the two keywords; `noun` for the sentence.
    bool check_count(const Json& schema,
                     std::size_t count,
                     std::string_view low_key,
                     std::string_view high_key,
                     std::string_view noun) {
        const auto number = static_cast<std::int64_t>(count);
        if (schema.has(low_key) && number < schema[low_key].as_integer()) {
            return fail("fewer than " + schema[low_key].dump() + " " + std::string(noun));
        }
        if (schema.has(high_key) && number > schema[high_key].as_integer()) {
            return fail("more than " + schema[high_key].dump() + " " + std::string(noun));
        }
        return true;
    }

    bool check_text(const Json& schema, const std::string& text) {
        if ((schema.has("minLength") || schema.has("maxLength")) &&
            !check_count(schema, code_points(text), "minLength", "maxLength", "characters")) {
            return false;
        }
        const Json& pattern = schema["pattern"];
        return !pattern.is_string() || found(pattern.as_string(), text) ||
               fail("does not match the pattern " + printable(pattern.as_string()));
    }

    [[nodiscard]] bool found(const std::string& pattern, const std::string& text) const {
        const auto compiled = patterns_.find(pattern);
        return compiled != patterns_.end() && compiled->second.found_in(text);
    }

    bool check_items(const Json& schema, const Json& value) {
        const Json::Array& items = value.items();
        if (!check_count(schema, items.size(), "minItems", "maxItems", "items")) {
            return false;
        }
        const bool old_form = schema["items"].is_array();
        const Json& first = old_form ? schema["items"] : schema["prefixItems"];
        const std::string_view rest_key = old_form ? "additionalItems" : "items";
        for (std::size_t i = 0; i < items.size(); ++i) {
            const bool in_first = i < first.items().size();
            if (!in_first && !schema.has(rest_key)) {
                break;
            }
            const std::size_t length = path_.size();
            path_.append("[").append(std::to_string(i)).append("]");
            if (!check(in_first ? first.items()[i] : schema[rest_key], items[i])) {
                return false;
            }
            path_.resize(length);
        }
        return !schema["uniqueItems"].as_bool() || check_unique(items);
    }

    bool check_unique(const Json::Array& items) {
        for (std::size_t i = 0; i < items.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (--steps_ < 0) {
                    exhausted_ = true;
                    return fail("too many items to compare");
                }
                if (equal(items[i], items[j])) {
                    return fail("an item stands twice");
                }
            }
        }
        return true;
    }

    bool check_members(const Json& schema, const Json& value) {
        for (const Json& name : schema["required"].items()) {
            if (!value.has(name.as_string())) {
                path_ += (path_.empty() ? "" : ".") + name.as_string();
                return fail("missing");
            }
        }
        if (!check_count(
                schema, value.members().size(), "minProperties", "maxProperties", "members")) {
            return false;
        }
        for (const auto& [name, member] : value.members()) {
            const std::size_t length = path_.size();
            path_ += (path_.empty() ? "" : ".") + name;
            if (!check_member(schema, name, member)) {
                return false;
            }
            path_.resize(length);
        }
        return true;
    }

    bool check_member(const Json& schema, const std::string& name, const Json& member) {
        bool known = false;
        if (schema["properties"].has(name)) {
            known = true;
            if (!check(schema["properties"][name], member)) {
                return false;
            }
        }
        for (const auto& [pattern, part] : schema["patternProperties"].members()) {
            if (found(pattern, name)) {
                known = true;
                if (!check(part, member)) {
                    return false;
                }
            }
        }
        const Json& others = schema["additionalProperties"];
        if (known || !schema.has("additionalProperties")) {
            return true;
        }
        if (others.kind() == Json::Kind::boolean) {
            return others.as_bool() || fail("unknown");
        }
        return check(others, member);
    }

    bool check_combined(const Json& schema, const Json& value) {
        for (const Json& part : schema["allOf"].items()) {
            if (!check(part, value)) {
                return false;
            }
        }
        const auto matching = [&](std::string_view key) {
            const Json::Array& parts = schema[key].items();
            return std::count_if(parts.begin(), parts.end(), [&](const Json& part) {
                const std::string path = path_;
                const bool matched = matches(part, value);
                path_ = path;
                return matched;
            });
        };
        if (schema.has("anyOf") && matching("anyOf") == 0) {
            return fail("matches none of the forms allowed");
        }
        if (schema.has("oneOf")) {
            const auto count = matching("oneOf");
            if (count != 1) {
                return fail(count == 0 ? "matches none of the forms allowed"
                                       : "matches more than one form");
            }
        }
        if (schema.has("not")) {
            const std::string path = path_;
            const bool matched = matches(schema["not"], value);
            path_ = path;
            return exhausted_ ? false : !matched || fail("has a form that is not allowed");
        }
        return !exhausted_;
    }

    const Json& root_;
    const SchemaPatterns& patterns_;
    std::string path_;
    std::string problem_;
    int steps_ = kMaxSteps;
    int depth_ = 0;
    bool exhausted_ = false;
};

}  // namespace

struct JsonSchema::Impl {
    Json root;
    SchemaPatterns patterns;
};

Result<JsonSchema> JsonSchema::compile(std::string_view schema_text) {
    auto root = Json::parse(schema_text);
    if (!root) {
        return Error(Errc::invalid, "schema: " + root.error().message());
    }
    auto impl = std::make_shared<Impl>();
    impl->root = std::move(*root);
    if (auto sound = check_schema_shape(impl->root, impl->patterns); !sound) {
        return sound.error();
    }
    return JsonSchema(std::move(impl));
}

Result<> JsonSchema::check(const Json& value) const {
    ValueCheck check(impl_->root, impl_->patterns);
    if (!check.run(value)) {
        return Error(Errc::invalid, check.problem());
    }
    return {};
}

}  // namespace daybook
