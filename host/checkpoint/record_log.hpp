// The record log of one desk: a small SQLite database in the repository's folder. A checkpoint is
// durable once its record is in here, with one sync; the git objects follow, and when they are
// durable themselves the record goes.
//
// `daybook.records` and its write-ahead log `daybook.records-wal`, which is filled with zeros ahead
// of its use, so that a sync does not have to write where the file's blocks are. Thread: [any]; one
// mutex, held over what SQLite does, for two threads at most use it: the desk's and the one that
// brings its records into git.
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/log_record.hpp"
#include "host/checkpoint/sqlite_database.hpp"
#include "host/os/os.hpp"

namespace daybook {

class RecordLog {
  public:
    /// `folder_fd` is `folder`, opened; it outlives this. Touches nothing on disk.
    RecordLog(Os& os, std::filesystem::path folder, int folder_fd)
        : os_(os), folder_(std::move(folder)), folder_fd_(folder_fd) {}
    ~RecordLog();
    RecordLog(const RecordLog&) = delete;
    RecordLog& operator=(const RecordLog&) = delete;
    RecordLog(RecordLog&&) = delete;
    RecordLog& operator=(RecordLog&&) = delete;

    struct Left {
        std::vector<LogRecord> records;  ///< oldest first
        /// The run was not ended by mark_clean(): loose objects may be what a power cut made of
        /// them.
        bool is_unclean = false;
    };
    /// What a former run left. Does not make the database. Errors: io, corrupt, full.
    Result<Left> read_all();

    enum class Durable {
        now,        ///< one sync
        with_next,  ///< kept over a kill; a power cut may take it until the next sync
    };
    /// Sets the record's sequence. Opens or makes the database when need be. On an error the record
    /// is not in the log. Errors: full, io (final when disk_failure() says so).
    Result<> append(LogRecord& record, Durable durable);
    /// Removes the records up to that sequence, durably; an empty log begins anew in its file.
    Result<> drop_through(std::uint64_t sequence);
    /// Says that no loose object of this run can be broken any more. The next append takes it back.
    Result<> mark_clean();
    /// Closes the database, small when it is empty; the next append opens it again.
    void close();
    /// Why nothing may be written any more before the next start. nullopt while all is well.
    [[nodiscard]] std::optional<std::string> disk_failure() const;

  private:
    /// A database that is open, and what is prepared on it.
    struct Opened {
        SqliteDatabase database;
        SqliteStatement insert;
        SqliteStatement drop;
        SqliteStatement mark;
    };
    Result<> open_locked();
    Result<> fill_ahead();
    void shrink_locked();
    Result<> insert_locked(const LogRecord& record, Durable durable);
    Result<> mark_locked(bool unclean);
    Result<> drop_locked(std::uint64_t sequence);
    Error note(const Error& error);

    Os& os_;
    std::filesystem::path folder_;
    int folder_fd_;
    mutable std::mutex mutex_;  // guards all below, and the database's files
    std::optional<Opened> opened_;
    std::uint64_t next_sequence_ = 1;
    std::optional<std::string> disk_failure_;
    bool is_marked_ = false;  ///< unclean, in the database
    SqliteDatabase::Syncs syncs_ = SqliteDatabase::Syncs::every_commit;
};

}  // namespace daybook
