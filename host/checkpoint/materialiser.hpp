// Brings what stands in the record log into the git repository, off the call's path.
//
// Soon after each record: its objects as loose files and the ref, unsynced, so that the owner's git
// sees them. After kDrainAfter records, or when none has come for a while: the objects as one pack,
// synced, then the tip, then the records go. At no instant is a checkpoint neither in the log nor
// durable in git.
//
// One thread, started with work and gone when all of it is durable. Thread: [desk] for all but
// what says otherwise.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/record_log.hpp"
#include "host/checkpoint/repository.hpp"
#include "host/checkpoint/staged_objects.hpp"

namespace daybook {

class ListingIndex;

class Materialiser {
  public:
    static constexpr std::size_t kDrainAfter = 512;  ///< records: two a write
    /// Records that may wait, in all. More: no checkpoint until the disk has room again.
    static constexpr std::size_t kMaxWaiting = 8192;

    struct Batch {
        std::uint64_t sequence = 0;  ///< of its record
        GitId commit;
        std::vector<StagedObject> objects;
        /// No write is announced and open after it: the records up to here may go together.
        bool ends_write = true;
        std::optional<std::string> folder;  ///< of the desk, in which a write has renamed a file
    };

    /// All are borrowed and outlive this; `desk_dir` is the desk's folder.
    Materialiser(Os& os, Repository& repository, RecordLog& log, ListingIndex& index, int desk_dir)
        : os_(os), repository_(repository), log_(log), index_(index), desk_dir_(desk_dir) {}
    ~Materialiser();  ///< publish(), as far as it can be done
    Materialiser(const Materialiser&) = delete;
    Materialiser& operator=(const Materialiser&) = delete;
    Materialiser(Materialiser&&) = delete;
    Materialiser& operator=(Materialiser&&) = delete;

    /// Before a record is made. Errors: full (too many wait, and the repository takes no more;
    /// names the cause), io (final: a sync failed).
    Result<> check_room();
    /// The record is in the log.
    void add(Batch batch);
    /// Waits until all that was added is in git, and durable as far as no write is open. Errors:
    /// what kept it from being so; the records stay. [any]
    Result<> publish();
    /// A commit without a record, for what is too large for one. Publishes first; durable when it
    /// returns. On an error `*moved` says whether it is the tip nevertheless.
    Result<> commit_directly(const Batch& batch, Repository::Moved* moved);
    /// While held, no record goes: what a power cut took has not been done again yet.
    void hold(bool on);

    /// Why the last attempt did not succeed; "" while all is well. [any]
    [[nodiscard]] std::string trouble() const;

  private:
    struct Direct {
        const Batch* batch = nullptr;
        Repository::Moved* moved = nullptr;
        Result<> outcome;
        bool done = false;
    };
    using Time = std::chrono::steady_clock::time_point;

    void start_locked();
    void loop();
    [[nodiscard]] Time wake_at() const;
    [[nodiscard]] bool is_due(Time now) const;
    /// Whether all went well. Called with the lock, which it lets go meanwhile.
    bool work(std::unique_lock<std::mutex>& lock);
    enum class Drains { never, when_many, at_end };
    Result<> run(std::deque<Batch>& batches, Drains drains);
    Result<> write_some(std::deque<Batch>& batches);
    Result<> open_objects();
    Result<> write_batch(const Batch& batch);
    Result<> drain();
    Result<> make_durable(const std::vector<GitId>& ids, const GitId& tip);
    Result<> pack(const std::vector<GitId>& ids);
    Result<> sync_folders(std::size_t count);
    void remove_loose(const std::vector<GitId>& ids);
    bool sync_removals();
    Result<> tidy_packs();
    void fill_index(std::unique_lock<std::mutex>& lock);
    Result<> write_directly(const Batch& batch, Repository::Moved* moved);
    Error note_sync(const Error& error);

    Os& os_;
    Repository& repository_;
    RecordLog& log_;
    ListingIndex& index_;
    int desk_dir_;

    // Of the thread; nobody else touches them while it runs.
    std::unique_ptr<GitObjects> objects_;
    std::deque<Batch> written_;   ///< in git, not yet durable there; their objects' bytes are gone
    std::optional<GitId> shown_;  ///< the ref
    bool has_drained_ = false;    ///< since the listing index was filled
    std::set<unsigned char> removed_from_;  ///< first bytes of loose objects that were removed

    mutable std::mutex mutex_;  // guards all below; never held over the disk
    std::condition_variable changed_;
    std::deque<Batch> queue_;
    std::size_t waiting_ = 0;  ///< records whose objects are not durable in git
    std::thread thread_;
    bool running_ = false;
    bool stopping_ = false;
    bool held_ = false;
    std::uint64_t asked_ = 0, answered_ = 0;  ///< publish()
    Result<> answer_;
    Direct* direct_ = nullptr;
    Time last_added_{};
    Time first_queued_{};
    Time retry_at_{};
    std::string trouble_;
    std::optional<std::string> sync_failure_;
};

}  // namespace daybook
