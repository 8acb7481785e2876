#include "host/checkpoint/materialiser.hpp"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "host/checkpoint/listing_index.hpp"
#include "host/checkpoint/pack_merge.hpp"

namespace daybook {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// After the last record: a burst of writes is not disturbed by the files of the ones before.
constexpr milliseconds kQuiet{20};
constexpr milliseconds kLatest{200};  ///< after the first: the owner's git is never further behind
constexpr std::size_t kMostQueued = 256;
constexpr seconds kIdle{30};
constexpr seconds kRetry{2};
constexpr seconds kStormPatience{30};
constexpr seconds kPatience{120};

Result<> sync_failed(const std::string& reason) {
    return Error(Errc::io, "checkpoints are closed until the next start, a sync failed: " + reason);
}

}  // namespace

Materialiser::~Materialiser() {
    std::thread ended;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        ended.swap(thread_);
    }
    changed_.notify_all();
    if (ended.joinable()) {
        ended.join();
    }
}

std::string Materialiser::trouble() const {
    const std::lock_guard lock(mutex_);
    return trouble_;
}

void Materialiser::hold(bool on) {
    const std::lock_guard lock(mutex_);
    held_ = on;
}

Result<> Materialiser::check_room() {
    std::unique_lock lock(mutex_);
    if (sync_failure_) {
        return sync_failed(*sync_failure_);
    }
    const auto has_room_now = [this] { return waiting_ < kMaxWaiting || sync_failure_; };
    bool has_room = changed_.wait_for(lock, kRetry, has_room_now);
    if (!has_room && trouble_.empty()) {  // it is behind, not stuck: a storm of writes is slowed
        changed_.wait_for(
            lock, kStormPatience, [&] { return has_room_now() || !trouble_.empty(); });
        has_room = has_room_now();
    }
    if (sync_failure_) {
        return sync_failed(*sync_failure_);
    }
    return has_room ? Result<>()
                    : Error(Errc::full,
                            "too many checkpoints wait to be brought into the repository" +
                                (trouble_.empty() ? "" : ": " + trouble_));
}

void Materialiser::add(Batch batch) {
    {
        const std::lock_guard lock(mutex_);
        last_added_ = std::chrono::steady_clock::now();
        if (queue_.empty()) {
            first_queued_ = last_added_;
        }
        queue_.push_back(std::move(batch));
        ++waiting_;
        start_locked();
        if (queue_.size() != 1 && queue_.size() < kMostQueued) {
            return;  // it wakes by itself
        }
    }
    changed_.notify_all();
}

Result<> Materialiser::publish() {
    std::unique_lock lock(mutex_);
    if (queue_.empty() && waiting_ == 0) {
        return {};
    }
    const std::uint64_t ticket = ++asked_;
    start_locked();
    changed_.notify_all();
    if (!changed_.wait_for(lock, kPatience, [&] { return answered_ >= ticket; })) {
        return Error(Errc::deadline, "bring checkpoints into the repository: it takes too long");
    }
    return answer_;
}

Result<> Materialiser::commit_directly(const Batch& batch, Repository::Moved* moved) {
    *moved = Repository::Moved::no;
    if (auto published = publish(); !published) {
        return published;
    }
    Direct request;
    request.batch = &batch;
    request.moved = moved;
    std::unique_lock lock(mutex_);
    direct_ = &request;
    start_locked();
    changed_.notify_all();
    changed_.wait(lock, [&] { return request.done; });  // its every step is bounded by the disk
    return request.outcome;
}

/// A thread that cannot be had is asked for again with the next record; until then all of it stands
/// in the log.
void Materialiser::start_locked() {
    if (running_ || stopping_) {
        return;
    }
    if (thread_.joinable()) {
        thread_.join();  // it has let go of the mutex for the last time
    }
    try {
        thread_ = std::thread([this] { loop(); });
        running_ = true;
    } catch (const std::system_error& error) {
        trouble_ = "start a thread: " + error.code().message();
        answer_ = Error(Errc::unavailable, trouble_);
        answered_ = asked_;
        if (direct_ != nullptr) {
            direct_->outcome = answer_;
            direct_->done = true;
            direct_ = nullptr;
        }
    }
}

Materialiser::Time Materialiser::wake_at() const {
    if (!queue_.empty()) {
        return std::max(retry_at_, std::min(last_added_ + kQuiet, first_queued_ + kLatest));
    }
    return std::max(retry_at_, last_added_ + kIdle);
}

bool Materialiser::is_due(Time now) const {
    return stopping_ || asked_ > answered_ || direct_ != nullptr || now >= wake_at() ||
           (queue_.size() >= kMostQueued && now >= retry_at_);
}

void Materialiser::loop() {
    std::unique_lock lock(mutex_);
    const auto may_end = [this](bool is_settled) {
        const bool is_wanted = asked_ > answered_ || direct_ != nullptr;
        const bool is_idle = std::chrono::steady_clock::now() >= last_added_ + kIdle;
        return !is_wanted && (is_settled || sync_failure_) && queue_.empty() && is_idle;
    };
    while (true) {
        while (!is_due(std::chrono::steady_clock::now())) {
            changed_.wait_until(lock, wake_at());
        }
        const bool was_stopping = stopping_;  // what came after that is still to be done
        const bool is_settled = work(lock);
        if (is_settled && has_drained_ && !stopping_ && !sync_failure_) {
            fill_index(lock);
        }
        if (!was_stopping && (stopping_ || !may_end(is_settled))) {
            continue;
        }
        const bool is_clean = is_settled && waiting_ == 0 && !sync_failure_;
        lock.unlock();
        if (is_clean && sync_removals()) {
            const Result<> ignored =
                log_.mark_clean();  // else the next start looks at every object
        }
        objects_.reset();
        log_.close();
        lock.lock();
        if (was_stopping || may_end(is_settled)) {  // nothing came meanwhile
            running_ = false;
            return;
        }
    }
}

bool Materialiser::work(std::unique_lock<std::mutex>& lock) {
    std::deque<Batch> batches = std::exchange(queue_, {});
    const std::uint64_t asked = asked_;
    Direct* direct = std::exchange(direct_, nullptr);
    const bool is_idle = std::chrono::steady_clock::now() >= last_added_ + kIdle;
    const bool drain_now = stopping_ || asked > answered_ || is_idle;
    const Drains drains = held_ ? Drains::never : drain_now ? Drains::at_end : Drains::when_many;
    const bool is_closed = sync_failure_.has_value();
    lock.unlock();
    Result<> done = is_closed ? Result<>(Error(Errc::io, "a sync failed")) : Result<>();
    if (done) {
        done = run(batches, drains);
    }
    if (direct != nullptr) {
        direct->outcome = done ? write_directly(*direct->batch, direct->moved) : done;
    }
    lock.lock();
    queue_.insert(queue_.begin(),
                  std::make_move_iterator(batches.begin()),
                  std::make_move_iterator(batches.end()));
    waiting_ = queue_.size() + written_.size();
    const bool is_settled = done.has_value();
    trouble_ = is_settled ? "" : done.error().message();
    if (!is_settled) {
        retry_at_ = std::chrono::steady_clock::now() + kRetry;
    }
    if (asked > answered_) {
        answered_ = asked;
        answer_ = std::move(done);
    }
    if (direct != nullptr) {
        direct->done = true;
    }
    changed_.notify_all();
    return is_settled;
}

/// After whoever waits has his answer. What goes wrong is made up for when it is asked.
void Materialiser::fill_index(std::unique_lock<std::mutex>& lock) {
    has_drained_ = false;
    lock.unlock();
    const Result<> ignored = objects_ && shown_ ? index_.catch_up(*objects_, *shown_) : Result<>();
    lock.lock();
}

Error Materialiser::note_sync(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!sync_failure_) {
        sync_failure_ = error.message();
    }
    return error;
}

Result<> Materialiser::open_objects() {
    if (objects_) {
        return {};
    }
    auto opened = repository_.open_reader();
    if (!opened) {
        return opened.error();
    }
    objects_ = std::move(*opened);
    return {};
}

/// What could not be written stays in `batches`. A long queue is brought in by pieces: each makes
/// room, and no pack is larger than it need be.
Result<> Materialiser::run(std::deque<Batch>& batches, Drains drains) {
    if (auto opened = open_objects(); !opened) {
        return opened;
    }
    while (!batches.empty()) {
        if (auto written = write_some(batches); !written) {
            return written;
        }
        if (drains != Drains::never && written_.size() >= kDrainAfter) {
            if (auto drained = drain(); !drained) {
                return drained;
            }
            const std::lock_guard lock(mutex_);
            waiting_ = batches.size() + queue_.size() + written_.size();
            changed_.notify_all();
        }
    }
    return drains == Drains::at_end ? drain() : Result<>();
}

Result<> Materialiser::write_some(std::deque<Batch>& batches) {
    for (std::size_t count = 0; !batches.empty() && count < kDrainAfter; ++count) {
        if (auto written = write_batch(batches.front()); !written) {
            return written;
        }
        Batch& batch = batches.front();
        shown_ = batch.commit;
        for (StagedObject& object : batch.objects) {
            object.bytes.reset();
        }
        written_.push_back(std::move(batch));
        batches.pop_front();
    }
    return repository_.write_ref(*shown_, Repository::RefSync::no);
}

Result<> Materialiser::write_batch(const Batch& batch) {
    for (const StagedObject& object : batch.objects) {
        if (auto done = objects_->write_unsynced(object.id, object.type, *object.bytes); !done) {
            return done;
        }
    }
    repository_.staged().drop(batch.objects);
    return {};
}

/// The renames that writes have made are durable before the records go that could make them again.
Result<> Materialiser::sync_folders(std::size_t count) {
    std::set<std::string> folders;
    for (std::size_t i = 0; i < count; ++i) {
        if (written_[i].folder) {
            folders.insert(*written_[i].folder);
        }
    }
    for (const std::string& folder : folders) {
        auto fd = os_.open_beneath(desk_dir_, folder, OpenMode::directory);
        if (!fd && fd.error().code() == Errc::io) {
            return fd.error();
        }
        if (!fd) {
            continue;  // the owner removed it, or put something else in its place
        }
        if (auto synced = os_.full_sync(fd->get()); !synced) {
            return note_sync(synced.error());
        }
    }
    return {};
}

Result<> Materialiser::pack(const std::vector<GitId>& ids) {
    if (auto looked = objects_->refresh(); !looked) {
        return looked;
    }
    std::vector<GitId> loose;
    std::set<GitId> seen;
    for (const GitId& id : ids) {
        if (seen.insert(id).second && !objects_->is_packed(id)) {
            loose.push_back(id);
        }
    }
    if (loose.empty()) {
        return {};
    }
    bool is_sync = false;
    auto name = write_pack(os_, repository_.place(), loose, &is_sync);
    if (!name) {
        return is_sync && name.error().code() != Errc::full ? note_sync(name.error())
                                                            : name.error();
    }
    if (auto looked = objects_->refresh(); !looked) {
        return looked;
    }
    for (const GitId& id : loose) {
        if (!objects_->is_packed(id)) {
            return Error(Errc::corrupt, "pack checkpoints: " + *name + " lacks " + id.hex());
        }
    }
    return {};
}

Result<> Materialiser::make_durable(const std::vector<GitId>& ids, const GitId& tip) {
    if (auto packed = pack(ids); !packed) {
        return packed;
    }
    Result<> done = repository_.append_tip(tip);
    if (done) {
        done = repository_.write_ref(shown_.value_or(tip), Repository::RefSync::yes);
    }
    if (!done && repository_.failure()) {
        return note_sync(done.error());
    }
    return done;
}

Result<> Materialiser::drain() {
    const auto last = std::find_if(
        written_.rbegin(), written_.rend(), [](const Batch& batch) { return batch.ends_write; });
    const auto count = static_cast<std::size_t>(written_.rend() - last);
    if (count == 0) {
        return {};
    }
    if (auto synced = sync_folders(count); !synced) {
        return synced;
    }
    std::vector<GitId> ids;
    for (std::size_t i = 0; i < count; ++i) {
        for (const StagedObject& object : written_[i].objects) {
            ids.push_back(object.id);
        }
    }
    const Batch& newest = written_[count - 1];
    if (auto done = make_durable(ids, newest.commit); !done) {
        return done;
    }
    if (auto dropped = log_.drop_through(newest.sequence); !dropped) {
        return log_.disk_failure() ? Result<>(note_sync(dropped.error())) : dropped;
    }
    written_.erase(written_.begin(), written_.begin() + static_cast<std::ptrdiff_t>(count));
    remove_loose(ids);
    has_drained_ = true;
    return tidy_packs();
}

/// What cannot be merged stays as it is: nothing depends on it but the room it takes.
Result<> Materialiser::tidy_packs() {
    bool is_sync = false;
    auto merged = merge_packs(os_, repository_.place(), &is_sync);
    if (!merged && is_sync && merged.error().code() != Errc::full) {
        return note_sync(merged.error());
    }
    return merged && *merged ? objects_->refresh() : Result<>();
}

/// They are in a pack: one that stays costs room and nothing else.
void Materialiser::remove_loose(const std::vector<GitId>& ids) {
    for (const GitId& id : ids) {
        const Result<> ignored = objects_->remove_loose(id);
        removed_from_.insert(id.bytes.front());
    }
}

/// A power cut may bring a removed file back, empty: git takes it for the object. Once this has
/// returned true it cannot.
bool Materialiser::sync_removals() {
    constexpr std::string_view kHex = "0123456789abcdef";
    for (const unsigned char first : std::exchange(removed_from_, {})) {
        const std::string name = {
            'o', 'b', 'j', 'e', 'c', 't', 's', '/', kHex[first >> 4U], kHex[first & 0x0FU]};
        auto fd = os_.open_beneath(repository_.place().repository_fd, name, OpenMode::directory);
        if (!fd && fd.error().code() == Errc::not_found) {
            continue;
        }
        if (!fd || !os_.full_sync(fd->get())) {
            return false;
        }
    }
    return true;
}

Result<> Materialiser::write_directly(const Batch& batch, Repository::Moved* moved) {
    *moved = Repository::Moved::no;
    std::vector<GitId> ids;
    for (const StagedObject& object : batch.objects) {
        if (auto done = objects_->write_unsynced(object.id, object.type, *object.bytes); !done) {
            return done;
        }
        ids.push_back(object.id);
    }
    if (auto packed = pack(ids); !packed) {
        return packed;
    }
    auto done = repository_.move_tip(batch.commit, moved);
    if (*moved == Repository::Moved::durable) {
        shown_ = batch.commit;
        remove_loose(ids);
    }
    if (!done && repository_.failure()) {
        return note_sync(done.error());
    }
    return done;
}

}  // namespace daybook
