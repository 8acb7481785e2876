// A git pack and its index as files: which objects are in it, and whether both are whole. Only what
// a check needs; reading an object out of a pack is libgit2's. Thread: [any].
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/git_objects.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// Ids in an index of version 2. Errors: corrupt (what is wrong with it).
Result<std::vector<GitId>> ids_of_pack_index(std::string_view index);

/// Whether a file ends in the SHA-1 of all that is before it, as packs and their indexes do.
/// `dir` is an open folder. Errors: corrupt, not_found, io.
Result<> check_pack_hash(Os& os, int dir, std::string_view name);

}  // namespace daybook
