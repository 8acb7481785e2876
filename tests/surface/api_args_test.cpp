#include "host/surface/api_args.hpp"

#include "host/surface/api.hpp"
#include "tests/catch.hpp"

using namespace daybook;

namespace {

Json json(std::string_view text) {
    auto parsed = Json::parse(text);
    REQUIRE(parsed);
    return *parsed;
}

}  // namespace

TEST_CASE("arguments are read by kind and bound", "[surface]") {
    const Json given = json(R"({"desk":"main","limit":7,"wait":true,"types":["order","fill"]})");
    Args args(given);
    CHECK(args.name("desk") == "main");
    CHECK(args.integer_or("limit", 1, 1, 10) == 7);
    CHECK(args.flag("wait"));
    CHECK(args.texts("types").size() == 2);
    CHECK(args.text_or("key", "none") == "none");
    CHECK_FALSE(args.wrong());
}

TEST_CASE("a wrong argument is named with what is wanted", "[surface]") {
    const auto message = [](std::string_view text) {
        const Json given = json(text);
        Args args(given);
        (void)args.name("desk");
        (void)args.integer_or("limit", 1, 1, 10);
        (void)args.flag("wait");
        (void)args.texts("types");
        const auto wrong = args.wrong();
        REQUIRE(wrong);
        CHECK(wrong->code() == Errc::invalid);
        return wrong->message();
    };
    CHECK_THAT(message("{}"), Catch::Contains("\"desk\": missing"));
    CHECK_THAT(message(R"({"desk":5})"), Catch::Contains("a text is wanted"));
    CHECK_THAT(message(R"({"desk":"main","limit":11})"), Catch::Contains("from 1 to 10"));
    CHECK_THAT(message(R"({"desk":"main","limit":1.5})"), Catch::Contains("whole number"));
    CHECK_THAT(message(R"({"desk":"main","wait":"yes"})"), Catch::Contains("true or false"));
    CHECK_THAT(message(R"({"desk":"main","types":[1]})"), Catch::Contains("list of texts"));
    CHECK_THAT(message(R"({"desk":"main","limt":1})"), Catch::Contains("\"limt\": unknown"));
}

TEST_CASE("a name that could leave its folder is refused before it is looked up", "[surface]") {
    const std::string name = GENERATE(as<std::string>{},
                                      "../../etc/passwd",
                                      "a/../../b",
                                      "/etc",
                                      "%2e%2e%2f",
                                      "..",
                                      ".",
                                      ".git",
                                      "main ",
                                      "",
                                      std::string("a\0b", 3),
                                      std::string(300, 'a'));
    const Json given = Json::object().set("session", name);
    Args args(given);
    (void)args.name("session");
    REQUIRE(args.wrong());
    CHECK(args.wrong()->code() == Errc::invalid);
}

TEST_CASE("every request of the API stands once, in order", "[surface]") {
    const auto verbs = api_verbs();
    REQUIRE(verbs.size() >= 27);
    for (std::size_t i = 1; i < verbs.size(); ++i) {
        CHECK(verbs[i - 1].name < verbs[i].name);
    }
}
