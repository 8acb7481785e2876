// What the owner does on a desk by hand: a tool call, a file put back, a checkpoint. Thread:
// [desk].
#pragma once

#include <string>

#include <daybook/result.hpp>

#include "host/turn/desk_parts.hpp"

namespace daybook {

/// Runs one tool under an owner's allowance, journalled as a turn of its own (kind owner_call); no
/// part of the conversation.
Desk::ToolAnswer call_tool_for_owner(DeskParts& parts,
                                     DeskDate day,
                                     const std::string& tool,
                                     const std::string& arguments);
/// Errors: not_found, invalid (a name), conflict, no_checkpoint, io.
Result<Json> restore_file_for_owner(DeskParts& parts,
                                    const std::string& checkpoint,
                                    const std::string& path);
Result<Json> take_checkpoint_for_owner(DeskParts& parts, const std::string& reason);

}  // namespace daybook
