#include "host/checkpoint/sqlite_database.hpp"

#include <cassert>
#include <utility>

#include <sqlite3.h>

namespace daybook {
namespace {

constexpr int kPatienceMs = 2000;

Errc code_of(int outcome) {
    switch (outcome & 0xFF) {
        case SQLITE_FULL:
            return Errc::full;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return Errc::busy;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return Errc::corrupt;
        default:
            return Errc::io;
    }
}

/// A read, write or sync that the disk refused. Not: no space, no memory.
bool is_disk_failure(int outcome) {
    return (outcome & 0xFF) == SQLITE_IOERR && outcome != SQLITE_IOERR_NOMEM;
}

}  // namespace

struct SqliteDatabase::Handle {
    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { sqlite3_close_v2(database); }

    sqlite3* database = nullptr;
    bool disk_failed = false;

    Error failure(int outcome) {
        const int extended = database != nullptr ? sqlite3_extended_errcode(database) : outcome;
        disk_failed = disk_failed || is_disk_failure(extended) || is_disk_failure(outcome);
        const std::string reason =
            database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(outcome);
        return Error(code_of(outcome), reason + " (" + std::to_string(extended) + ")");
    }
};

struct SqliteStatement::Handle {
    Handle() = default;
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() { sqlite3_finalize(statement); }

    sqlite3_stmt* statement = nullptr;
    SqliteDatabase::Handle* database = nullptr;
};

SqliteStatement::SqliteStatement(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
SqliteStatement::~SqliteStatement() = default;
SqliteStatement::SqliteStatement(SqliteStatement&&) noexcept = default;

void SqliteStatement::bind(const char* name, std::int64_t value) {
    const int index = sqlite3_bind_parameter_index(handle_->statement, name);
    [[maybe_unused]] const int outcome = sqlite3_bind_int64(handle_->statement, index, value);
    assert(outcome == SQLITE_OK);
}

void SqliteStatement::bind(const char* name, std::string_view bytes) {
    const int index = sqlite3_bind_parameter_index(handle_->statement, name);
    const char* start = bytes.empty() ? "" : bytes.data();
    // No destructor: the view outlives the statement's run.
    [[maybe_unused]] const int outcome =
        sqlite3_bind_blob64(handle_->statement, index, start, bytes.size(), nullptr);
    assert(outcome == SQLITE_OK);
}

Result<bool> SqliteStatement::step() {
    const int outcome = sqlite3_step(handle_->statement);
    if (outcome == SQLITE_ROW || outcome == SQLITE_DONE) {
        return outcome == SQLITE_ROW;
    }
    return handle_->database->failure(outcome);
}

std::int64_t SqliteStatement::integer(int column) const {
    return sqlite3_column_int64(handle_->statement, column);
}

std::string_view SqliteStatement::bytes(int column) const {
    const void* start = sqlite3_column_blob(handle_->statement, column);
    const int size = sqlite3_column_bytes(handle_->statement, column);
    return start == nullptr
               ? std::string_view()
               : std::string_view(static_cast<const char*>(start), static_cast<std::size_t>(size));
}

void SqliteStatement::reset() noexcept {
    sqlite3_reset(handle_->statement);
    sqlite3_clear_bindings(handle_->statement);
}

SqliteDatabase::SqliteDatabase(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
SqliteDatabase::~SqliteDatabase() = default;
SqliteDatabase::SqliteDatabase(SqliteDatabase&&) noexcept = default;
SqliteDatabase& SqliteDatabase::operator=(SqliteDatabase&&) noexcept = default;

Result<SqliteDatabase> SqliteDatabase::open(const std::filesystem::path& file,
                                            Syncs syncs,
                                            LogFile log) {
    auto handle = std::make_unique<Handle>();
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                      SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE;
    const int outcome = sqlite3_open_v2(file.c_str(), &handle->database, flags, "unix");
    const std::string doing = "open " + file.filename().string();
    if (outcome != SQLITE_OK) {
        return handle->failure(outcome).during(doing);
    }
    sqlite3_busy_timeout(handle->database, kPatienceMs);
    int keep = log == LogFile::kept ? 1 : 0;
    sqlite3_file_control(handle->database, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
    SqliteDatabase database(std::move(handle));
    Result<> done = database.run(
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"
        "PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-512;");
    if (done) {
        done = database.set_syncs(syncs);
    }
    return done ? Result<SqliteDatabase>(std::move(database))
                : Result<SqliteDatabase>(done.error().during(doing));
}

Result<> SqliteDatabase::run(const char* sql) {
    const int outcome = sqlite3_exec(handle_->database, sql, nullptr, nullptr, nullptr);
    return outcome == SQLITE_OK ? Result<>() : Result<>(handle_->failure(outcome));
}

Result<SqliteStatement> SqliteDatabase::prepare(const char* sql) {
    auto statement = std::make_unique<SqliteStatement::Handle>();
    statement->database = handle_.get();
    const int outcome = sqlite3_prepare_v3(
        handle_->database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement->statement, nullptr);
    if (outcome != SQLITE_OK) {
        return handle_->failure(outcome);
    }
    return SqliteStatement(std::move(statement));
}

Result<> SqliteDatabase::set_syncs(Syncs syncs) {
    // NORMAL: a commit is in the file and in order, but only the next sync makes it durable.
    return run(syncs == Syncs::every_commit ? "PRAGMA synchronous=FULL"
                                            : "PRAGMA synchronous=NORMAL");
}

Result<> SqliteDatabase::restart_log() {
    const int outcome = sqlite3_wal_checkpoint_v2(
        handle_->database, "main", SQLITE_CHECKPOINT_RESTART, nullptr, nullptr);
    return outcome == SQLITE_OK ? Result<>() : Result<>(handle_->failure(outcome));
}

bool SqliteDatabase::disk_failed() const noexcept {
    return handle_->disk_failed;
}

Result<SqliteTransaction> SqliteTransaction::begin(SqliteDatabase& database) {
    auto begun = database.run("BEGIN IMMEDIATE");
    return begun ? Result<SqliteTransaction>(SqliteTransaction(database))
                 : Result<SqliteTransaction>(begun.error());
}

SqliteTransaction::SqliteTransaction(SqliteTransaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

SqliteTransaction::~SqliteTransaction() {
    if (database_ != nullptr) {
        const Result<> ignored = database_->run("ROLLBACK");
    }
}

Result<> SqliteTransaction::commit() {
    auto done = database_->run("COMMIT");
    if (done) {
        database_ = nullptr;
    }
    return done;
}

}  // namespace daybook
