// Snapshots of one desk's own files in a bare git repository (docs/formats.md, "Checkpoints").
//
// Two forms. Plain: objects are written as loose files with fsync, then the one ref. Journalled: a
// record with everything that is needed to make the objects again goes to a small database with one
// sync (record_log.hpp); the objects and the ref follow off the call's path (materialiser.hpp). In
// both a checkpoint exists when take() has returned. The tree is made by our own encoder from the
// bytes on disk: no git configuration, attribute, ignore file, filter or hook has any effect. A
// checkpoint's id is ours, "c-<n>", in a commit trailer; the commit's id may change.
//
// A write makes two commits: the checkpoint before it (which records the intended hash) and, after
// it, what it left. Files changed by the owner in between become a commit of their own first
// ("edited outside the host"). One owner at a time: the repository is locked with flock. Thread:
// [desk]; listing and reading are [any].
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/clock.hpp"
#include "host/os/desk_path.hpp"
#include "host/os/os.hpp"

namespace daybook {

class Attributes;
class GitObjects;
struct StoredTree;
struct TreeFile;

enum class CheckpointForm { plain, journalled };

/// Why a checkpoint is taken; becomes the commit's trailers. Empty text is left out.
struct CheckpointReason {
    std::string reason;  ///< one line for people: "add_note: lesson on gap opens"
    std::string call;    ///< call id
    std::string tool;
    std::string turn;
    std::string promotion;
    std::string restores{};  ///< of a restore: the checkpoint whose content is wanted, "c-12"
};

/// A checkpoint as listed.
struct Checkpoint {
    std::uint64_t number = 0;
    std::string id;      ///< "c-12"
    std::string commit;  ///< 40 hexadecimal digits; looked up, may change
    Timestamp at{};
    CheckpointReason why;
    std::string kind;  ///< "write", "edited" (the owner's own), "conflict", "restore", "manual"
    std::string file;  ///< the file about to change, or ""
    std::string base_sha256;      ///< of the file as it was, "" = it did not exist
    std::string intended_sha256;  ///< of what is about to be written, or ""
    std::string
        written_commit;  ///< commit that holds what the write left, or "" when nothing was written
    std::vector<std::string> skipped;  ///< names found on disk that are not stored, with the reason
};

struct FileChange {
    std::string path;  ///< raw bytes
    char kind = 'M';   ///< A added, M modified, D deleted
    std::string diff;  ///< unified diff, or "binary"
};

/// A write whose record is durable and whose file a crash took back, or never saw.
struct LostWrite {
    Checkpoint checkpoint;
    std::string file;
    std::optional<std::string> content;  ///< what is to stand there; nullopt: the file is to go
    std::string found_sha256;            ///< what stands there now; "" = no file
    bool was_recorded = false;           ///< record_written() had been called: it was acknowledged
    /// False: the file is missing, and the owner may have removed it. It was lost when its new
    /// content still lies beside its place.
    bool is_certain = true;
};

/// What start-up found and put right.
struct CheckpointRecovery {
    std::vector<std::string> removed_leftovers;  ///< stale locks and temporary files
    /// A checkpoint whose write had happened but was not recorded: its commit was completed now.
    /// The journal line may be missing too; the caller completes it.
    std::optional<Checkpoint> completed;
    std::vector<std::string>
        healed;  ///< objects that a power cut had broken, written anew from the files
    bool restore_begun = false;  ///< a restore of many files was cut; the gate carries it on
    bool owner_edited = false;   ///< files had changed while the host was away; now a checkpoint
    /// Journalled form: to be written again, then finish_recovery(). Until then the owner's edits
    /// of these files are not looked for.
    std::vector<LostWrite> lost_writes;
    /// Journalled form: the write that was announced last, when its file is neither as it was nor
    /// as it was to become. Had it happened, which the journal knows: record_written(). Either way
    /// finish_recovery(), which else keeps its text as a conflict. Until then as above.
    std::optional<LostWrite> doubtful;
};

class CheckpointStore {
  public:
    /// Opens or makes the repository at `repository` for the desk's folder `desk_dir` (a directory
    /// descriptor that outlives the store), heals what a crash left, and records the owner's edits.
    /// Errors: busy (another host holds it), corrupt (names the object), io, full.
    static Result<std::unique_ptr<CheckpointStore>> open(Os& os,
                                                         const Clock& clock,
                                                         int desk_dir,
                                                         const std::filesystem::path& repository,
                                                         std::string desk,
                                                         CheckpointForm form);
    ~CheckpointStore();
    CheckpointStore(const CheckpointStore&) = delete;
    CheckpointStore& operator=(const CheckpointStore&) = delete;

    [[nodiscard]] const CheckpointRecovery& recovery() const noexcept;
    /// The lost writes have been done again, or are the owner's business.
    Result<> finish_recovery();
    /// Whether a write whose content was given to take() is done again when a power cut takes its
    /// rename: its folder need not be synced.
    [[nodiscard]] bool redoes_writes() const noexcept;
    /// Waits until everything recorded is in the repository, durably, and git sees it. In the plain
    /// form it always is. For whoever reads the repository as files: backup, verify, forget.
    /// Errors: full, io, deadline; nothing is lost. Thread: [any], after finish_recovery().
    Result<> publish() const;

    /// Looks for the owner's edits of any own file and makes them a checkpoint of their own.
    /// nullopt: nothing had changed.
    Result<std::optional<Checkpoint>> record_owner_edits();

    /// The checkpoint before a write of `path`. Reads the file as it is on disk now; when that is
    /// not what the last commit holds, the owner's edit is recorded first. Durable when it returns.
    /// `expected_sha256` is the hash the file must have ("" = must not exist). `content` is what
    /// has the intended hash, when it is to be written again after a power cut.
    /// Errors: conflict (the file is not as expected), no_checkpoint (with the cause), refused
    /// (name or kind of file).
    Result<Checkpoint> take(const DeskPath& path,
                            std::string_view expected_sha256,
                            std::string_view intended_sha256,
                            const CheckpointReason& why,
                            std::optional<std::string_view> content = {});
    /// The same before a restore: the checkpoint's kind is "restore". An empty `intended_sha256`
    /// means that the file goes.
    Result<Checkpoint> take_for_restore(const DeskPath& path,
                                        std::string_view expected_sha256,
                                        std::string_view intended_sha256,
                                        const CheckpointReason& why,
                                        std::optional<std::string_view> content = {});
    /// The write of `checkpoint` did not happen: it is not done again after a crash.
    void not_written(const Checkpoint& checkpoint);
    /// The checkpoint before everything is put back as another one holds it: the owner's edits
    /// first, then one of kind "restore". Errors: no_checkpoint.
    /// `file` is the one that is put back (raw path), or "".
    Result<Checkpoint> begin_restore(const CheckpointReason& why, const std::string& file);
    /// The ledger's text is part of every commit from the next one on. Thread: [desk].
    void set_ledger(std::string_view text);
    /// The ledger as that checkpoint holds it; "" when it holds none. Errors: not_found, corrupt.
    [[nodiscard]] Result<std::string> ledger(const Checkpoint& checkpoint) const;
    /// Commits what that restore left: these files (nullopt = gone; raw paths) and attributes.
    /// Durable when it returns. Errors: no_checkpoint.
    Result<> finish_restore(const Checkpoint& before,
                            const std::map<std::string, std::optional<TreeFile>>& files,
                            const Attributes& attributes);
    /// Commits what the write of `checkpoint` left in `path` (`content`; nullopt = the file is
    /// gone). Durable; in the journalled form the checkpoint's record is, and this is kept over a
    /// kill. On an error the content is kept and committed before anything else that is
    /// recorded here; while that fails there is no checkpoint.
    Result<> record_written(const Checkpoint& checkpoint,
                            const DeskPath& path,
                            const std::optional<std::string>& content);
    /// Keeps the text that was refused because of a conflict, beside the owner's version, as
    /// `.daybook/conflicts/<id>` of a checkpoint of its own (kind "conflict").
    Result<Checkpoint> keep_conflict(const DeskPath& path,
                                     std::string_view refused_content,
                                     const CheckpointReason& why);
    /// A checkpoint by the owner's word.
    Result<Checkpoint> take_manual(std::string_view reason);

    /// Newest first, at most `limit`, older than `before` (0 = from the newest); of one file's
    /// (raw path) those that are about it: it was written, edited or put back.
    [[nodiscard]] Result<std::vector<Checkpoint>> list(std::size_t limit,
                                                       std::uint64_t before = 0,
                                                       std::string_view file = {}) const;
    /// By id ("c-12") or by a commit id of at least 7 digits. Errors: not_found, invalid.
    [[nodiscard]] Result<Checkpoint> find(std::string_view id) const;
    /// Own files that the checkpoint holds, with sizes.
    [[nodiscard]] Result<std::map<std::string, std::uint64_t>> files(
        const Checkpoint& checkpoint) const;
    /// A file's content in the checkpoint; nullopt = it did not exist then.
    [[nodiscard]] Result<std::optional<std::string>> read(const Checkpoint& checkpoint,
                                                          const DeskPath& path) const;
    /// Everything that the checkpoint holds, by raw path. Errors: not_found, corrupt.
    [[nodiscard]] Result<StoredTree> tree(const Checkpoint& checkpoint) const;
    /// The same of the newest commit, without the tree's id. Thread: [desk].
    [[nodiscard]] StoredTree head_tree() const;
    /// The desk's files as they are on disk now, read anew; `contents` gets their content, when
    /// given. Errors: io, busy.
    [[nodiscard]] Result<StoredTree> tree_on_disk(
        std::map<std::string, std::string>* contents = nullptr) const;
    /// A view of the objects, for reading many. Errors: io.
    [[nodiscard]] Result<std::unique_ptr<GitObjects>> open_objects() const;
    /// From the checkpoint to what its write left, or to the files on disk now when `against_now`.
    /// For a checkpoint of the owner's own edits: what they changed. Without `.daybook/`.
    [[nodiscard]] Result<std::vector<FileChange>> diff(const Checkpoint& checkpoint,
                                                       bool against_now) const;
    /// Head state of the file as last committed (sha256, "" = absent).
    [[nodiscard]] std::string committed_sha256(const DeskPath& path) const;

  private:
    struct Impl;
    explicit CheckpointStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace daybook
