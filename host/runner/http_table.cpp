// http/1 as the plugin sees it.
#include <charconv>
#include <string>

#include <daybook/json.hpp>

#include "host/runner/stub_parts.hpp"

namespace daybook::runner {
namespace {

void collect(void* to, daybook_str chunk) {
    static_cast<std::string*>(to)->append(view(chunk));
}

// NOLINTBEGIN(readability-function-size): the parameters of the C interface

daybook_status http_begin(daybook_call* call,
                          daybook_str request,
                          daybook_str body,
                          std::int64_t* exchange,
                          void* to,
                          daybook_sink failure) noexcept {
    std::string answer;
    const daybook_status status =
        relay(call, "http/1.begin", {view(request), view(body)}, &answer, &collect);
    if (status == DAYBOOK_OK) {
        *exchange = json::ObjectReader(answer).integer("exchange", 0);
    } else if (failure != nullptr) {
        failure(to, {answer.data(), answer.size()});
    }
    return status;
}
daybook_status http_send(daybook_call* call,
                         std::int64_t exchange,
                         daybook_str bytes,
                         std::int32_t last,
                         void* to,
                         daybook_sink failure) noexcept {
    return relay(call,
                 "http/1.send",
                 {std::to_string(exchange), view(bytes), last != 0 ? "1" : "0"},
                 to,
                 failure);
}
daybook_status http_head(daybook_call* call,
                         std::int64_t exchange,
                         void* to,
                         daybook_sink json) noexcept {
    return relay(call, "http/1.head", {std::to_string(exchange)}, to, json);
}
daybook_status http_read(daybook_call* call,
                         std::int64_t exchange,
                         std::int64_t max_bytes,
                         void* to,
                         daybook_sink bytes) noexcept {
    return relay(
        call, "http/1.read", {std::to_string(exchange), std::to_string(max_bytes)}, to, bytes);
}
daybook_status http_close(daybook_call* call, std::int64_t exchange) noexcept {
    return relay(call, "http/1.close", {std::to_string(exchange)}, nullptr, nullptr);
}

// NOLINTEND(readability-function-size)

}  // namespace

const daybook_http kHttp = {
    sizeof(daybook_http), 0, &http_begin, &http_send, &http_head, &http_read, &http_close};

}  // namespace daybook::runner
