// Reads what the fixed part of a request is made of, and tells the write gate what was shown.
// Thread: [desk].
#pragma once

#include <string>
#include <vector>

#include "host/turn/prompt.hpp"
#include "host/turn/tool_call.hpp"

namespace daybook {

/// Memory.md, the day's notes, the skills and the session's summary, as they are now. A file that
/// is given whole counts as shown to the turn; one that cannot be read is named in `left_out`.
[[nodiscard]] FixedPart gather_fixed_part(DeskParts& parts, TurnScope& scope);

/// The tools that a turn of this kind may call, in the order of their names.
[[nodiscard]] Json gather_tools(const DeskParts& parts, const TurnScope& scope);

}  // namespace daybook
