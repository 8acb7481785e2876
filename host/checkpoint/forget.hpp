// Takes a text out of a desk's whole history: contents, names, messages of commits. The one thing
// that rewrites commits: their ids change, checkpoints keep theirs (c-12 stays c-12).
//
// Nothing else may have the repository open. Cut short at any instant it leaves a sound repository,
// old or new, and doing it again finishes it. Thread: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/text_mask.hpp"
#include "host/os/os.hpp"

namespace daybook {

struct ForgottenHistory {
    std::uint64_t contents = 0;     ///< of files, that held the text
    std::uint64_t commits = 0;      ///< that were made anew
    std::uint64_t removed = 0;      ///< objects of the former history that are gone
    std::vector<std::string> refs;  ///< other refs, which held the former history and are gone
    /// SHA-256 of each changed content, before -> after: they stand in trailers and in the journal.
    std::map<std::string, std::string> hashes;
};

/// With `dry_run` nothing changes and only `contents` and `commits` are told.
/// Errors: not_found (no repository), busy (somebody has it open), corrupt, io, full.
Result<ForgottenHistory> forget_in_history(Os& os,
                                           const std::filesystem::path& repository,
                                           const TextMask& mask,
                                           bool dry_run);

}  // namespace daybook
