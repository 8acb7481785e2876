#include "host/journal/journal.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "host/journal/line_scan.hpp"

namespace daybook {
namespace {

constexpr std::size_t kKeyFiles = 3;

/// "2026-10-19T06:02:11+00:00", where no zone is set.
std::string local_in_utc(Timestamp at) {
    return to_rfc3339(at).substr(0, 19) + "+00:00";
}

}  // namespace

/// One caller's entries, on the caller's stack while it waits.
struct Journal::Batch {
    std::vector<JournalEntry> entries;
    Result<std::vector<JournalRecord>> outcome = Error(Errc::internal, "journal: not written");
    bool done = false;
};

struct Journal::Group {
    Timestamp now{};
    std::string bytes;
    std::vector<JournalRecord> records;                          ///< new ones, in order
    std::vector<std::pair<std::string, Place>> places;           ///< of those that have a key
    std::unordered_map<std::string, std::size_t> record_of_key;  ///< key -> index in records
    std::uint64_t duplicates = 0;
};

Journal::Journal(
    Os& os, const Clock& clock, UniqueFd folder, std::string desk, std::optional<Zone> zone)
    : os_(os),
      clock_(clock),
      folder_(std::move(folder)),
      desk_(std::move(desk)),
      zone_(std::move(zone)) {}

Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::open(Os& os,
                                               const Clock& clock,
                                               int state_dir,
                                               std::string folder,
                                               std::string desk,
                                               std::optional<Zone> zone) {
    const std::string what = "open journal " + folder;
    if (auto made = make_directories(os, state_dir, folder); !made) {
        return made.error().during(what);
    }
    auto fd = os.open_beneath(state_dir, folder, OpenMode::directory, 0);
    if (!fd) {
        return fd.error().during(what);
    }
    std::unique_ptr<Journal> journal(
        new Journal(os, clock, std::move(*fd), std::move(desk), std::move(zone)));
    auto days = journal_days(os, journal->folder_.get());
    if (!days) {
        return days.error().during(what);
    }
    if (days->empty()) {
        return journal;
    }
    // Nobody else has the journal yet, so this thread is the leader. What the disk refuses now is
    // tried again at the next append; until then what can be read is read.
    journal->newest_ = days->back();
    journal->durable_ = DurableEnd{days->back(), std::numeric_limits<std::uint64_t>::max(), 0};
    Result<> ready = journal->prepare_file(days->back());
    const Timestamp now = clock.now();
    if (ready && !journal->repairs_.empty()) {
        ready = journal->prepare_file(journal->day_for(now));
        ready = ready ? journal->journal_repairs(now) : ready;
    }
    return journal;
}

Result<JournalRecord> Journal::append(JournalEntry entry) {
    std::vector<JournalEntry> one;
    one.push_back(std::move(entry));
    auto records = append_all(std::move(one));
    if (!records) {
        return records.error();
    }
    return std::move(records->front());
}

Result<std::vector<JournalRecord>> Journal::append_all(std::vector<JournalEntry> entries) {
    if (entries.empty()) {
        return std::vector<JournalRecord>();
    }
    Batch batch;
    batch.entries = std::move(entries);
    std::unique_lock lock(mutex_);
    queue_.push_back(&batch);
    turned_.wait(lock, [&] { return batch.done || !led_; });
    if (!batch.done) {
        lead(lock);
    }
    return std::move(batch.outcome);
}

/// Takes the whole queue, writes it without the lock, and answers. The caller's own batch is in it.
void Journal::lead(std::unique_lock<std::mutex>& lock) {
    led_ = true;
    const std::vector<Batch*> batches(queue_.begin(), queue_.end());
    queue_.clear();
    const auto observers = observers_;
    lock.unlock();

    std::vector<JournalRecord> written;
    write_group(batches, written);
    for (const JournalRecord& record : written) {
        for (const auto& observer : observers) {
            (*observer)(record);
        }
    }

    lock.lock();
    counts_.duplicates += std::exchange(group_duplicates_, 0);
    for (Batch* batch : batches) {
        batch->done = true;
    }
    led_ = false;
    turned_.notify_all();
}

/// Fills in every batch's outcome; `written` are the new records that are on the disk now.
void Journal::write_group(const std::vector<Batch*>& batches, std::vector<JournalRecord>& written) {
    const auto refuse_all = [&](const Error& error) {
        for (Batch* batch : batches) {
            batch->outcome = error;
        }
    };
    if (failed_.load()) {
        refuse_all(unavailable());
        return;
    }
    Group group;
    // One instant for the group, so that a group never spans midnight and all of it is in one file.
    group.now = clock_.now();
    Result<> ready = prepare_file(day_for(group.now));
    ready = ready ? journal_repairs(group.now) : ready;
    if (!ready) {
        refuse_all(failed_.load() ? unavailable() : ready.error().during("journal of " + desk_));
        return;
    }
    for (Batch* batch : batches) {
        if (auto added = add_batch(*batch, group); !added) {
            batch->outcome = added.error().during("journal of " + desk_);
        }
    }
    if (auto committed = commit(group); !committed) {
        refuse_all(failed_.load() ? unavailable()
                                  : committed.error().during("journal of " + desk_));
        return;
    }
    group_duplicates_ = group.duplicates;
    written = std::move(group.records);
}

/// Opens the day's file unless it is open. A newer file than any before takes part in the search
/// for keys.
Result<> Journal::prepare_file(DeskDate day) {
    if (file_ && file_->day() == day) {
        return {};
    }
    bool sync_failed = false;
    auto file = JournalFile::open(os_, folder_.get(), day, sync_failed);
    if (!file) {
        if (sync_failed) {
            fail_for_good(file.error());
        }
        return file.error();
    }
    file_ = std::move(*file);
    if (file_->torn_tail()) {
        repairs_.push_back(*file_->torn_tail());
    }
    if (keys_loaded_) {
        keys_.push_back(DayKeys{day, {}});
        while (keys_.size() > kKeyFiles) {
            keys_.pop_front();
        }
    }
    const std::lock_guard guard(mutex_);
    newest_ = day;
    if (file_->length() > 0) {
        durable_ = DurableEnd{day, file_->length(), file_->last_seq()};
    }
    return {};
}

/// Writes the records of torn ends that were set aside.
Result<> Journal::journal_repairs(Timestamp now) {
    if (repairs_.empty()) {
        return {};
    }
    Group group;
    group.now = now;
    Batch batch;
    for (const TornTail& torn : repairs_) {
        JournalEntry entry;
        entry.type = "journal_repaired";
        entry.data.set("bytes", std::size_t{torn.bytes}).set("file", torn.file);
        batch.entries.push_back(std::move(entry));
    }
    Result<> done = add_batch(batch, group);
    done = done ? commit(group) : done;
    if (done) {
        repairs_.clear();
    }
    return done;
}

/// Adds a batch's lines to the group, or none of them. Fills in its outcome for the case that the
/// group is written.
Result<> Journal::add_batch(Batch& batch, Group& group) {
    std::vector<JournalRecord> records;
    const std::size_t bytes_before = group.bytes.size();
    const std::size_t records_before = group.records.size();
    const std::size_t places_before = group.places.size();
    const std::uint64_t duplicates_before = group.duplicates;
    const auto undo = [&] {
        for (std::size_t i = records_before; i < group.records.size(); ++i) {
            group.record_of_key.erase(group.records[i].entry.key);
        }
        group.bytes.resize(bytes_before);
        group.records.resize(records_before);
        group.places.resize(places_before);
        group.duplicates = duplicates_before;
    };
    for (JournalEntry& entry : batch.entries) {
        const std::string key = entry.key;
        if (!key.empty()) {
            if (const auto found = group.record_of_key.find(key);
                found != group.record_of_key.end()) {
                records.push_back(group.records[found->second]);
                ++group.duplicates;
                continue;
            }
            auto before = earlier(key);
            if (!before) {
                undo();
                return before.error();
            }
            if (*before) {
                records.push_back(std::move(**before));
                ++group.duplicates;
                continue;
            }
        }
        JournalRecord record =
            record_of(std::move(entry), group, file_->last_seq() + group.records.size() + 1);
        auto line = record.to_line();
        if (!line) {
            undo();
            return line.error();
        }
        if (!key.empty()) {
            group.places.emplace_back(key,
                                      Place{file_->length() + group.bytes.size(), line->size()});
            group.record_of_key.emplace(key, group.records.size());
        }
        group.bytes += *line;
        group.bytes += '\n';
        group.records.push_back(record);
        records.push_back(std::move(record));
    }
    batch.outcome = std::move(records);
    return {};
}

/// Writes and syncs a group; afterwards its keys and its end are known.
Result<> Journal::commit(Group& group) {
    if (group.bytes.empty()) {
        return {};
    }
    if (auto appended = file_->append(group.bytes); !appended) {
        return appended;
    }
    if (auto synced = file_->sync(); !synced) {
        fail_for_good(synced.error());
        return synced;
    }
    if (keys_loaded_) {
        for (auto& [key, place] : group.places) {
            keys_.back().places.emplace(std::move(key), place);
        }
    }
    const std::lock_guard guard(mutex_);
    counts_.appended += group.records.size();
    ++counts_.syncs;
    durable_ = DurableEnd{file_->day(), file_->length(), file_->last_seq()};
    return {};
}

JournalRecord Journal::record_of(JournalEntry entry, const Group& group, std::uint64_t seq) const {
    JournalRecord record;
    record.seq = seq;
    record.id = JournalRecord::make_id(desk_, file_->day(), seq);
    record.ts = group.now;
    record.local = zone_ ? zone_->local(group.now) : local_in_utc(group.now);
    record.desk = desk_;
    record.entry = std::move(entry);
    return record;
}

/// The record that has this key already, in the newest three files.
Result<std::optional<JournalRecord>> Journal::earlier(const std::string& key) {
    if (auto loaded = load_keys(); !loaded) {
        return loaded.error();
    }
    for (const DayKeys& day : keys_) {
        const auto found = day.places.find(key);
        if (found == day.places.end()) {
            continue;
        }
        auto file = os_.open_beneath(folder_.get(), journal_file_name(day.day), OpenMode::read, 0);
        if (!file) {
            return file.error();
        }
        auto line = os_.read_at(file->get(), found->second.offset, found->second.bytes);
        if (!line) {
            return line.error();
        }
        auto record = JournalRecord::from_line(*line);
        if (!record) {
            return record.error();
        }
        return std::optional(std::move(*record));
    }
    return std::optional<JournalRecord>();
}

/// Keys are read when one is first asked for: a desk that never appends a keyed entry pays nothing
/// at start.
Result<> Journal::load_keys() {
    if (keys_loaded_) {
        return {};
    }
    keys_.clear();
    auto days = journal_days(os_, folder_.get());
    if (!days) {
        return days.error();
    }
    const std::size_t first = days->size() > kKeyFiles ? days->size() - kKeyFiles : 0;
    for (std::size_t i = first; i < days->size(); ++i) {
        if (auto loaded = load_keys_of((*days)[i]); !loaded) {
            return loaded;
        }
    }
    keys_loaded_ = true;
    return {};
}

Result<> Journal::load_keys_of(DeskDate day) {
    auto file = os_.open_beneath(folder_.get(), journal_file_name(day), OpenMode::read, 0);
    if (!file) {
        return file.error();
    }
    const bool current = file_ && file_->day() == day;
    const std::uint64_t end = current ? file_->length() : std::numeric_limits<std::uint64_t>::max();
    DayKeys keys{day, {}};
    auto scanned =
        scan_lines(os_, file->get(), 0, end, [&](std::uint64_t offset, std::string_view line) {
            // A bad line is kept in the file and skipped here.
            if (auto record = JournalRecord::from_line(line);
                record && !record->entry.key.empty()) {
                keys.places.emplace(std::move(record->entry.key), Place{offset, line.size()});
            }
            return true;
        });
    if (!scanned) {
        return scanned.error();
    }
    keys_.push_back(std::move(keys));
    return {};
}

void Journal::fail_for_good(const Error& error) {
    const std::lock_guard guard(mutex_);
    failure_ = error.message();
    failed_.store(true);
}

Error Journal::unavailable() const {
    const std::lock_guard guard(mutex_);
    return Error(Errc::io, "journal unavailable: " + failure_);
}

JournalCounts Journal::counts() const {
    const std::lock_guard guard(mutex_);
    return counts_;
}

std::optional<DurableEnd> Journal::durable_end() const {
    const std::lock_guard guard(mutex_);
    return durable_;
}

DeskDate Journal::date_of(Timestamp at) const {
    return zone_ ? zone_->date_of(at)
                 : DeskDate{std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(at))};
}

/// The clock going back never reopens a closed day: ids and readers' cursors only go forward.
DeskDate Journal::day_for(Timestamp at) const {
    const DeskDate date = date_of(at);
    const std::lock_guard guard(mutex_);
    return newest_ ? std::max(*newest_, date) : date;
}

void Journal::on_append(std::function<void(const JournalRecord&)> observer) {
    auto kept =
        std::make_shared<const std::function<void(const JournalRecord&)>>(std::move(observer));
    const std::lock_guard guard(mutex_);
    observers_.push_back(std::move(kept));
}

}  // namespace daybook
