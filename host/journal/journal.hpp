// The append-only record of a desk (or, as "_host", of the host): one file a day, one JSON object a
// line. Format: docs/formats.md, "Journal"; rules of writing: shared by every caller, so they live
// here.
//
// Appends from several threads share their flushes: the first that finds nobody writing leads,
// takes what all have queued, writes it in one go, syncs once and answers all; who comes meanwhile
// is in the next group.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/journal_record.hpp"
#include "host/journal/journal_file.hpp"
#include "host/os/clock.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// Up to where a journal is known to be on the disk.
struct DurableEnd {
    DeskDate day;
    std::uint64_t bytes = 0;
    std::uint64_t seq = 0;
};

struct JournalCounts {
    std::uint64_t appended = 0;    ///< lines written and synced
    std::uint64_t syncs = 0;       ///< flushes that took
    std::uint64_t duplicates = 0;  ///< entries dropped because their key was there already
};

/// References outlive the journal: the Os, the clock. Thread: [any].
class Journal {
  public:
    /// Makes the folder below `state_dir` when it is missing and repairs the end of the newest
    /// file. What a crash left there is set aside and journalled ("journal_repaired"). While the
    /// disk refuses that, the journal opens all the same and tries again at the next append. `zone`
    /// is the desk's; none = UTC. Errors: io, full, refused (the folder or its list).
    static Result<std::unique_ptr<Journal>> open(Os& os,
                                                 const Clock& clock,
                                                 int state_dir,
                                                 std::string folder,
                                                 std::string desk,
                                                 std::optional<Zone> zone);
    ~Journal();
    Journal(const Journal&) = delete;
    Journal& operator=(const Journal&) = delete;
    Journal(Journal&&) = delete;
    Journal& operator=(Journal&&) = delete;

    /// Durable when it returns. An entry whose key stands in one of the newest three files is not
    /// written again: the earlier record comes back (its turn, id and data tell it apart) and is
    /// counted. Errors: full (over 64 KiB a line, no space; nothing was written), io (nothing was
    /// written, or, from then on for every append, "journal unavailable": a sync failed, and what
    /// became of the line is unknown).
    Result<JournalRecord> append(JournalEntry entry);
    /// All with one sync, in this order, next to each other in the file; all or none. Errors as
    /// above.
    Result<std::vector<JournalRecord>> append_all(std::vector<JournalEntry> entries);

    /// A sync has failed: nothing more is accepted until the journal is opened again.
    [[nodiscard]] bool failed() const noexcept { return failed_.load(); }
    [[nodiscard]] JournalCounts counts() const;
    /// nullopt: nothing was ever written.
    [[nodiscard]] std::optional<DurableEnd> durable_end() const;
    /// The day that an entry appended now would belong to. It never goes back, whatever the clock
    /// does.
    [[nodiscard]] DeskDate today() const { return day_for(clock_.now()); }

    /// Adds an observer for the journal's life: called for each new record after its sync, in
    /// order, on the thread that happens to write, with no lock held. Short; must not append.
    void on_append(std::function<void(const JournalRecord&)> observer);

    [[nodiscard]] const std::string& desk() const noexcept { return desk_; }
    [[nodiscard]] int folder() const noexcept { return folder_.get(); }
    [[nodiscard]] Os& os() const noexcept { return os_; }

  private:
    struct Batch;
    struct Place {
        std::uint64_t offset = 0;
        std::size_t bytes = 0;
    };
    struct DayKeys {
        DeskDate day;
        std::unordered_map<std::string, Place> places;
    };
    /// What one group writes: the bytes of its new lines, and where each lies.
    struct Group;

    Journal(
        Os& os, const Clock& clock, UniqueFd folder, std::string desk, std::optional<Zone> zone);
    void lead(std::unique_lock<std::mutex>& lock);
    void write_group(const std::vector<Batch*>& batches, std::vector<JournalRecord>& written);
    Result<> prepare_file(DeskDate day);
    Result<> journal_repairs(Timestamp now);
    Result<> add_batch(Batch& batch, Group& group);
    Result<> commit(Group& group);
    Result<> load_keys();
    Result<> load_keys_of(DeskDate day);
    Result<std::optional<JournalRecord>> earlier(const std::string& key);
    JournalRecord record_of(JournalEntry entry, const Group& group, std::uint64_t seq) const;
    void fail_for_good(const Error& error);
    [[nodiscard]] Error unavailable() const;
    [[nodiscard]] DeskDate date_of(Timestamp at) const;
    [[nodiscard]] DeskDate day_for(Timestamp at) const;

    Os& os_;
    const Clock& clock_;
    const UniqueFd folder_;
    const std::string desk_;
    const std::optional<Zone> zone_;
    std::atomic<bool> failed_{false};

    // Guards all until the next comment. Never held while the disk, a callback or the clock is
    // called.
    mutable std::mutex mutex_;
    std::condition_variable turned_;
    std::deque<Batch*> queue_;
    bool led_ = false;
    std::string failure_;
    JournalCounts counts_;
    std::optional<DurableEnd> durable_;
    std::optional<DeskDate> newest_;  ///< the newest day that has a file
    std::vector<std::shared_ptr<const std::function<void(const JournalRecord&)>>> observers_;

    // Belongs to the leader (whoever set led_).
    std::optional<JournalFile> file_;
    std::vector<TornTail> repairs_;  ///< set aside, not journalled yet
    std::deque<DayKeys>
        keys_;  ///< of the newest three files, oldest first; empty until a key is first asked for
    bool keys_loaded_ = false;
    std::uint64_t group_duplicates_ = 0;
};

}  // namespace daybook
