#include "host/plugin/order_record.hpp"

#include "tests/catch.hpp"
#include "tests/support/must.hpp"

using namespace daybook;
using namespace daybook::test;
using Catch::Matchers::Contains;

TEST_CASE("each type of an order's record has its members, in their form", "[plugin]") {
    const auto said = [](const std::string& type, const std::string& data) {
        const auto fits = check_order_record(type, must(Json::parse(data)));
        if (!fits) {
            CHECK(fits.error().code() == Errc::invalid);
        }
        return fits ? std::string("fine") : fits.error().message();
    };
    const std::string base = R"({"symbol":"RELIANCE","side":"sell","qty":500)";
    CHECK(said("order", base + "}") == "fine");
    CHECK(said("fill", base + R"(,"price":"1432.55","cum_qty":500,"left_qty":0})") == "fine");
    CHECK(said("cancel", R"({"left_qty":20,"who":"venue"})") == "fine");
    CHECK(said("refusal",
               base + R"(,"code":"max_order_value","who":"limit","text":"over the limit"})") ==
          "fine");
    CHECK_THAT(said("order", R"({"side":"buy","qty":1})"), Contains("data.symbol: missing"));
    CHECK_THAT(said("order", R"({"symbol":"X","side":"long","qty":1})"), Contains("buy, sell"));
    CHECK_THAT(said("order", R"({"symbol":"X","side":"buy","qty":"1"})"), Contains("whole number"));
    CHECK_THAT(said("order", R"({"symbol":"X","side":"buy","qty":1.5})"), Contains("whole number"));
    CHECK_THAT(said("order", R"({"symbol":"X","side":"buy","qty":-1})"), Contains("whole number"));
    CHECK_THAT(said("order", R"({"symbol":"X","side":"buy","qty":0})"), Contains("from 1"));
    CHECK_THAT(said("order", R"({"symbol":7,"side":"buy","qty":1})"), Contains("data.symbol"));
    CHECK_THAT(said("fill", base + "}"), Contains("data.price: missing"));
    CHECK_THAT(said("fill", base + R"(,"price":"1e3"})"), Contains("decimal text"));
    CHECK_THAT(said("refusal", base + R"(,"code":"mood","who":"limit","text":"x"})"),
               Contains("data.code") && Contains("lot_size"));
    CHECK_THAT(said("refusal", base + R"(,"code":"halted","who":"me","text":"x"})"),
               Contains("limit, broker, venue"));
    CHECK_THAT(said("cancel", R"({"who":"venue"})"), Contains("data.left_qty: missing"));
}
