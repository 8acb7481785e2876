// Files that were taken out of their place are moved into the `trash` folder of the desk's
// repository, never unlinked at once.
//
// Two kinds. *Replaced*: the inode that a write put another in the place of. An editor that has it
// open may go on writing to it; it is kept for a while and looked at again before it goes, so that
// such a save is found. *Removed*: files that a restore took away; they stay until the owner
// empties the trash. A file's name in the trash says its kind and what it held when it came; the
// rest stands in `trash/index.jsonl`, which may be lost. Thread: [desk], but for list().
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/clock.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// Where a desk's files and its repository lie beneath one descriptor, so that a file moves between
/// them by one rename. `root` is borrowed.
struct DeskPlaces {
    int root = -1;
    std::string desk;        ///< "workspace/main"
    std::string repository;  ///< "workspace/.checkpoints/main.git"
};

struct TrashEntry {
    enum class Kind { replaced, removed };
    std::uint64_t number = 0;
    Kind kind = Kind::removed;
    std::string path;        ///< raw, in the desk's folder; "" when the index was lost
    std::string checkpoint;  ///< "c-12", before whose write or restore it was there
    Timestamp at{};
    std::string sha256;  ///< of its content when it came; "" of a link
    std::uint64_t bytes = 0;
};

class Trash {
  public:
    /// How long a replaced file is kept for editors that have it open.
    static constexpr std::chrono::minutes kKept{10};
    /// With more of them the oldest that nobody has open go sooner.
    static constexpr std::size_t kMostReplaced = 1024;

    /// Everything is borrowed and outlives this.
    Trash(Os& os, const Clock& clock, const DeskPlaces& places);

    /// Reads what is there. Errors: io.
    Result<> open();
    /// Moves a file from `from` (beneath the root) into the trash. `what` but for number and time.
    /// Errors: not_found, io, refused (another file system).
    Result<TrashEntry> take_in(std::string_view from, TrashEntry what);

    /// A replaced file that was written to after it had been replaced.
    struct Late {
        TrashEntry entry;
        std::string content;
    };
    /// Looks at the replaced files that came last, or at all of them: those that were written to
    /// are handed over, and told once for each content. Errors: io.
    Result<std::vector<Late>> find_late(bool all);
    /// The same of all; those that are older than `age`, unchanged and open for writing nowhere
    /// are removed. Errors: io.
    Result<std::vector<Late>> settle(std::chrono::seconds age);
    /// Whether there are replaced files to look at again.
    [[nodiscard]] bool waits() const noexcept { return !replaced_.empty(); }

    /// Newest first. Thread: [any], on an object of one's own.
    Result<std::vector<TrashEntry>> list();
    struct Emptied {
        std::size_t files = 0;
        std::uint64_t bytes = 0;
    };
    /// Removes what restores took away. Replaced files go by themselves. Errors: io.
    Result<Emptied> empty();

  private:
    struct Kept {
        TrashEntry entry;
        std::string name;
        std::int64_t changed = 0;  ///< change time when it was last looked at, nanoseconds
        std::int64_t size = -1;
    };
    [[nodiscard]] std::string place_of(std::string_view name) const;
    Result<std::vector<Kept>> read_folder();
    Result<> append_index(const TrashEntry& entry);
    Result<> rewrite_index();
    /// nullopt: as it was when last looked at, or gone.
    Result<std::optional<Late>> look(Kept& kept, bool surely);
    Result<bool> is_written_to(const Kept& kept);

    Os& os_;
    const Clock& clock_;
    DeskPlaces places_;
    std::uint64_t next_ = 1;
    std::deque<Kept> replaced_;
    std::size_t index_lines_ = 0;
};

/// {"files":[{"path","kind","checkpoint","at","bytes","sha256"}],"bytes":...}; odd names quoted.
[[nodiscard]] Json trash_json(const std::vector<TrashEntry>& entries);

}  // namespace daybook
