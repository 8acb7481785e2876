// A venue that takes an order and never answers: its call stands open until somebody ends it. The
// test kills the host there, between the effect and its outcome.
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include <daybook/plugin.hpp>

namespace {

std::string place_slowly(daybook::Call call, std::string_view) {
    const std::string key = call.idempotency_key();
    call.append_journal("order", key, "o-" + key, R"({"symbol":"NIFTY 50","side":"buy","qty":1})");
    while (!call.is_cancelled()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    call.check();
    return "{}";
}

constexpr auto kPlace = daybook::tool<place_slowly>(
    "place_slowly", "Places a paper order, and does not come back.", R"({"type":"object"})");

}  // namespace

DAYBOOK_PLUGIN("venue", "1.0.0", daybook::wants("daybook.journal/1"), &kPlace)
