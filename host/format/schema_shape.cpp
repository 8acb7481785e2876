#include "host/format/schema_shape.hpp"

#include <algorithm>
#include <array>

namespace daybook {
namespace {

constexpr int kMaxSchemaDepth = 32;

constexpr std::array<std::string_view, 7> kTypes = {
    "null", "boolean", "integer", "number", "string", "array", "object"};

class SchemaCheck {
  public:
    SchemaCheck(const Json& root, SchemaPatterns& patterns) : root_(root), patterns_(patterns) {}

    Result<> run() {
        visit(root_, 0);
        if (!problem_.empty()) {
            return Error(Errc::invalid, "schema: " + problem_);
        }
        return {};
    }

  private:
    void fail(std::string_view keyword, std::string_view expected) {
        if (problem_.empty()) {
            problem_ = "\"" + std::string(keyword) + "\": expected " + std::string(expected);
        }
    }

    void visit(const Json& schema, int depth) {
        if (depth > kMaxSchemaDepth) {
            problem_ = problem_.empty() ? "nested deeper than 32" : problem_;
            return;
        }
        if (schema.kind() == Json::Kind::boolean) {
            return;
        }
        if (!schema.is_object()) {
            problem_ = problem_.empty() ? "expected an object, true or false" : problem_;
            return;
        }
        check_type(schema);
        check_numbers(schema);
        check_lists(schema, depth);
        check_maps(schema, depth);
        check_reference(schema);
        add_pattern(schema["pattern"], "pattern");
        for (const std::string_view key : {"additionalProperties", "additionalItems", "not"}) {
            if (schema.has(key)) {
                visit(schema[key], depth + 1);
            }
        }
    }

    void check_type(const Json& schema) {
        const Json& type = schema["type"];
        const auto known = [](const Json& name) {
            return std::find(kTypes.begin(), kTypes.end(), name.as_string()) != kTypes.end();
        };
        const bool list =
            type.is_array() && std::all_of(type.items().begin(), type.items().end(), known);
        if (schema.has("type") && !list && !(type.is_string() && known(type))) {
            fail("type", "the name of a JSON type, or a list of them");
        }
        if (schema.has("enum") && !schema["enum"].is_array()) {
            fail("enum", "a list");
        }
    }

    void check_numbers(const Json& schema) {
        for (const std::string_view key :
             {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}) {
            if (schema.has(key) && schema[key].as_integer(-1) < 0) {
                fail(key, "an integer from 0");
            }
        }
        for (const std::string_view key : {"minimum", "maximum"}) {
            if (schema.has(key) && !schema[key].is_number()) {
                fail(key, "a number");
            }
        }
        for (const std::string_view key : {"exclusiveMinimum", "exclusiveMaximum"}) {
            if (schema.has(key) && !schema[key].is_number() &&
                schema[key].kind() != Json::Kind::boolean) {
                fail(key, "a number, true or false");
            }
        }
        if (schema.has("multipleOf") && !(schema["multipleOf"].as_number(-1) > 0)) {
            fail("multipleOf", "a number over 0");
        }
    }

    void check_lists(const Json& schema, int depth) {
        const Json& required = schema["required"];
        if (schema.has("required") &&
            !(required.is_array() &&
              std::all_of(required.items().begin(), required.items().end(), [](const Json& name) {
                  return name.is_string();
              }))) {
            fail("required", "a list of names");
        }
        for (const std::string_view key : {"allOf", "anyOf", "oneOf", "prefixItems"}) {
            if (schema.has(key) && (!schema[key].is_array() || schema[key].items().empty())) {
                fail(key, "a list of schemas");
            }
            for (const Json& part : schema[key].items()) {
                visit(part, depth + 1);
            }
        }
        const Json& items = schema["items"];
        if (items.is_array()) {
            for (const Json& part : items.items()) {
                visit(part, depth + 1);
            }
        } else if (schema.has("items")) {
            visit(items, depth + 1);
        }
    }

    void check_maps(const Json& schema, int depth) {
        for (const std::string_view key :
             {"properties", "patternProperties", "definitions", "$defs"}) {
            if (schema.has(key) && !schema[key].is_object()) {
                fail(key, "an object of schemas");
            }
            for (const auto& [name, part] : schema[key].members()) {
                if (key == "patternProperties") {
                    add_pattern(Json(name), key);
                }
                visit(part, depth + 1);
            }
        }
    }

    void check_reference(const Json& schema) {
        if (!schema.has("$ref")) {
            return;
        }
        const Json* target = resolve_reference(root_, schema["$ref"].as_string());
        if (!schema["$ref"].is_string() || target == nullptr ||
            !(target->is_object() || target->kind() == Json::Kind::boolean)) {
            fail("$ref", "a place inside this schema, such as #/definitions/name");
        }
    }

    void add_pattern(const Json& pattern, std::string_view keyword) {
        if (pattern.is_null()) {
            return;
        }
        if (!pattern.is_string()) {
            fail(keyword, "a regular expression");
            return;
        }
        if (patterns_.contains(pattern.as_string())) {
            return;
        }
        auto compiled = TextPattern::compile(pattern.as_string());
        if (!compiled) {
            problem_ = problem_.empty() ? compiled.error().message() : problem_;
            return;
        }
        patterns_.emplace(pattern.as_string(), std::move(*compiled));
    }

    const Json& root_;
    SchemaPatterns& patterns_;
    std::string problem_;
};

}  // namespace

const Json* resolve_reference(const Json& root, std::string_view reference) {
    if (!reference.starts_with("#")) {
        return nullptr;
    }
    reference.remove_prefix(1);
    const Json* at = &root;
    while (!reference.empty()) {
        if (reference.front() != '/') {
            return nullptr;
        }
        const std::size_t end = std::min(reference.find('/', 1), reference.size());
        std::string key;
        for (std::size_t i = 1; i < end; ++i) {
            const bool escaped = reference[i] == '~' && i + 1 < end;
            key += !escaped ? reference[i] : reference[++i] == '1' ? '/' : '~';
        }
        if (!at->is_object() || !at->has(key)) {
            return nullptr;
        }
        at = &(*at)[key];
        reference.remove_prefix(end);
    }
    return at;
}

Result<> check_schema_shape(const Json& root, SchemaPatterns& patterns) {
    return SchemaCheck(root, patterns).run();
}

}  // namespace daybook
