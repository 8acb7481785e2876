// Puts many files of a desk back at once, so that a crash leaves all of it or nothing.
//
// Every new content is made in the repository's `stage` folder and made durable before anything
// changes; then each file is exchanged with, renamed to or moved from its place, and what came out
// is looked at: a save of the owner's in that instant goes back, and the file counts as skipped.
// Every step may be done again: a step whose outcome stands is passed over. Who calls decides when
// it has begun (checkpoint/restore_intent.hpp). Thread: [desk].
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/git_objects.hpp"
#include "host/gate/restore_plan.hpp"
#include "host/gate/trash.hpp"

namespace daybook {

class TreeRestore {
  public:
    /// Everything is borrowed and outlives this. `checkpoint` is the one before the restore.
    TreeRestore(Os& os,
                const DeskPlaces& places,
                const GitObjects& objects,
                Trash& trash,
                std::string checkpoint);

    /// Makes every content, durable when it returns; nothing of the desk's has changed. Errors:
    /// full, io, corrupt, not_found (of an object).
    Result<> stage(const std::vector<RestoreStep>& steps);
    /// Throws away what is staged. Errors: io.
    Result<> clear_stage();

    struct Skipped {
        std::string path;  ///< raw
        std::string why;
    };
    struct Outcome {
        std::vector<RestoreStep> done;  ///< file steps whose outcome stands
        std::vector<Skipped> skipped;
        std::vector<Skipped> folders;  ///< that could not be made or removed
        /// Versions that the owner had saved and replaced meanwhile.
        std::vector<std::pair<std::string, std::string>> superseded;
    };
    /// Does the steps. What cannot be done is listed, the rest goes on. Errors: io (a sync failed).
    Result<Outcome> apply(const std::vector<RestoreStep>& steps);

  private:
    /// Something in the file system, as a checkpoint would hold it.
    struct Seen {
        StoredFile file;
        bool is_plain = false;  ///< a file or link that a checkpoint could hold
        ino_t inode = 0;
        std::string content;
    };
    [[nodiscard]] std::string staged(std::size_t step) const;
    [[nodiscard]] std::string in_desk(const std::string& path) const;
    Result<std::optional<Seen>> look(const std::string& place);
    Result<> stage_one(std::size_t index, const RestoreStep& step);
    Result<> fill(int fd, const RestoreStep& step, const std::string& content);
    Result<> apply_one(std::size_t index, const RestoreStep& step, Outcome& outcome);
    Result<> put_file(std::size_t index, const RestoreStep& step, Outcome& outcome);
    static bool is(const std::optional<Seen>& seen, const std::optional<StoredFile>& file);
    Result<> finish_put(std::size_t index,
                        const RestoreStep& step,
                        std::optional<Seen> in_stage,
                        ino_t ours,
                        Outcome& outcome);
    Result<> swap_back(
        std::size_t index, const RestoreStep& step, Seen theirs, ino_t ours, Outcome& outcome);
    Result<> remove_file(std::size_t index, const RestoreStep& step, Outcome& outcome);
    Result<> make_folder(const RestoreStep& step);
    Result<> retire(const std::string& from, const RestoreStep& step, const Seen& what);

    Os& os_;
    DeskPlaces places_;
    const GitObjects& objects_;
    Trash& trash_;
    std::string checkpoint_;
};

}  // namespace daybook
