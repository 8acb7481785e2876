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
/// `file` "" = everything. Errors: not_found, invalid (a name), no_checkpoint, full, io.
Result<Json> restore_for_owner(DeskParts& parts,
                               const std::string& checkpoint,
                               const std::string& file);
/// Errors: not_found (nothing was restored yet) and those of a restore.
Result<Json> undo_restore_for_owner(DeskParts& parts);
/// The checkpoint before the newest restore that was carried out. Errors: not_found, corrupt, io.
Result<Checkpoint> newest_restore(const CheckpointStore& checkpoints);
Result<Json> take_checkpoint_for_owner(DeskParts& parts, const std::string& reason);

}  // namespace daybook
