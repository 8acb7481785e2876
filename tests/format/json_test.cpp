#include "host/format/json.hpp"

#include <limits>

#include "host/format/sha256.hpp"
#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::must;

namespace {

std::string problem(std::string_view text, const JsonLimits& limits = {}) {
    const auto parsed = Json::parse(text, limits);
    return parsed ? "" : parsed.error().message();
}

}  // namespace

TEST_CASE("JSON reads and writes back the same, members in their order", "[format]") {
    for (const std::string text : {R"({"b":1,"a":[true,false,null,"x",-7,1.5]})",
                                   R"([])",
                                   R"({})",
                                   R"("")",
                                   R"([[[]],{"a":{}}])",
                                   R"(9223372036854775807)",
                                   R"(-9223372036854775808)",
                                   R"(0.1)",
                                   R"(1e+300)",
                                   R"("\"\\\n\t\r\u0001/")",
                                   R"("ü😀")"}) {
        INFO(text);
        CHECK(must(Json::parse(text)).dump() == text);
    }
    CHECK(must(Json::parse(" { \"a\" : 1 } \n")).dump() == R"({"a":1})");
    CHECK(must(Json::parse(R"("\u00fc\ud83d\ude00")")).as_string() == "ü😀");
    CHECK(must(Json::parse(R"({"a":{"b":[1,2]},"c":[]})")).dump_pretty() ==
          "{\n  \"a\": {\n    \"b\": [\n      1,\n      2\n    ]\n  },\n  \"c\": []\n}");
}

TEST_CASE("numbers keep their kind: what fits 64 bits is an integer", "[format]") {
    CHECK(must(Json::parse("5")).kind() == Json::Kind::integer);
    CHECK(must(Json::parse("5.0")).kind() == Json::Kind::number);
    CHECK(must(Json::parse("5.0")).dump() == "5.0");
    CHECK(must(Json::parse("9223372036854775808")).kind() == Json::Kind::number);
    CHECK(must(Json::parse("5.0")).as_integer() == 5);
    CHECK(must(Json::parse("5.5")).as_integer(-1) == -1);
    CHECK(must(Json::parse("1e300")).as_integer(-1) == -1);
    CHECK(must(Json::parse("9223372036854775808")).as_integer(-1) == -1);
    CHECK(must(Json::parse("7")).as_number() == 7.0);
    CHECK(Json(std::numeric_limits<double>::quiet_NaN()).dump() == "null");
    CHECK(Json(std::numeric_limits<double>::infinity()).dump() == "null");
    for (const double value : {0.1, 1.0 / 3, 24350.5, 5e-324, 1.7976931348623157e308}) {
        CHECK(must(Json::parse(Json(value).dump())).as_number() == value);
    }
}

TEST_CASE("a number is the double nearest to what was written, whatever its form", "[format]") {
    for (const auto& [text, value] : std::vector<std::pair<std::string, double>>{
             {"0.0e120", 0},
             {"-0.00e300", 0},
             {"0e-400", 0},
             {"1e-400", 0},
             {"5e-324", 5e-324},
             {"123456789012345678901234567890", 123456789012345678901234567890.0},
             {"0.1", 0.1},
             {"24350.50", 24350.5},
             {"179769313486231570e291", 1.7976931348623157e308},
             {"9007199254740993.0", 9007199254740992.0}}) {
        INFO(text);
        const auto parsed = Json::parse(text);
        REQUIRE(parsed);
        CHECK(parsed->as_number(1) == value);
    }
    CHECK(!Json::parse("1e309"));
    CHECK(!Json::parse(std::string(400, '9')));
}

TEST_CASE("what two readers could read differently is refused", "[format]") {
    for (const std::string text : {R"({"a":1,"a":2})",
                                   R"({"a":1,"b":{"x":1,"y":2,"x":3}})",
                                   R"({"\u0061":1,"a":2})",
                                   "[1]x",
                                   "[1] [2]",
                                   "NaN",
                                   "[Infinity]",
                                   "{a:1}",
                                   "[1,]",
                                   "{\"a\":1,}",
                                   "'x'",
                                   "[01]",
                                   "[+1]",
                                   "[.5]",
                                   "[1.]",
                                   "// c\n1",
                                   "",
                                   "  ",
                                   "[1",
                                   "{\"a\"",
                                   "\"x",
                                   "[1e999]",
                                   R"("\ud800")",
                                   R"("\udc00")",
                                   R"("\ud800\u0041")",
                                   R"("\u0000")",
                                   R"("\x")",
                                   "\"a\tb\"",
                                   "\xEF\xBB\xBF{}"}) {
        INFO(text);
        const auto parsed = Json::parse(text);
        REQUIRE(!parsed);
        CHECK(parsed.error().code() == Errc::invalid);
    }
    CHECK(!Json::parse("\"\xff\""));
    CHECK(!Json::parse("\"\xED\xA0\x80\""));
    CHECK(!Json::parse(std::string_view("[1]\0[2]", 7)));
    CHECK(!Json::parse(std::string_view("\"a\0b\"", 5)));
}

TEST_CASE("a problem is told with line and column", "[format]") {
    CHECK(problem("{\n  \"a\": 1,\n  \"b\" 2\n}") ==
          "JSON, line 3, column 7: Missing a colon after a name of object member");
    CHECK(problem(R"({"a":1,"a":2})") ==
          "JSON, line 1, column 13: the key \"a\" stands twice in one object");
    CHECK(problem("[\"x\xff\"]") == "JSON, line 1, column 4: not valid UTF-8");
}

TEST_CASE("depth, length and strings have limits", "[format]") {
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '[') +
               std::string(static_cast<std::size_t>(depth), ']');
    };
    CHECK(problem(nested(64)).empty());
    CHECK(problem(nested(65)).find("deeper than 64") != std::string::npos);
    CHECK(!problem(nested(500'000)).empty());  // and no stack is used up
    const auto large = Json::parse(std::string(1024 * 1024 + 1, ' '));
    REQUIRE(!large);
    CHECK(large.error().code() == Errc::full);
    JsonLimits limits;
    limits.max_string_bytes = 4;
    CHECK(problem(R"("abcd")", limits).empty());
    CHECK(!problem(R"("abcde")", limits).empty());
    CHECK(!problem(R"({"abcde":1})", limits).empty());
}

TEST_CASE("an object with many keys is checked in reasonable time", "[format]") {
    std::string text = "{";
    for (int i = 0; i < 60'000; ++i) {
        text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":1";
    }
    CHECK(problem(text + "}").empty());
    CHECK(!problem(text + ",\"k77\":1}").empty());
}

TEST_CASE("a value is reached without ceremony and never throws", "[format]") {
    const Json json = must(Json::parse(R"({"a":{"b":"x"},"n":3,"t":true,"l":[1,"two"]})"));
    CHECK(json["a"]["b"].as_string() == "x");
    CHECK(json["none"]["deeper"].is_null());
    CHECK(json["n"].as_string().empty());
    CHECK(json["t"].as_bool());
    CHECK(json["a"].as_bool(true));
    CHECK(json["l"].items().size() == 2);
    CHECK(json["n"].items().empty());
    CHECK(json.has("n"));
    CHECK(!json.has("x"));
    CHECK(!json["n"].has("x"));
    Json built;
    built.set("list", Json().push(1).push("a"))
        .set("list", Json::array({Json(2)}))
        .set("size", std::size_t{3});
    CHECK(built.dump() == R"({"list":[2],"size":3})");
    CHECK(built == must(Json::parse(R"({"list":[2],"size":3})")));
    CHECK(built != must(Json::parse(R"({"size":3,"list":[2]})")));
}

TEST_CASE("what is written is always valid UTF-8", "[format]") {
    const std::string text = Json("a\xff\xC3z").dump();
    CHECK(is_utf8(text));
    CHECK(must(Json::parse(text)).as_string() == "a\xEF\xBF\xBD\xEF\xBF\xBDz");
    CHECK(is_utf8("ü😀"));
    CHECK(!is_utf8("\xC0\x80"));
}

TEST_CASE("SHA-256 gives the published digests", "[format]") {
    CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(sha256_hex(std::string(1'000'000, 'a')) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}
