#include "host/check/schema_fuzz.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace daybook::check {
namespace {

constexpr int kMaxDepth = 6;
constexpr std::uint64_t kMaxItems = 4;
constexpr std::int64_t kWide = 1'000'000;

/// Text that has broken parsers, or that the trade is full of.
constexpr std::array<std::string_view, 14> kTexts{"",
                                                  "a",
                                                  "NIFTY 50",
                                                  "L&T",
                                                  "24,350.50",
                                                  "notes/2026-10-19.md",
                                                  "../../etc/passwd",
                                                  "\"; drop table notes; --",
                                                  "{\"a\":[",
                                                  "line one\nline two\r\n\ttab",
                                                  "\xE2\x82\xB9 1,00,000",
                                                  "\xF0\x9F\x92\xB9\xE2\x80\xAE",
                                                  "%s%n%p",
                                                  "2026-02-30T25:61:00+99:99"};

std::int64_t bound(const Json& schema, std::string_view name, std::int64_t otherwise) {
    const Json& value = schema[name];
    return value.is_null() ? otherwise : value.as_integer(otherwise);
}

}  // namespace

const Json& ArgumentMaker::resolved(const Json& schema) const {
    const std::string& reference = schema["$ref"].as_string();
    const Json* at = &schema;
    if (reference.starts_with("#/")) {
        at = &schema_;
        for (std::size_t start = 2; start <= reference.size();) {
            const std::size_t end = std::min(reference.find('/', start), reference.size());
            at = &(*at)[reference.substr(start, end - start)];
            start = end + 1;
        }
    }
    return *at;
}

Json ArgumentMaker::make(const Json& given, int depth) {
    const Json& schema = resolved(given);
    if (schema.has("const")) {
        return schema["const"];
    }
    if (const auto& choices = schema["enum"].items(); !choices.empty()) {
        return choices[pick(choices.size())];
    }
    for (const char* any : {"anyOf", "oneOf"}) {
        if (const auto& choices = schema[any].items(); !choices.empty() && depth < kMaxDepth) {
            return make(choices[pick(choices.size())], depth + 1);
        }
    }
    std::string type = schema["type"].as_string();
    if (const auto& types = schema["type"].items(); !types.empty()) {
        type = types[pick(types.size())].as_string();
    }
    if (type == "object" || (type.empty() && schema.has("properties"))) {
        return make_object(schema, depth);
    }
    if (type == "array") {
        const std::uint64_t least = static_cast<std::uint64_t>(bound(schema, "minItems", 0));
        const std::uint64_t most = static_cast<std::uint64_t>(
            bound(schema, "maxItems", static_cast<std::int64_t>(least + kMaxItems)));
        Json list = Json::array();
        const std::uint64_t count = depth >= kMaxDepth ? least : least + pick(most - least + 1);
        for (std::uint64_t i = 0; i < count; ++i) {
            list.push(make(schema["items"], depth + 1));
        }
        return list;
    }
    if (type == "integer" || type == "number") {
        return make_number(schema, type == "integer");
    }
    if (type == "boolean") {
        return Json(pick(2) == 1);
    }
    return type == "null" ? Json() : Json(make_text(schema));
}

Json ArgumentMaker::make_object(const Json& schema, int depth) {
    Json object = Json::object();
    const auto& required = schema["required"].items();
    for (const auto& [name, property] : schema["properties"].members()) {
        const bool needed =
            std::any_of(required.begin(), required.end(), [&, &key = name](const Json& each) {
                return each.as_string() == key;
            });
        if (needed || (depth < kMaxDepth && pick(3) != 0)) {
            object.set(name, make(property, depth + 1));
        }
    }
    return object;
}

Json ArgumentMaker::make_number(const Json& schema, bool whole) {
    std::int64_t least = bound(schema, "minimum", -kWide);
    std::int64_t most = bound(schema, "maximum", std::max(least, kWide));
    least = std::max(least, bound(schema, "exclusiveMinimum", least - 1) + 1);
    most = std::min(most, bound(schema, "exclusiveMaximum", most + 1) - 1);
    if (most < least) {
        return Json(least);
    }
    const std::int64_t number =
        pick(4) == 0 ? least
        : pick(4) == 0
            ? most
            : least + static_cast<std::int64_t>(pick(static_cast<std::uint64_t>(most - least) + 1));
    if (whole || number == most || pick(2) == 0) {
        return Json(number);
    }
    return Json(static_cast<double>(number) + static_cast<double>(pick(1000)) / 1000.0);
}

std::string ArgumentMaker::make_text(const Json& schema) {
    const auto least = static_cast<std::size_t>(bound(schema, "minLength", 0));
    const auto most = static_cast<std::size_t>(bound(schema, "maxLength", 5000));
    std::string text(kTexts[pick(kTexts.size())]);
    if (pick(12) == 0) {
        text = std::string(most, 'x');  // just as long as it may be
    }
    while (text.size() < least) {
        text += "abc ";
    }
    if (text.size() > most) {  // cut where no character is split
        text = std::string(most, 'y');
    }
    return text;
}

std::string ArgumentMaker::garbage() {
    std::string text = fitting().dump();
    switch (pick(6)) {
        case 0:
            return text.substr(0, pick(text.size() + 1));
        case 1:
            return std::string(pick(3000) + 1, '[');
        case 2:
            text.insert(pick(text.size() + 1), 1, '\0');
            return text;
        case 3:
            return "{\"text\":\"\xFF\xFE\xC0\x80\"}";
        case 4:
            return pick(2) == 0 ? "" : "null";
        default:
            break;
    }
    for (std::uint64_t i = 0; i < 3 && !text.empty(); ++i) {
        text[pick(text.size())] = static_cast<char>(pick(256));
    }
    return text;
}

}  // namespace daybook::check
