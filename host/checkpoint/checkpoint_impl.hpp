// What CheckpointStore's files share: checkpoint_store.cpp (taking), recovery.cpp (opening),
// history.cpp (reading), journalled.cpp (the record log), replay.cpp (what it held at start).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/checkpoint/attributes.hpp"
#include "host/checkpoint/checkpoint_store.hpp"
#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/file_scan.hpp"
#include "host/checkpoint/folder_tree.hpp"
#include "host/checkpoint/git_objects.hpp"
#include "host/checkpoint/listing_index.hpp"
#include "host/checkpoint/log_record.hpp"
#include "host/checkpoint/materialiser.hpp"
#include "host/checkpoint/record_log.hpp"
#include "host/checkpoint/record_replay.hpp"
#include "host/checkpoint/repository.hpp"

namespace daybook {

inline constexpr std::string_view kFormatFile = ".daybook/format";
inline constexpr std::string_view kFormatText = "1\n";
inline constexpr std::string_view kLedgerFile = ".daybook/ledger.jsonl";
inline constexpr std::string_view kConflictFolder = ".daybook/conflicts/";

struct CheckpointStore::Impl {
    Impl(Os& os_in, const Clock& clock_in, int desk_dir_in, std::string desk_in)
        : os(os_in),
          clock(clock_in),
          desk_dir(desk_dir_in),
          desk(std::move(desk_in)),
          scan(os_in, desk_dir_in) {}

    /// A write that is announced and may or may not have happened.
    struct Pending {
        Checkpoint checkpoint;
        std::string file;
        std::string intended_sha256;
        /// What the write did leave (nullopt inside: no file), when that could not be committed.
        /// Kept until it is: the file on disk may be the owner's by then.
        std::optional<std::optional<std::string>> written;
    };
    using Change = std::pair<std::string, std::optional<TreeFile>>;

    // recovery.cpp
    Result<> open(const std::filesystem::path& folder);
    Result<> settle_start();
    Result<> find_head();
    Result<std::optional<GitId>> newest_of(const std::vector<GitId>& candidates) const;
    Result<> load_head();
    Result<> heal_from_files();
    Result<> check_blobs();
    Result<> take_first();
    Result<std::uint64_t> last_number(CommitRecord record) const;
    Result<CommitRecord> load_tree(const GitId& commit);
    Result<> read_attributes();

    // replay.cpp
    /// Removes loose objects that a pack has too, and those that cannot be read: after a power cut
    /// git and libgit2 would take them for the objects. Errors: io.
    Result<> sweep();
    Result<> sync_fan_out(const std::string& name);
    /// A write of the log, and what became of it as far as the log knows.
    struct Replayed {
        Checkpoint checkpoint;
        LoggedWrite write;
        bool was_recorded = false;
    };
    /// By path: the writes since the owner's last edit of it, oldest first.
    using Chains = std::map<std::string, std::vector<Replayed>>;
    Result<> replay(const std::vector<LogRecord>& records);
    void take_in(const LogRecord& record,
                 const std::optional<RecordReplay::Made>& made,
                 Chains& chains);
    void follow_commit(const LogRecord& record, const RecordReplay::Made& made, Chains& chains);
    Result<> find_lost_writes(const Chains& chains);
    Result<> judge(const std::string& path, const std::vector<Replayed>& chain);

    // journalled.cpp
    /// Makes the commit durable through the log. On an error nothing has happened, unless `*moved`
    /// says otherwise.
    Result<> log_commit(const CommitRecord& record,
                        const std::string& bytes,
                        const GitId& id,
                        const std::vector<Change>& changes,
                        Repository::Moved* moved);
    /// Says in the log that the open write is over and did not happen.
    void log_not_written();
    void use_log(bool on);
    Result<> finish_recovery();
    /// The doubtful write, when nobody has said that it happened.
    Result<> give_up_doubtful();
    /// What the recovery found wants finish_recovery().
    [[nodiscard]] bool is_awaiting() const {
        return !recovery.lost_writes.empty() || recovery.doubtful;
    }

    // checkpoint_store.cpp
    /// Commits the changes on top of the head; durable when it returns. On an error the tree in
    /// memory is as before.
    Result<GitId> commit(CommitRecord record, std::vector<Change> changes);
    /// restoring.cpp. The ledger's mirror, when the tree does not hold it yet.
    Result<> add_ledger(std::vector<Change>& changes);
    Result<Checkpoint> commit_checkpoint(CommitRecord record, const std::vector<Change>& changes);
    Result<Checkpoint> take(std::string_view kind,
                            const DeskPath& path,
                            std::string_view expected,
                            std::string_view intended,
                            const CheckpointReason& why,
                            std::optional<std::string_view> content);
    /// Whether the content that the head holds of the file can be read. What was damaged while the
    /// host runs is mended from the files on disk.
    Result<> check_former(const std::string& path);
    Result<> read_former(const std::string& path) const;
    Result<> record_edit_of(const std::string& path, const std::optional<FileOnDisk>& now);
    Result<std::optional<Checkpoint>> record_edits(bool* files_changed = nullptr);
    Result<std::vector<Change>> find_edits();
    /// Finishes the announced write: commits what it is known to have left, else the file on disk
    /// when that is what it meant to leave. Returns that checkpoint.
    Result<std::optional<Checkpoint>> settle_pending();
    /// On an error the content stays in `pending`, and the next checkpoint begins with it.
    Result<> record_written(const Checkpoint& checkpoint,
                            const std::string& path,
                            const std::optional<std::string>& content);
    Result<Checkpoint> keep_refused(const std::string& path,
                                    std::string_view content,
                                    const CheckpointReason& why);
    Result<> commit_written(const Checkpoint& checkpoint,
                            const std::string& path,
                            const std::optional<std::string>& content);

    // restoring.cpp
    /// The change of `.daybook/attributes` that says this; nullopt when it says so already.
    Result<std::optional<Change>> attributes_change(const Attributes& wanted);
    /// The same after a file was written (nullopt: removed).
    Result<std::optional<Change>> attributes_after(const std::string& path,
                                                   const std::optional<TreeFile>& file,
                                                   unsigned permissions);

    // history.cpp
    [[nodiscard]] Result<std::vector<Checkpoint>> checkpoints_at(
        const GitObjects& objects, const std::vector<CheckpointPlace>& places) const;
    /// By number, or (0) by the first digits of a commit. Errors: of the index; it may be asked of
    /// the commits then.
    [[nodiscard]] Result<std::vector<Checkpoint>> find_indexed(const GitObjects& objects,
                                                               std::uint64_t number,
                                                               std::string_view digits) const;

    [[nodiscard]] std::optional<GitId> head() const;
    void set_head(const GitId& id);

    Os& os;
    const Clock& clock;
    int desk_dir;
    std::string desk;
    CheckpointForm form = CheckpointForm::plain;
    std::unique_ptr<Repository> repository;
    std::unique_ptr<RecordLog> log;
    std::unique_ptr<ListingIndex> index;
    std::unique_ptr<Materialiser> materialiser;  ///< nullptr: commits go to the repository itself
    FolderTree tree;
    Attributes attributes;         ///< as the tree holds them
    std::string ledger;            ///< its text; "" = there is none, or it is not known
    Attributes wanted_attributes;  ///< as a commit that is being made will hold them
    FileScan scan;
    std::uint64_t next_number = 1;
    std::optional<Pending> pending;
    std::optional<LoggedWrite> announcing;  ///< of the record that is being made
    /// Announced in the log, and not known to be over.
    struct OpenWrite {
        std::uint64_t number = 0;    ///< of the checkpoint
        std::string content_sha256;  ///< of the content that its record holds, or ""
    };
    std::optional<OpenWrite> open_write;
    std::set<std::string> awaiting_redo;  ///< files that finish_recovery() waits for
    std::vector<std::string> skipped;     ///< of the last scan
    CheckpointRecovery recovery;

  private:
    mutable std::mutex head_mutex_;  ///< guards head_: readers on other threads take a copy
    std::optional<GitId> head_;
};

}  // namespace daybook
