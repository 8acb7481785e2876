// The desk's files that are changed and not only added to, as history/1 gives them: Memory.md,
// memory/, notes/ and the summaries, in groups that are replaced together.
//
// A month of notes is a group, so that a cursor stays small over years and a change gives little
// again. Whether a group has changed is told by names, sizes, inodes and times; a file is read only
// then.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/os.hpp"

namespace daybook {

struct DocumentGroup {
    struct File {
        std::string path;   ///< as records name it: "notes/2026-10-19.md"
        std::string place;  ///< beneath the folder: "2026-10-19.md" of summaries/
        int folder = -1;
        std::string day;  ///< of notes and summaries
        std::string at;   ///< last changed, RFC 3339
    };
    std::string kind;         ///< note, memory, summary
    std::string fingerprint;  ///< changes with any of the files
    std::vector<File> files;  ///< by path
};

/// Both folders outlive the object. Thread: [desk].
class HistoryDocuments {
  public:
    /// `desk_dir` holds Memory.md, memory/ and notes/; `summaries` the day's summaries, or is -1.
    HistoryDocuments(Os& os, int desk_dir, int summaries)
        : os_(os), desk_dir_(desk_dir), summaries_(summaries) {}

    /// Groups by name: "memory/Memory.md", "memory/3f", "notes/2026-10", "summaries/2026-10".
    /// Errors: io.
    [[nodiscard]] Result<std::map<std::string, DocumentGroup>> groups() const;
    /// The group's records, in order: one a list item with what is indented below it, or one a
    /// paragraph of a summary. What cannot be read (a link, no UTF-8, too long) has none.
    [[nodiscard]] std::vector<Json> records(const std::string& name,
                                            const DocumentGroup& group) const;

  private:
    using Groups = std::map<std::string, DocumentGroup>;
    Result<> add_days(Groups& groups, int folder, const std::string& path, bool summaries) const;
    Result<> add_memory(Groups& groups, const std::string& folder, int depth) const;
    void add_file(Groups& groups,
                  const std::string& name,
                  const std::string& kind,
                  DocumentGroup::File file) const;

    Os& os_;
    int desk_dir_;
    int summaries_;
};

/// `text`, cut to what a record holds; `cut` says whether it was.
[[nodiscard]] std::string record_text(std::string_view text, bool& cut);

}  // namespace daybook
