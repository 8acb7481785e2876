#include "host/check/schema_fuzz.hpp"

#include <set>

#include "tests/catch.hpp"

using namespace daybook;

namespace {

constexpr const char* kSchema = R"({"type":"object","required":["text","kind","list"],
    "properties":{"text":{"type":"string","minLength":1,"maxLength":8},
                  "kind":{"enum":["a","b"]},
                  "count":{"type":"integer","minimum":-2,"maximum":3},
                  "ratio":{"type":"number","minimum":0,"exclusiveMaximum":1},
                  "flag":{"type":["boolean","null"]},
                  "list":{"type":"array","minItems":1,"maxItems":3,"items":{"$ref":"#/$defs/one"}},
                  "any":{"anyOf":[{"const":7},{"type":"object","properties":{"x":{"type":"integer"}}}]}},
    "additionalProperties":false,"$defs":{"one":{"type":"string","maxLength":3}}})";

Json schema() {
    auto json = Json::parse(kSchema);
    REQUIRE(json);
    return *json;
}

}  // namespace

TEST_CASE("arguments made for a schema fit it but for text counted in characters", "[check]") {
    auto compiled = JsonSchema::compile(kSchema);
    REQUIRE(compiled);
    check::ArgumentMaker maker(schema(), 7);
    int fit = 0;
    std::set<std::string> different;
    std::set<std::string> members;
    for (int i = 0; i < 500; ++i) {
        const Json made = maker.fitting();
        different.insert(made.dump());
        for (const auto& [name, value] : made.members()) {
            members.insert(name);
        }
        fit += compiled->check(made) ? 1 : 0;
    }
    CHECK(fit > 480);
    CHECK(different.size() > 300);
    CHECK(members.size() == 7);
}

TEST_CASE("the same seed makes the same arguments and the same garbage, another one others",
          "[check]") {
    check::ArgumentMaker one(schema(), 1);
    check::ArgumentMaker same(schema(), 1);
    check::ArgumentMaker other(schema(), 2);
    int differ = 0;
    for (int i = 0; i < 50; ++i) {
        const std::string made = one.fitting().dump();
        CHECK(made == same.fitting().dump());
        differ += made == other.fitting().dump() ? 0 : 1;
        CHECK(one.garbage() == same.garbage());
        static_cast<void>(other.garbage());
    }
    CHECK(differ > 25);
}
