#include "host/checkpoint/record_log.hpp"

#include <algorithm>
#include <utility>

namespace daybook {
namespace {

constexpr std::string_view kDatabase = "daybook.records";
constexpr std::string_view kLog = "daybook.records-wal";
constexpr unsigned kFileMode = 0660;
constexpr std::size_t kFilledAhead = 1024UL * 1024;
constexpr off_t kMostAtRest = 128L * 1024;  ///< of the database, when it holds no record
constexpr const char* kSchema =
    "CREATE TABLE IF NOT EXISTS record(sequence INTEGER PRIMARY KEY, body BLOB NOT NULL);"
    "CREATE TABLE IF NOT EXISTS state(version INTEGER NOT NULL, restarts INTEGER NOT NULL,"
    " unclean INTEGER NOT NULL);"
    "INSERT INTO state SELECT 1, 0, 0 WHERE NOT EXISTS(SELECT 1 FROM state);"
    "PRAGMA journal_size_limit=8388608;";

}  // namespace

RecordLog::~RecordLog() {
    close();
}

Error RecordLog::note(const Error& error) {
    if (opened_ && opened_->database.disk_failed() && !disk_failure_) {
        disk_failure_ = error.message();
    }
    return error.during("record log");
}

/// A log that is new or was cut: zeros first, which SQLite takes for an empty log. A database that
/// has no size yet would throw them away: it is made before.
Result<> RecordLog::fill_ahead() {
    auto status = os_.stat_beneath(folder_fd_, kLog);
    if (status && status->st_size != 0) {
        return {};
    }
    auto file = os_.open_beneath(folder_fd_, kLog, OpenMode::append, kFileMode);
    if (!file) {
        return file.error();
    }
    auto done = os_.write_all(file->get(), std::string(kFilledAhead, '\0'));
    if (!done) {
        const Result<> ignored = os_.truncate(file->get(), 0);
        return done;
    }
    done = os_.full_sync(file->get());
    return done ? os_.full_sync(folder_fd_) : done;
}

Result<> RecordLog::open_locked() {
    if (opened_) {
        return {};
    }
    const std::filesystem::path file = folder_ / kDatabase;
    auto there = os_.stat_beneath(folder_fd_, kDatabase);
    if (!there || there->st_size == 0) {
        auto made = SqliteDatabase::open(file, SqliteDatabase::Syncs::every_commit);
        auto done = made ? made->run(kSchema) : Result<>(made.error());
        if (done) {
            done = made->restart_log();
        }
        if (!done) {
            return done.error().during("make the record log");
        }
        made = Error(Errc::internal, "closed");
        if (auto gone = os_.remove(folder_fd_, kLog);  // all of it is in the database
            !gone && gone.error().code() != Errc::not_found) {
            return gone.error().during("make the record log");
        }
    }
    if (auto filled = fill_ahead(); !filled) {
        return filled.error().during("fill the record log");
    }
    auto database = SqliteDatabase::open(file, SqliteDatabase::Syncs::every_commit);
    if (!database) {
        return database.error();
    }
    if (auto made = database->run(kSchema); !made) {
        return made.error().during("open the record log");
    }
    auto insert = database->prepare("INSERT INTO record VALUES(:sequence, :body)");
    auto drop = database->prepare("DELETE FROM record WHERE sequence <= :sequence");
    auto mark = database->prepare("UPDATE state SET unclean = :unclean");
    auto last = database->prepare(
        "SELECT (SELECT coalesce(max(sequence), 0) FROM record), unclean FROM state");
    for (const auto* statement : {&insert, &drop, &mark, &last}) {
        if (!*statement) {
            return statement->error().during("open the record log");
        }
    }
    if (auto row = last->step(); !row) {
        return row.error().during("open the record log");
    }
    next_sequence_ = std::max(next_sequence_, static_cast<std::uint64_t>(last->integer(0)) + 1);
    is_marked_ = last->integer(1) != 0;
    last->reset();
    syncs_ = SqliteDatabase::Syncs::every_commit;
    opened_.emplace(
        Opened{std::move(*database), std::move(*insert), std::move(*drop), std::move(*mark)});
    return {};
}

Result<RecordLog::Left> RecordLog::read_all() {
    const std::lock_guard lock(mutex_);
    Left left;
    auto there = os_.stat_beneath(folder_fd_, kDatabase);
    if (!there || there->st_size == 0) {
        const bool is_none = there || there.error().code() == Errc::not_found;
        return is_none ? Result<Left>(std::move(left)) : Result<Left>(there.error());
    }
    if (auto opened = open_locked(); !opened) {
        return opened.error();
    }
    left.is_unclean = is_marked_;
    auto select = opened_->database.prepare("SELECT sequence, body FROM record ORDER BY sequence");
    if (!select) {
        return note(select.error());
    }
    while (true) {
        auto row = select->step();
        if (!row) {
            return note(row.error());
        }
        if (!*row) {
            return left;
        }
        auto record = LogRecord::decode(select->bytes(1));
        if (!record) {
            return record.error();
        }
        record->sequence = static_cast<std::uint64_t>(select->integer(0));
        left.records.push_back(std::move(*record));
    }
}

Result<> RecordLog::insert_locked(const LogRecord& record, Durable durable) {
    const auto wanted = durable == Durable::now ? SqliteDatabase::Syncs::every_commit
                                                : SqliteDatabase::Syncs::never;
    if (wanted != syncs_) {
        if (auto set = opened_->database.set_syncs(wanted); !set) {
            return set;
        }
        syncs_ = wanted;
    }
    const std::string body = record.encode();
    const auto insert = [&]() -> Result<> {
        SqliteStatement& statement = opened_->insert;
        statement.bind(":sequence", static_cast<std::int64_t>(record.sequence));
        statement.bind(":body", body);
        const auto done = statement.step();
        statement.reset();
        return done ? Result<>() : Result<>(done.error());
    };
    if (is_marked_) {
        return insert();  // a transaction of its own
    }
    auto both = SqliteTransaction::begin(opened_->database);
    auto done = both ? mark_locked(true) : Result<>(both.error());
    if (done) {
        done = insert();
    }
    if (done) {
        done = both->commit();
    }
    is_marked_ = done.has_value();
    return done;
}

Result<> RecordLog::mark_locked(bool unclean) {
    opened_->mark.bind(":unclean", std::int64_t{unclean ? 1 : 0});
    const auto done = opened_->mark.step();
    opened_->mark.reset();
    return done ? Result<>() : Result<>(done.error());
}

Result<> RecordLog::mark_clean() {
    const std::lock_guard lock(mutex_);
    if (!opened_ || !is_marked_ || disk_failure_) {
        return {};
    }
    if (auto done = mark_locked(false); !done) {
        return note(done.error());
    }
    is_marked_ = false;
    return {};
}

Result<> RecordLog::append(LogRecord& record, Durable durable) {
    const std::lock_guard lock(mutex_);
    if (disk_failure_) {
        return Error(Errc::io, "record log: closed until the next start: " + *disk_failure_);
    }
    if (auto opened = open_locked(); !opened) {
        return opened;
    }
    record.sequence = next_sequence_;
    if (auto done = insert_locked(record, durable); !done) {
        return note(done.error());
    }
    ++next_sequence_;
    return {};
}

Result<> RecordLog::drop_locked(std::uint64_t sequence) {
    if (auto set = opened_->database.set_syncs(SqliteDatabase::Syncs::every_commit); !set) {
        return set;
    }
    syncs_ = SqliteDatabase::Syncs::every_commit;
    opened_->drop.bind(":sequence", static_cast<std::int64_t>(sequence));
    const auto done = opened_->drop.step();
    opened_->drop.reset();
    if (!done) {
        return done.error();
    }
    if (auto restarted = opened_->database.restart_log(); !restarted) {
        return restarted;
    }
    // The first commit of a log that begins anew syncs twice: it is made here, not by a checkpoint.
    return opened_->database.run("UPDATE state SET restarts = restarts + 1");
}

Result<> RecordLog::drop_through(std::uint64_t sequence) {
    const std::lock_guard lock(mutex_);
    if (disk_failure_) {
        return Error(Errc::io, "record log: closed until the next start: " + *disk_failure_);
    }
    if (auto opened = open_locked(); !opened) {
        return opened;
    }
    auto done = drop_locked(sequence);
    return done ? done : Result<>(note(done.error()));
}

/// A storm of writes leaves a large file with nothing in it: whoever closes gives it back.
void RecordLog::shrink_locked() {
    auto status = os_.stat_beneath(folder_fd_, kDatabase);
    if (!opened_ || disk_failure_ || !status || status->st_size <= kMostAtRest) {
        return;
    }
    auto any = opened_->database.prepare("SELECT 1 FROM record LIMIT 1");
    const auto row = any ? any->step() : Result<bool>(any.error());
    if (!row || *row) {
        return;
    }
    any->reset();
    if (auto done = opened_->database.run("VACUUM"); !done) {
        note(done.error());
    }
}

void RecordLog::close() {
    const std::lock_guard lock(mutex_);
    shrink_locked();
    opened_.reset();
}

std::optional<std::string> RecordLog::disk_failure() const {
    const std::lock_guard lock(mutex_);
    return disk_failure_;
}

}  // namespace daybook
