// The clerk's rules: from a request to an answer or to the next tool calls. No I/O, no state: the
// request holds all that was done in the turn.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plugins/models/clerk/request.hpp"

namespace daybook::clerk {

struct WantedCall {
    std::string id;
    std::string tool;
    std::string arguments;  ///< a JSON object
};

/// Calls to be made, or, when there are none, the answer.
struct Reply {
    std::vector<WantedCall> calls;
    std::string text;
};

/// Only words whose source is the owner can make the clerk write a note. An alert's text is quoted
/// as data; at most a price is looked up beside it.
[[nodiscard]] Reply reply_to(const Request& request);

}  // namespace daybook::clerk
