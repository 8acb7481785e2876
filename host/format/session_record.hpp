// One line of a session file (docs/formats.md, "Session"). No I/O.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/clock.hpp"

namespace daybook {

/// Where a line's words come from: that is its trust. owner > desk > job, fill > tool, alert, page.
enum class Source { owner, desk, job, fill, tool, alert, page, host };
[[nodiscard]] std::string_view name_of(Source source) noexcept;
Result<Source> source_of(std::string_view name);

/// kind: opening (first line: summary of the day before), trigger, tool_call, tool_result, answer,
/// interrupted, compress.
struct SessionRecord {
    std::uint64_t seq = 0;  ///< from 1, without holes, in the file
    Timestamp ts{};
    std::string turn;  ///< "t-42"; "" for an opening
    std::string kind;
    Source source = Source::host;
    std::string text;  ///< the words; for a tool call the arguments, for a tool result the result,
                       ///< both as JSON text
    Json extra =
        Json::object();  ///< by kind: trigger {"trigger","kind"}, tool_call {"call","tool"},
                         ///< tool_result {"call","tool","status"}, answer {"model","usage"}

    [[nodiscard]] std::string to_line() const;
    /// Errors: invalid, unsupported.
    static Result<SessionRecord> from_line(std::string_view line);
};

}  // namespace daybook
