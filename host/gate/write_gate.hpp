// The write gate: the only code that changes a desk's own files.
//
// In this order, each step's failure stopping the next (docs/leash.md):
//   1 leash   2 content rules and base   3 checkpoint (durable)   4 write (temporary, fsync,
//   exchange, fsync of the folder unless the checkpoint's record can do the write again) 5 journal,
//   and what was written committed. The receipt carries the checkpoint's id.
// A refusal at 1 or 2 is journalled as write_refused. Thread: [desk].
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/gate/file_lines.hpp"
#include "host/gate/file_swap.hpp"
#include "host/gate/leash.hpp"
#include "host/gate/ledger.hpp"
#include "host/gate/restore_report.hpp"
#include "host/gate/shown_files.hpp"
#include "host/gate/trash.hpp"
#include "host/gate/tree_restore.hpp"
#include "host/journal/journal.hpp"
#include "host/os/os.hpp"

namespace daybook {

struct RestoreIntent;

struct WriteRequest {
    DeskPath path;
    FileOperation operation = kAppend;
    /// "" = what was last shown to this turn. Another hash than that is a conflict, except in an
    /// owner's call, where it may be that of an earlier read.
    std::string base_sha256{};
    std::string text{};      ///< appended text, whole new content, or the new text of an edit
    std::string old_text{};  ///< edit: must occur exactly once
    std::string reason{};
};

struct WriteReceipt {
    std::string path;
    std::string checkpoint;  ///< "c-12"
    std::string sha256;      ///< of the file now
    std::uint64_t bytes_before = 0;
    std::uint64_t bytes = 0;
    std::string journal;  ///< id of the journal line
    [[nodiscard]] Json to_json() const;
};

/// Where the write belongs, for trailers and the journal.
struct WriteContext {
    std::string session, turn, tool, call, plugin;
    Json leash = Json::object();  ///< the leash in force
};

class WriteGate {
  public:
    /// Everything is borrowed and outlives the gate. `desk_dir` is the desk's folder. Without
    /// `places` there is no trash, and restore() is unsupported. A restore of the memory is
    /// noted in the ledger.
    WriteGate(Os& os,
              const Clock& clock,
              int desk_dir,
              std::string desk,
              CheckpointStore& checkpoints,
              Journal& journal,
              std::optional<DeskPlaces> places = {},
              Ledger* ledger = nullptr);

    /// Completes what a crash left between write and journal, and removes temporary files. Call
    /// once, before the first write. Errors: io, no_checkpoint.
    Result<> recover();

    /// Looks for what the owner changed by hand and makes it a checkpoint of its own, with a
    /// journal line. Returns its id, "" when nothing had changed. Errors: no_checkpoint, io.
    Result<std::string> note_owner_edits(const WriteContext& context);

    /// Errors: refused, conflict (both versions are kept; the message names where), invalid (edit
    /// text missing or not unique), no_checkpoint, io, full, not_found (edit of no file), deadline.
    Result<WriteReceipt> write(Leash& leash,
                               TurnAllowance& allowance,
                               ShownFiles& shown,
                               const WriteContext& context,
                               const WriteRequest& request);

    /// Reads an own file or one of the owner's in the desk's folder and remembers own ones as
    /// shown. Errors: not_found, refused (kind of file, outside), full (over kMaxOtherFile), io.
    Result<std::string> read(ShownFiles& shown, const DeskPath& path);
    /// The same of some lines; only they are remembered as shown. `content` is kept for `lines` to
    /// point into.
    Result<FileLines> read_lines(ShownFiles& shown,
                                 const DeskPath& path,
                                 const LineRange& range,
                                 std::string& content);
    /// Every file below the folder, sorted: path, bytes, whether it is an own file. At most 2,000.
    struct Listed {
        std::string path;
        std::uint64_t bytes = 0;
        bool own = false;
    };
    Result<std::vector<Listed>> list(std::string_view folder);

    /// The owner's: puts everything, or one file (raw path), back as the checkpoint holds it,
    /// taking a checkpoint first. All or nothing also across a crash, less the files that somebody
    /// else changes meanwhile: those are listed. When all is like that already nothing is done.
    /// Errors: unsupported, no_checkpoint, corrupt, full, io (the next start carries on what has
    /// begun).
    Result<RestoreReport> restore(const Checkpoint& from,
                                  const std::string& file,
                                  const WriteContext& context);

    /// Saves that reached a file after a write had replaced it become checkpoints of their own;
    /// replaced files that are old enough go. Call before a write and now and then. Errors:
    /// no_checkpoint, io.
    Result<> tend_trash(std::chrono::seconds age = Trash::kKept);
    [[nodiscard]] bool trash_waits() const;
    /// Removes for good what restores took away. Errors: io.
    Result<Trash::Emptied> empty_trash();
    /// What the owner must be told, each once; empties the list.
    [[nodiscard]] std::vector<std::string> take_notices() { return std::exchange(notices_, {}); }

    /// False after a failed sync: every write is refused until the next start, with the reason.
    [[nodiscard]] std::optional<std::string> read_only_reason() const;

  private:
    /// A write that may happen, as far as the content is concerned.
    struct Planned {
        std::optional<std::string> before;  ///< nullopt: the file does not exist
        std::string base_sha256;            ///< "" then
        std::string content;
        std::string sha256;
        std::size_t added_bytes = 0;  ///< charged to the leash
    };
    /// Why not, and the rule's name for the journal.
    struct Refusal {
        std::string rule;
        Error error;
        bool keep_both = false;  ///< the owner was there: both versions become checkpoints
    };
    using Plan = std::variant<Planned, Refusal>;

    Plan plan(const ShownFiles& shown, bool is_owners, const WriteRequest& request);
    std::optional<Refusal> check_request(const WriteRequest& request) const;
    std::optional<Refusal> check_base(const ShownFiles& shown,
                                      bool is_owners,
                                      const WriteRequest& request,
                                      const std::optional<std::string>& before) const;
    std::optional<Refusal> compose(const WriteRequest& request, Planned& planned) const;
    Result<> check_open(const DeskPath& path) const;
    Result<std::string> read_own(const DeskPath& path);
    Result<std::string> read_any(ShownFiles& shown, const DeskPath& path);
    Result<std::optional<std::string>> read_current(const DeskPath& path,
                                                    std::string_view verb = "write");
    Result<> put(const DeskPath& path,
                 std::string_view expected,
                 const std::optional<std::string>& content,
                 const std::string& checkpoint);
    Result<WriteReceipt> finish(const DeskPath& path,
                                const Checkpoint& checkpoint,
                                const Planned& planned,
                                const std::optional<std::string>& left,
                                JournalEntry entry);
    JournalEntry entry_of(const TurnAllowance& allowance,
                          const WriteContext& context,
                          const WriteRequest& request,
                          const Checkpoint& checkpoint,
                          const Planned& planned) const;
    static std::string write_key(const Checkpoint& checkpoint);
    /// Journals the refusal and returns its error.
    Error refuse(const WriteContext& context, const WriteRequest& request, const Refusal& refusal);
    /// Makes the owner's version and the refused text checkpoints, and names both in the error.
    Error keep_both(const WriteContext& context,
                    const WriteRequest& request,
                    std::string_view refused_content,
                    const Error& conflict);
    void keep_superseded(const DeskPath& path);
    Result<> look_at_trash(bool all);
    Result<> keep_late(const Trash::Late& late);
    Result<RestoreReport> carry_out(const Checkpoint& checkpoint,
                                    const Checkpoint& from,
                                    const RestoreIntent& intent,
                                    bool is_new);
    static std::vector<RestoreStep> steps_of(const StoredTree& now,
                                             const StoredTree& then,
                                             const std::string& file);
    Result<RestoreReport> settle_restore(const Checkpoint& checkpoint,
                                         const TreeRestore::Outcome& outcome,
                                         const Attributes& attributes);
    Result<> note_in_ledger(const Checkpoint& checkpoint,
                            const Checkpoint& from,
                            const RestoreIntent& intent);
    Result<> journal_restore(const Checkpoint& checkpoint,
                             const Checkpoint& from,
                             const RestoreIntent& intent,
                             RestoreReport& report);
    Result<> recover_restore();
    Result<> recover_journal(const Checkpoint& completed);
    Result<> redo(const LostWrite& lost);
    Result<> settle_doubtful(const LostWrite& doubtful);
    Result<> recover_folder(const std::string& folder, int depth);
    Result<std::optional<Checkpoint>> last_announced(const DeskPath& path) const;
    Result<> settle_leftover(const DeskPath& path, bool at_start);
    Result<> list_below(const std::string& folder, int depth, std::vector<Listed>& into);

    Os& os_;
    const Clock& clock_;
    int desk_dir_;
    std::string desk_;
    CheckpointStore& checkpoints_;
    Journal& journal_;
    std::optional<DeskPlaces> places_;
    Ledger* ledger_;
    std::unique_ptr<Trash> trash_;  ///< exactly when there are places
    FileSwap swap_;
    std::optional<std::string> read_only_;
    std::string last_restore_;  ///< "c-12", of this run of the host; for messages
    std::vector<std::string> notices_;
};

}  // namespace daybook
