// The options of process/1.start, whatever a plugin writes.
#include "host/plugin/process_ask.hpp"

#include "tests/catch.hpp"

using namespace daybook;

TEST_CASE("options of a start are read, and nothing else is", "[plugin]") {
    const auto start = read_process_start(
        R"({"args":["--resume","x"],"env":{"A":"b"},"fresh":true,"own":true,"on_cancel":"end"})");
    REQUIRE(start);
    CHECK(start->ask.arguments == std::vector<std::string>{"--resume", "x"});
    CHECK(start->ask.environment == std::vector<std::string>{"A=b"});
    CHECK(start->ask.fresh);
    CHECK(start->ask.own);
    CHECK(start->on_cancel == "end");
    CHECK(read_process_start(""));
    for (const char* wrong : {"[]",
                              "{",
                              R"({"args":"x"})",
                              R"({"args":[1]})",
                              R"({"args":["a\u0000b"]})",
                              R"({"env":{"LD_PRELOAD":"x"}})",
                              R"({"env":{"PATH":"x"}})",
                              R"({"env":{"A=B":"x"}})",
                              R"({"env":{"":"x"}})",
                              R"({"env":["A"]})",
                              R"({"fresh":1})",
                              R"({"on_cancel":"never"})",
                              R"({"program":"x"})"}) {
        INFO(wrong);
        const auto refused = read_process_start(wrong);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code() == Errc::invalid);
    }
    const std::string much = R"({"args":[")" + std::string(200000, 'x') + R"("]})";
    CHECK_FALSE(read_process_start(much));
}
