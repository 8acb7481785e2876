// Reading a journal's files: a day, from a cursor, or as they grow. Never changes anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/journal_record.hpp"
#include "host/os/clock.hpp"
#include "host/os/os.hpp"

namespace daybook {

class Journal;

/// What was read, oldest first, and how many lines were passed over.
struct JournalLines {
    std::vector<JournalRecord> records;
    std::uint64_t bad = 0;    ///< damaged lines: kept in the file, skipped here
    std::uint64_t newer = 0;  ///< lines of a version that this program does not know
};

/// A place between two lines: everything up to it has been read.
struct JournalPosition {
    DeskDate day;
    std::uint64_t offset = 0;  ///< bytes into the day's file
};

/// The Os (and the journal) must outlive the reader. A line that has no newline yet is not there
/// yet. Thread: one at a time.
class JournalReader {
  public:
    /// Of a journal that nobody writes now, or whose unsynced lines may be shown. Errors: not_found
    /// (no such journal), io.
    static Result<JournalReader> open(Os& os, int state_dir, const std::string& folder);
    /// Of a journal that this process writes: shows no line before it is synced.
    static JournalReader of(const Journal& journal);

    /// Days that have a file, oldest first.
    Result<std::vector<DeskDate>> days() const;
    /// A day without a file has no lines. Errors: io.
    Result<JournalLines> read_day(DeskDate day) const;
    /// The records behind (day, seq), at most `limit`, across days. Errors: io.
    Result<JournalLines> read_since(DeskDate day, std::uint64_t seq, std::size_t limit) const;

    /// The place behind the last whole line there is now: where following begins. Errors: io.
    Result<JournalPosition> end() const;
    /// What has come since `position`, which moves on; an unfinished line waits for the next call.
    /// `limit` lines at most. Errors: io; the position is then as it was.
    Result<JournalLines> follow(JournalPosition& position, std::size_t limit) const;

  private:
    JournalReader(Os& os, UniqueFd owned, int folder, const Journal* live)
        : os_(&os), owned_(std::move(owned)), folder_(folder), live_(live) {}
    /// Lines of a day from an offset on; returns the offset behind the last one taken.
    Result<std::uint64_t> read_from(DeskDate day,
                                    std::uint64_t offset,
                                    std::uint64_t after_seq,
                                    std::size_t limit,
                                    JournalLines& out) const;
    [[nodiscard]] std::uint64_t visible_bytes(DeskDate day) const;

    Os* os_;
    UniqueFd owned_;
    int folder_;
    const Journal* live_;
};

}  // namespace daybook
