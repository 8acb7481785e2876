// Reading the chain of commits: from the newest to the oldest, and which files each concerns. What
// the listing index is filled from, and what answers when there is none. Thread: [any].
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/git_objects.hpp"

namespace daybook {

/// Errors: not_found, corrupt (both name the object).
Result<CommitRecord> read_commit(const GitObjects& objects, const GitId& id);

/// Hands over each checkpoint, the newest first, until `visit` says false. Errors: corrupt,
/// not_found (a commit cannot be read).
Result<> walk_checkpoints(const GitObjects& objects,
                          std::optional<GitId> newest,
                          const std::function<bool(Checkpoint&)>& visit);

/// Own files that a commit is about: the one that it names, else those in which it differs from its
/// parent. Raw paths in order, without `.daybook/`. Errors: not_found, corrupt.
Result<std::vector<std::string>> files_of_commit(const GitObjects& objects,
                                                 const CommitRecord& record);

/// Whether the checkpoint, or what its write left, is about this file. Errors: as above.
Result<bool> concerns(const GitObjects& objects,
                      const Checkpoint& checkpoint,
                      std::string_view path);

}  // namespace daybook
