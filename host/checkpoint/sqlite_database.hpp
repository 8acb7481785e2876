// One SQLite database, used by one thread at a time: what the record log and the listing index are
// built on. The only file pair that knows sqlite3.h.
//
// Write-ahead log, exclusive to this process (no shared-memory file), never checkpointed by itself.
// Thread: [any], one at a time; the owner of the object sees to that.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

namespace daybook {

/// A prepared statement. Bound views must live until reset(). Outlived by its database.
class SqliteStatement {
  public:
    ~SqliteStatement();
    SqliteStatement(SqliteStatement&&) noexcept;
    SqliteStatement& operator=(SqliteStatement&&) = delete;
    SqliteStatement(const SqliteStatement&) = delete;
    SqliteStatement& operator=(const SqliteStatement&) = delete;

    /// `name` as in the text, with its colon. An unknown name is a fault of the program.
    void bind(const char* name, std::int64_t value);
    void bind(const char* name, std::string_view bytes);
    /// The next row; false at the end. Errors: full, io, corrupt, busy.
    Result<bool> step();
    [[nodiscard]] std::int64_t integer(int column) const;
    /// Valid until the next step() or reset().
    [[nodiscard]] std::string_view bytes(int column) const;
    void reset() noexcept;

  private:
    friend class SqliteDatabase;
    struct Handle;
    explicit SqliteStatement(std::unique_ptr<Handle> handle);
    std::unique_ptr<Handle> handle_;
};

class SqliteDatabase {
  public:
    enum class Syncs { never, every_commit };
    enum class LogFile { kept, removed };  ///< the write-ahead log, when the database is closed

    /// Makes the file when it is missing. Errors: io, full, corrupt (not a database), busy.
    static Result<SqliteDatabase> open(const std::filesystem::path& file,
                                       Syncs syncs,
                                       LogFile log = LogFile::kept);
    ~SqliteDatabase();
    SqliteDatabase(SqliteDatabase&&) noexcept;
    SqliteDatabase& operator=(SqliteDatabase&&) noexcept;
    SqliteDatabase(const SqliteDatabase&) = delete;
    SqliteDatabase& operator=(const SqliteDatabase&) = delete;

    /// One or more statements without results; the text is a constant.
    Result<> run(const char* sql);
    Result<SqliteStatement> prepare(const char* sql);
    /// Whether commits sync from now on. Not inside a transaction.
    Result<> set_syncs(Syncs syncs);
    /// Copies the log into the database, syncs both, and begins the log anew in the same file.
    Result<> restart_log();
    /// The last failure was one of the disk itself: what was written is not to be trusted any more.
    [[nodiscard]] bool disk_failed() const noexcept;

  private:
    friend class SqliteStatement;
    struct Handle;
    explicit SqliteDatabase(std::unique_ptr<Handle> handle);
    std::unique_ptr<Handle> handle_;
};

/// Begins a transaction that is rolled back unless commit() was called and went well.
class SqliteTransaction {
  public:
    static Result<SqliteTransaction> begin(SqliteDatabase& database);
    ~SqliteTransaction();
    SqliteTransaction(SqliteTransaction&& other) noexcept;
    SqliteTransaction& operator=(SqliteTransaction&&) = delete;
    SqliteTransaction(const SqliteTransaction&) = delete;
    SqliteTransaction& operator=(const SqliteTransaction&) = delete;
    Result<> commit();

  private:
    explicit SqliteTransaction(SqliteDatabase& database) : database_(&database) {}
    SqliteDatabase* database_;
};

}  // namespace daybook
