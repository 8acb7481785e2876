// The plugin author's JSON: what is written reads back, and no bytes make the reader fall over.
#include "host/format/json.hpp"

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include <daybook/json.hpp>

#include "tests/catch.hpp"

using namespace daybook::json;  // NOLINT(google-build-using-namespace)

TEST_CASE("text survives quoting and reading", "[sdk]") {
    for (const std::string& text : {std::string(),
                                    std::string("plain"),
                                    std::string("\"\\/\b\f\n\r\t"),
                                    std::string("\0\x01\x1f", 3),
                                    std::string("नोट – 😀")}) {
        const std::string quoted = quote(text);
        INFO(quoted);
        CHECK(text_of(quoted) == text);
        if (text.find('\0') == std::string::npos) {  // the host refuses NUL in strings
            const auto parsed = daybook::Json::parse(quoted);
            REQUIRE(parsed);
            CHECK(parsed->as_string() == text);
        }
    }
}

TEST_CASE("bytes that are not UTF-8 become the replacement character", "[sdk]") {
    for (const std::string bytes :
         {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"}) {
        const std::string quoted = quote(bytes);
        INFO(quoted);
        CHECK(daybook::is_utf8(quoted));
        CHECK(quoted.find("\xEF\xBF\xBD") != std::string::npos);
    }
    CHECK(quote("a\xff"
                "b") ==
          "\"a\xEF\xBF\xBD"
          "b\"");
}

TEST_CASE("values are written in the shortest form that reads back", "[sdk]") {
    CHECK(value(0.1) == "0.1");
    CHECK(value(24350.5) == "24350.5");
    CHECK(value(std::numeric_limits<double>::quiet_NaN()) == "null");
    CHECK(value(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
    CHECK(value(true) == "true");
    CHECK(ObjectWriter().str() == "{}");
    CHECK(ArrayWriter().str() == "[]");
    CHECK(ObjectWriter()
              .add("a\"", "b")
              .add("n", 1)
              .add_raw("list", ArrayWriter().add(1.5).add("x").str())
              .str() == R"({"a\"":"b","n":1,"list":[1.5,"x"]})");
}

TEST_CASE("members are read by name and kind", "[sdk]") {
    const ObjectReader in(
        R"( { "t" : "x,\"}{" , "n":-7,"d":2.5,"b":true,"o":{"a":[1,{"b":"]"}]},"nul":null,"u":"\ud83d\ude00\u0041" } )");
    CHECK(in.text("t") == "x,\"}{");
    CHECK(in.integer("n") == -7);
    CHECK(in.number("d") == 2.5);
    CHECK(in.number("n") == -7);
    CHECK(in.boolean("b"));
    CHECK(in.raw("o") == R"({"a":[1,{"b":"]"}]})");
    CHECK(in.text("u") == "😀A");
    CHECK(in.members().size() == 7);
    CHECK(in.has("nul"));
    CHECK_FALSE(in.has("absent"));
    CHECK(in.text("n", "fallback") == "fallback");
    CHECK(in.integer("d", 3) == 3);
    CHECK(in.integer("absent", 4) == 4);
    CHECK(in.boolean("absent", true));
    CHECK(items_of(ObjectReader(in.raw("o")).raw("a")).size() == 2);
    CHECK(items_of("[]").empty());
    CHECK(items_of("7").empty());
    CHECK(ObjectReader("{}").members().empty());
}

TEST_CASE("malformed text throws and never reads outside", "[sdk]") {
    for (const char* text : {"",
                             "7",
                             "{",
                             "{\"a\"",
                             "{\"a\":",
                             "{\"a\":1",
                             "{\"a\":1,",
                             "{\"a\":\"",
                             "{\"a\":\"\\",
                             "{a:1}",
                             "{\"a\":[1}",
                             "{,}",
                             "{\"a\":}",
                             "{\"\\u12\":1}",
                             "{\"a\":1 \"b\":2}"}) {
        INFO(text);
        bool threw = false;
        try {
            const ObjectReader in(text);
            static_cast<void>(in.text("a"));
        } catch (const std::invalid_argument&) {
            threw = true;
        }
        // Mismatched brackets inside a value are the host's to refuse; they must only be harmless
        // here.
        CHECK((threw || std::string(text) == "{\"a\":[1}"));
    }
    const std::string whole = R"({"a":{"b":["c\u00e9",1.5e3,true,null]},"d":"\\\""})";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const std::string cut = whole.substr(0, length);
        CHECK_THROWS_AS(ObjectReader(cut), std::invalid_argument);
    }
}
