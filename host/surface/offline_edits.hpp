// A desk's checkpoints without a running host: what `daybook edit` needs then.
#pragma once

#include <string>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/os.hpp"
#include "host/surface/places.hpp"

namespace daybook {

/// Takes the home's lock and recovers the desk as a start does: what a power cut took back is not
/// the owner's edit. Records the owner's edits; with a reason, a checkpoint by the owner's word
/// after them. As the requests checkpoint.note_edits and checkpoint.take answer. Errors: not_found
/// (the desk has no folder), busy (a host has the home), corrupt, no_checkpoint, io.
Result<Json> note_edits_offline(const Places& places,
                                Os& os,
                                const std::string& desk,
                                const std::string& reason);

}  // namespace daybook
