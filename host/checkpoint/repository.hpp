// The folder of one desk's checkpoints: its layout, its lock, and its tip.
//
// The layout is that of a bare git repository, made here byte by byte. The tip stands in two files,
// both written here: `daybook.tip`, an append-only list of commit ids of which the last whole line
// counts, synced first; and the ref, for git, replaced after it. Git's own lock files are never
// used, so none can be left behind or stand in our way. An owner's `git gc` or `git pack-refs` does
// no harm. Thread: [desk]; in the journalled form the tip and the ref are the materialiser's.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/git_objects.hpp"
#include "host/checkpoint/pack_writer.hpp"
#include "host/checkpoint/staged_objects.hpp"
#include "host/os/os.hpp"
#include "host/os/unique_fd.hpp"

namespace daybook {

class Repository {
  public:
    /// Makes the repository when it is not there, locks it, and removes what a crash left.
    /// Errors: busy (another host holds it), io, full.
    static Result<std::unique_ptr<Repository>> open(Os& os, const std::filesystem::path& folder);

    [[nodiscard]] GitObjects& objects() noexcept { return *objects_; }
    [[nodiscard]] const GitObjects& objects() const noexcept { return *objects_; }
    /// What is not in the repository yet; every view of the objects reads it first.
    [[nodiscard]] StagedObjects& staged() const noexcept { return *staged_; }
    [[nodiscard]] PackPlace place() const { return {folder_, fd_.get()}; }
    /// Another view of the same objects, for a reader on another thread. Errors: io.
    [[nodiscard]] Result<std::unique_ptr<GitObjects>> open_reader() const;

    /// The repository's folder, opened.
    [[nodiscard]] int folder_fd() const noexcept { return fd_.get(); }

    /// Commits that may be the newest, most trusted first: the tip's last line, the ref, the packed
    /// ref. Empty: a new repository, or one that lost all three. Errors: io.
    [[nodiscard]] Result<std::vector<GitId>> tip_candidates();
    /// Whether git sees this commit at the ref.
    [[nodiscard]] bool ref_is(const GitId& commit);

    enum class Moved {
        no,       ///< nothing changed
        durable,  ///< the commit is the tip now, though the ref could not be written
    };
    /// Makes a durable commit the tip. On an error `*moved` says how far it came.
    /// Errors: full, io.
    Result<> move_tip(const GitId& commit, Moved* moved);

    /// The first half of move_tip(): what the next start begins with.
    Result<> append_tip(const GitId& commit);
    enum class RefSync { yes, no };
    /// The second half: what git sees. Without a sync a power cut may leave the ref empty; the next
    /// start writes it again.
    Result<> write_ref(const GitId& commit, RefSync sync);

    /// Files of a crash that were removed, relative to the repository.
    [[nodiscard]] const std::vector<std::string>& removed_leftovers() const noexcept {
        return removed_;
    }
    /// Why nothing may be written any more before the next start: a sync failed. nullopt while all
    /// is well.
    [[nodiscard]] std::optional<std::string> failure() const;

  private:
    Repository(Os& os, std::filesystem::path folder, UniqueFd fd)
        : os_(os),
          folder_(std::move(folder)),
          fd_(std::move(fd)),
          staged_(std::make_shared<StagedObjects>()) {}
    Result<> make_layout();
    Result<> make_fan_out();
    Result<> mend_head();
    Result<> lock();
    Result<> remove_leftovers();
    Result<> remove_leftovers_in(const std::string& place, bool (*is_leftover)(std::string_view));
    Result<> open_tip();
    void note_failure(const Error& error);

    Os& os_;
    std::filesystem::path folder_;
    UniqueFd fd_;
    UniqueFd lock_;
    UniqueFd tip_;
    UniqueFd objects_fd_;
    std::shared_ptr<StagedObjects> staged_;
    std::unique_ptr<GitObjects> objects_;
    std::vector<std::string> removed_;
    bool tip_is_torn_ = false;          ///< a failed append may have left part of a line
    mutable std::mutex failure_mutex_;  // guards failure_
    std::optional<std::string> failure_;
};

}  // namespace daybook
