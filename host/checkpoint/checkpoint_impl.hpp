// What CheckpointStore's files share: checkpoint_store.cpp (taking), recovery.cpp (opening),
// history.cpp (reading).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/checkpoint/attributes.hpp"
#include "host/checkpoint/checkpoint_store.hpp"
#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/file_scan.hpp"
#include "host/checkpoint/folder_tree.hpp"
#include "host/checkpoint/git_objects.hpp"
#include "host/checkpoint/repository.hpp"

namespace daybook {

inline constexpr std::string_view kFormatFile = ".daybook/format";
inline constexpr std::string_view kFormatText = "1\n";
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
    Result<> find_head();
    Result<std::optional<GitId>> newest_of(const std::vector<GitId>& candidates) const;
    Result<> load_head();
    Result<> heal_from_files();
    Result<> check_blobs();
    Result<> take_first();
    Result<std::uint64_t> last_number(CommitRecord record) const;

    // checkpoint_store.cpp
    /// Commits the changes on top of the head; durable when it returns. On an error the tree in
    /// memory is as before.
    Result<GitId> commit(CommitRecord record, const std::vector<Change>& changes);
    Result<Checkpoint> commit_checkpoint(CommitRecord record, const std::vector<Change>& changes);
    Result<Checkpoint> take(std::string_view kind,
                            const DeskPath& path,
                            std::string_view expected,
                            std::string_view intended,
                            const CheckpointReason& why);
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

    [[nodiscard]] std::optional<GitId> head() const;
    void set_head(const GitId& id);

    Os& os;
    const Clock& clock;
    int desk_dir;
    std::string desk;
    std::unique_ptr<Repository> repository;
    FolderTree tree;
    Attributes attributes;         ///< as the tree holds them
    Attributes wanted_attributes;  ///< as a commit that is being made will hold them
    FileScan scan;
    std::uint64_t next_number = 1;
    std::optional<Pending> pending;
    std::vector<std::string> skipped;  ///< of the last scan
    CheckpointRecovery recovery;

  private:
    mutable std::mutex head_mutex_;  ///< guards head_: readers on other threads take a copy
    std::optional<GitId> head_;
};

}  // namespace daybook
