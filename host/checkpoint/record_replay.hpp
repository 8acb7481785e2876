// Makes the commits of log records again, one after the other: the same bytes, the same ids. Where
// the objects go is the object store's business. Thread: [any], one at a time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/folder_tree.hpp"
#include "host/checkpoint/git_objects.hpp"
#include "host/checkpoint/log_record.hpp"

namespace daybook {

class RecordReplay {
  public:
    /// Both are borrowed; `tree` is that of the first record's parent.
    RecordReplay(GitObjects& objects, FolderTree& tree) : objects_(objects), tree_(tree) {}

    struct Made {
        GitId id;
        CommitRecord commit;
    };
    /// The commit of the record on top of `parent`; nullopt: it only says that a write is over.
    /// Errors: corrupt (names the record), io, full.
    Result<std::optional<Made>> apply(const LogRecord& record, const std::optional<GitId>& parent);

  private:
    Result<> put_content(const LogRecord& record, const LoggedChange& change);

    GitObjects& objects_;
    FolderTree& tree_;
    std::map<GitId, std::string> announced_;  ///< contents of writes that records have named so far
};

/// A path of the one commit that brought it: it is in no later tree.
[[nodiscard]] bool is_of_one_commit(std::string_view path);

/// Errors: corrupt, about that record.
[[nodiscard]] Error misfit(const LogRecord& record, const std::string& what);

/// The commit that the oldest record with one stands on; nullopt: none has a commit.
/// Errors: corrupt.
Result<std::optional<GitId>> parent_of_records(const std::vector<LogRecord>& records);

}  // namespace daybook
