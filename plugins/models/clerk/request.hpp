// The host's request (docs/turns.md, "The request"), as far as the clerk needs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace daybook::clerk {

struct ToolResult {
    std::string name;
    bool ok = false;
    std::string text;  ///< JSON
};

struct Request {
    std::string turn;
    std::string kind;    ///< message, job, alert, fill, summary, ...
    std::string day;     ///< the desk's trading day
    std::string now;     ///< RFC 3339 in the desk's zone
    std::string source;  ///< whose words the trigger is: owner, job, alert, ...
    std::string name;    ///< of a job; may be empty
    std::string text;    ///< the trigger's words
    std::string notes;   ///< today's notes
    std::string memory;  ///< Memory.md
    bool notes_are_cut = false;
    bool memory_is_cut = false;
    std::vector<std::string> tools;
    std::vector<ToolResult> results;  ///< of this turn's tool calls, in order

    [[nodiscard]] bool has_tool(std::string_view tool) const;
};

/// Throws std::invalid_argument when the text is no JSON object.
[[nodiscard]] Request parse_request(std::string_view json);

}  // namespace daybook::clerk
