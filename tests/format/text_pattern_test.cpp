#include "host/format/text_pattern.hpp"

#include <regex>

#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using daybook::test::must;

namespace {

bool found(std::string_view pattern, std::string_view text) {
    return must(TextPattern::compile(pattern)).found_in(text);
}

}  // namespace

TEST_CASE("patterns match as the standard's expressions do", "[format]") {
    // The reference is std::regex on texts short enough for it.
    const std::vector<std::string> patterns = {
        "",         "a",         "abc",         "a|b",        "ab|cd|",
        "a*",       "a+",        "a?b",         "^a",         "a$",
        "^a$",      "^$",        "^a|b$",       ".",          "^.$",
        "a.c",      "[abc]",     "[^abc]",      "[a-c]+$",    "[a-z0-9_]",
        "[-a]",     "[a-]",      "[]]?a",       "a{2}",       "a{2,}",
        "^a{2,3}$", "^(ab)+$",   "^(?:a|b)*c$", "(a|b)(c|d)", "\\d",
        "\\D",      "^\\w+$",    "\\W",         "\\s",        "^\\S+$",
        "\\.",      "\\\\",      "[\\d.]+$",    "[\\]]",      "a*?b",
        "^(a*)*$",  "^(a|aa)+$", "(^a|b)c",     "x{0}y",      "^[A-Za-z_][A-Za-z0-9_]*$",
        "\\x41",    "\\u0041"};
    const std::vector<std::string> texts = {"",    "a",    "b",   "c",  "ab",  "aa",  "aaa", "aaaa",
                                            "abc", "abab", "abd", "cd", "bc",  "ac",  "a.c", "axc",
                                            "A",   "a1",   "_x9", "12", "1.5", "-",   "]",   "\\",
                                            " ",   "a b",  "\n",  "y",  "xy",  "Z_9", "aaab"};
    for (const std::string& pattern : patterns) {
        if (pattern == "[]]?a") {
            continue;  // an empty class in ECMAScript; std::regex differs between libraries
        }
        const std::regex reference(pattern, std::regex::ECMAScript);
        for (const std::string& text : texts) {
            INFO(pattern << " on " << text);
            CHECK(found(pattern, text) == std::regex_search(text, reference));
        }
    }
}

TEST_CASE("patterns work on code points, not on bytes", "[format]") {
    CHECK(found("^.$", "ü"));
    CHECK(found("^.{3}$", "नोट"));
    CHECK(found("^[ä-ü]$", "ö"));
    CHECK(!found("^[ä-ü]$", "z"));
    CHECK(found("^[^a]$", "😀"));
    CHECK(!found("^.$", "\xE2\x80\xA8"));
}

TEST_CASE("what is not understood is refused, not ignored", "[format]") {
    for (const char* pattern :
         {"(",     ")",       "(a",  "a)",  "[a",     "*a", "+",     "?",     "a**",   "a{3,2}",
          "(?=a)", "(?<n>a)", "\\1", "\\b", "\\p{L}", "\\", "[z-a]", "\\xZ1", "\\u12", "\\q"}) {
        INFO(pattern);
        const auto compiled = TextPattern::compile(pattern);
        REQUIRE(!compiled);
        CHECK(compiled.error().code() == Errc::invalid);
    }
    CHECK(!TextPattern::compile("\xff"));
}

TEST_CASE("a hostile pattern takes neither time nor memory", "[format]") {
    for (const std::string& pattern : {std::string("(a{1000}){1000}"),
                                       std::string("a{99999999}"),
                                       std::string("((((){1000}){1000}){1000}){1000}"),
                                       std::string(2000, 'a'),
                                       std::string("(([a-z\\d\\w]{30}){30}){30}")}) {
        INFO(pattern.substr(0, 40));
        const auto compiled = TextPattern::compile(pattern);
        REQUIRE(!compiled);
        CHECK(compiled.error().code() == Errc::full);
    }
    CHECK(!TextPattern::compile(std::string(500, '(') + std::string(500, ')')));
    // Exponential for a backtracking matcher.
    CHECK(!found("^(a+)+$", std::string(20'000, 'a') + "b"));
    CHECK(!found("^(a|a)*$", std::string(20'000, 'a') + "b"));
    CHECK(found(".*.*.*x", std::string(20'000, 'a') + "x"));
}
