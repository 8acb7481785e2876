// Names and reading of session files, shared by the store's writing and reading sides.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/session_record.hpp"
#include "host/os/clock.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// A session's name: "2026-10-19-2" is the second session of that day. Ordered by day, then number.
struct SessionName {
    DeskDate day;
    int number = 1;

    /// Errors: invalid.
    static Result<SessionName> parse(std::string_view text);
    [[nodiscard]] std::string str() const;
    [[nodiscard]] std::string file() const { return str() + ".jsonl"; }

    friend auto operator<=>(const SessionName&, const SessionName&) = default;
    friend bool operator==(const SessionName&, const SessionName&) = default;
};

/// Names of the session files in the folder, oldest first. Errors: io.
Result<std::vector<SessionName>> list_session_names(Os& os, int folder);

/// What stands in a session file.
struct SessionLines {
    std::vector<SessionRecord> records;  ///< good lines, oldest first
    std::size_t bad_lines = 0;           ///< whole lines that cannot be read
    std::uint64_t lines = 0;             ///< whole lines, good and bad and skipped (by their seq)
    std::uint64_t skipped = 0;           ///< lines behind the first that are left out
    std::uint64_t bytes = 0;             ///< up to the last newline
    std::string torn;                    ///< what stands behind the last newline
};

/// Reads a session file: all of it, or of a file over kMaxHeldSession its first line and whole
/// turns of its end, so that memory is bounded whatever its size. A last line without a newline is
/// in `torn` only. Errors: not_found, refused, corrupt (its last line alone is longer than that),
/// io.
Result<SessionLines> read_session_file(Os& os, int folder, std::string_view file);

/// First name "<stem>N" (N from 1) that does not exist in the folder. Errors: io.
Result<std::string> free_name(Os& os, int folder, std::string_view stem);

}  // namespace daybook
