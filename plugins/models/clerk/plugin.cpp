// The clerk as a model backend: always ready, no network, the same answer to the same request.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <daybook/plugin.hpp>

#include "plugins/models/clerk/clerk.hpp"

namespace daybook::clerk {

namespace {

constexpr std::int64_t kWindowTokens = 32768;

/// No tokenizer here: three bytes a token, as the host estimates.
std::int64_t tokens_of(std::size_t bytes) {
    return static_cast<std::int64_t>(bytes / 3);
}

class Clerk {
  public:
    std::int64_t context_window(std::string_view) { return kWindowTokens; }

    void turn(ModelTurn& turn) {
        Request request;
        try {
            request = parse_request(turn.request);
        } catch (const std::invalid_argument& error) {
            turn.error("request_fault", std::string("the request does not read: ") + error.what());
            return;
        }
        const Reply reply = reply_to(request);
        turn.call.check();
        std::size_t written = reply.text.size();
        if (!reply.text.empty()) {
            turn.text(reply.text);
        }
        for (const auto& call : reply.calls) {
            turn.tool_call(call.id, call.tool, call.arguments);
            written += call.tool.size() + call.arguments.size();
        }
        turn.usage({.input = tokens_of(turn.request.size()),
                    .output = tokens_of(written),
                    .exact = false});
        turn.end(reply.calls.empty() ? "completed" : "tool_calls");
    }
};

constexpr auto kClerk = model<Clerk>("clerk");

}  // namespace

}  // namespace daybook::clerk

DAYBOOK_PLUGIN("clerk",
               DAYBOOK_VERSION_STRING,
               daybook::instance<daybook::clerk::Clerk>(),
               &daybook::clerk::kClerk)
