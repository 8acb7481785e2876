// One day's journal file, open for appending.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/clock.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// What a crash left at the end of a file and where it was put.
struct TornTail {
    std::uint64_t bytes = 0;
    std::string file;  ///< "2026-10-19.torn-1"
};

/// "2026-10-19.jsonl".
[[nodiscard]] std::string journal_file_name(DeskDate day);

/// The days that have a file in the folder, oldest first. Errors: not_found, io.
Result<std::vector<DeskDate>> journal_days(Os& os, int folder);

/// Owned by whoever leads the journal's group commit: one thread at a time.
class JournalFile {
  public:
    /// Opens or makes the day's file, repairs its end (a whole line without its newline gets one, a
    /// torn one is moved to
    /// `<day>.torn-N`) and finds the last seq. The folder is synced when the file is new, the file
    /// itself when it is not: a killed process may have left lines that are not on the disk yet.
    /// `sync_failed` says that an error came from a sync and is final. Errors: io, full, refused.
    static Result<JournalFile> open(Os& os, int folder, DeskDate day, bool& sync_failed);

    /// Appends in one write. On an error the file is cut back to what it was, at the latest before
    /// the next append. Not durable before sync(). Errors: io, full.
    Result<> append(std::string_view bytes);
    /// Errors: io. Final: the bytes may be lost, and asking again would lie.
    Result<> sync();

    [[nodiscard]] DeskDate day() const noexcept { return day_; }
    [[nodiscard]] std::uint64_t length() const noexcept {
        return length_;
    }  ///< bytes of whole lines
    [[nodiscard]] std::uint64_t last_seq() const noexcept { return last_seq_; }
    /// What was set aside at open.
    [[nodiscard]] const std::optional<TornTail>& torn_tail() const noexcept { return torn_; }

  private:
    JournalFile(Os& os, int folder, DeskDate day) : os_(&os), folder_(folder), day_(day) {}
    Result<> repair(bool& sync_failed);
    Result<> set_aside(std::string_view tail, std::uint64_t keep, bool& sync_failed);
    Result<> synced(Result<> outcome, bool& sync_failed);
    Result<> find_last_seq();

    Os* os_;
    int folder_;
    DeskDate day_;
    UniqueFd fd_;
    std::uint64_t length_ = 0;
    std::uint64_t last_seq_ = 0;
    bool cut_pending_ = false;
    std::optional<TornTail> torn_;
};

}  // namespace daybook
