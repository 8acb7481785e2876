#include "host/format/json.hpp"
#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::must;

namespace {

/// "" when the value fits.
std::string check(std::string_view schema, std::string_view value) {
    const auto outcome = must(JsonSchema::compile(schema)).check(must(Json::parse(value)));
    return outcome ? "" : outcome.error().message();
}

std::string compile_problem(std::string_view schema) {
    const auto compiled = JsonSchema::compile(schema);
    return compiled ? "" : compiled.error().message();
}

constexpr std::string_view kTool = R"({
  "type":"object","required":["text"],"additionalProperties":false,
  "properties":{
    "text":{"type":"string","minLength":1,"maxLength":5},
    "limit":{"type":"integer","minimum":1,"maximum":500},
    "kind":{"enum":["note","fact"]},
    "tags":{"type":"array","items":{"type":"string"},"maxItems":2,"uniqueItems":true}}})";

}  // namespace

TEST_CASE("arguments that fit their schema pass", "[format]") {
    CHECK(check(kTool, R"({"text":"a"})").empty());
    CHECK(check(kTool, R"({"text":"üüüüü","limit":500,"kind":"fact","tags":["a","b"]})").empty());
    CHECK(check(kTool, R"({"text":"a","limit":5.0})").empty());
}

TEST_CASE("arguments that do not fit are told where and by which rule", "[format]") {
    CHECK(check(kTool, R"({})") == R"("text": missing)");
    CHECK(check(kTool, R"({"text":1})") == R"("text": expected string)");
    CHECK(check(kTool, R"({"text":""})") == R"("text": fewer than 1 characters)");
    CHECK(check(kTool, R"({"text":"abcdef"})") == R"("text": more than 5 characters)");
    CHECK(check(kTool, R"({"text":"a","limit":501})") == R"("limit": over maximum 500)");
    CHECK(check(kTool, R"({"text":"a","limit":0})") == R"("limit": under minimum 1)");
    CHECK(check(kTool, R"({"text":"a","limit":1.5})") == R"("limit": expected integer)");
    CHECK(check(kTool, R"({"text":"a","kind":"x"})") ==
          R"("kind": "x" is not one of ["note","fact"])");
    CHECK(check(kTool, R"({"text":"a","more":1})") == R"("more": unknown)");
    CHECK(check(kTool, R"({"text":"a","tags":["a",2]})") == R"("tags[1]": expected string)");
    CHECK(check(kTool, R"({"text":"a","tags":["a","b","c"]})") == R"("tags": more than 2 items)");
    CHECK(check(kTool, R"({"text":"a","tags":["a","a"]})") == R"("tags": an item stands twice)");
    CHECK(check(kTool, "[]") == "the value: expected object");
}

TEST_CASE("every keyword that is understood is enforced", "[format]") {
    struct Row {
        const char* schema;
        const char* fits;
        const char* breaks;
    };
    const std::vector<Row> rows = {
        {R"({"type":["string","null"]})", "null", "1"},
        {R"({"const":{"a":1,"b":2}})", R"({"b":2,"a":1.0})", R"({"a":1})"},
        {R"({"exclusiveMinimum":5})", "6", "5"},
        {R"({"minimum":5,"exclusiveMinimum":true})", "6", "5"},
        {R"({"exclusiveMaximum":5})", "4.9", "5"},
        {R"({"maximum":5,"exclusiveMaximum":true})", "4", "5"},
        {R"({"multipleOf":0.05})", "24350.15", "24350.17"},
        {R"({"pattern":"^[0-9]{4}$"})", R"("2026")", R"("20266")"},
        {R"({"pattern":"x"})", "5", R"("abc")"},
        {R"({"minItems":1})", "[1]", "[]"},
        {R"({"minProperties":1,"maxProperties":1})", R"({"a":1})", R"({"a":1,"b":2})"},
        {R"({"items":[{"type":"string"}],"additionalItems":false})", R"(["a"])", R"(["a",1])"},
        {R"({"prefixItems":[{"type":"string"}],"items":{"type":"integer"}})",
         R"(["a",1,2])",
         R"(["a","b"])"},
        {R"({"additionalProperties":{"type":"integer"}})", R"({"x":1})", R"({"x":"y"})"},
        {R"({"patternProperties":{"^n_":{"type":"integer"}},"additionalProperties":false})",
         R"({"n_a":1})",
         R"({"a":1})"},
        {R"({"allOf":[{"minimum":1},{"maximum":3}]})", "2", "4"},
        {R"({"anyOf":[{"type":"string"},{"minimum":3}]})", "3", "2"},
        {R"({"oneOf":[{"minimum":3},{"maximum":1}]})", "3", "2"},
        {R"({"oneOf":[{"minimum":3},{"minimum":1}]})", "2", "4"},
        {R"({"not":{"type":"string"}})", "1", R"("x")"},
        {R"({"properties":{"a":false}})", R"({"b":1})", R"({"a":1})"},
        {R"({"$ref":"#/definitions/p","definitions":{"p":{"type":"integer"}}})", "1", R"("x")"},
        {R"({"properties":{"c":{"$ref":"#"}},"required":["v"]})",
         R"({"v":1,"c":{"v":2}})",
         R"({"v":1,"c":{}})"},
    };
    for (const Row& row : rows) {
        INFO(row.schema);
        CHECK(check(row.schema, row.fits).empty());
        CHECK(!check(row.schema, row.breaks).empty());
    }
}

TEST_CASE("a malformed schema is refused with the keyword", "[format]") {
    CHECK(compile_problem(R"({"type":"text"})").find("\"type\"") != std::string::npos);
    CHECK(compile_problem(R"({"properties":[]})").find("\"properties\"") != std::string::npos);
    CHECK(compile_problem(R"({"properties":{"a":{"minLength":-1}}})").find("minLength") !=
          std::string::npos);
    CHECK(compile_problem(R"({"required":"a"})").find("required") != std::string::npos);
    CHECK(compile_problem(R"j({"pattern":"(?=x)"})j").find("pattern") != std::string::npos);
    CHECK(compile_problem(R"({"$ref":"http://example.org/s.json"})").find("$ref") !=
          std::string::npos);
    CHECK(!compile_problem(R"({"$ref":"#/none"})").empty());
    CHECK(!compile_problem(R"({"anyOf":[]})").empty());
    CHECK(!compile_problem(R"({"multipleOf":0})").empty());
    CHECK(!compile_problem(R"([])").empty());
    CHECK(!compile_problem(R"({"type":"object",})").empty());
    std::string deep = "{}";
    for (int i = 0; i < 40; ++i) {
        deep = R"({"not":)" + deep + "}";
    }
    CHECK(compile_problem(deep).find("deeper than 32") != std::string::npos);
    CHECK(compile_problem(R"({"title":"x","format":"date","x-own":{"anything":1}})").empty());
}

TEST_CASE("a schema that runs away is stopped", "[format]") {
    CHECK(check(R"({"$ref":"#"})", "1").find("too complex") != std::string::npos);
    CHECK(check(R"({"allOf":[{"$ref":"#"},{"$ref":"#"}]})", "1").find("too complex") !=
          std::string::npos);
    CHECK(check(R"({"anyOf":[{"$ref":"#"},{"$ref":"#"}]})", "1").find("too complex") !=
          std::string::npos);
    CHECK(check(R"({"not":{"$ref":"#"}})", "1").find("too complex") != std::string::npos);
    std::string items = "[";
    for (int i = 0; i < 5'000; ++i) {
        items += (i == 0 ? "" : ",") + std::to_string(i);
    }
    CHECK(!check(R"({"uniqueItems":true})", items + "]").empty());
}
