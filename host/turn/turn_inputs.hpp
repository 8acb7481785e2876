// Reads what the fixed part of a request is made of, and tells the write gate what was shown.
// Thread: [desk].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/turn/model_call.hpp"
#include "host/turn/prompt.hpp"
#include "host/turn/tool_call.hpp"

namespace daybook {

/// Memory.md, the day's notes, the skills and the session's summary, as they are now. A file that
/// is given whole counts as shown to the turn; one that cannot be read is named in `left_out`.
[[nodiscard]] FixedPart gather_fixed_part(DeskParts& parts, TurnScope& scope);

/// What a summary turn is given beside the transcript: the desk's own instructions, Memory.md and
/// the day's notes, so that no pinned rule is lost, and its task.
[[nodiscard]] FixedPart gather_summary_part(DeskParts& parts, DeskDate day, std::string_view task);

/// Everything of a request but its parts, tools and messages.
[[nodiscard]] RequestFrame make_frame(const DeskParts& parts,
                                      const TurnScope& scope,
                                      const ModelChoice& model,
                                      std::int64_t window);

/// The tools that a turn of this kind may call, in the order of their names.
[[nodiscard]] Json gather_tools(const DeskParts& parts, const TurnScope& scope);

}  // namespace daybook
