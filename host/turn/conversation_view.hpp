// What of a session's lines the model still sees: a compression replaces older lines by a summary,
// in the view only. The file keeps every line (docs/turns.md, "Compression"). No I/O.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/format/session_record.hpp"

namespace daybook {

/// Views into the records.
struct ConversationView {
    std::string_view summary;                 ///< stands for what is not in `lines`; may be empty
    const SessionRecord* compress = nullptr;  ///< the line that made the summary; null = none
    std::vector<const SessionRecord*> lines;  ///< without openings and compress lines
};

/// After the newest completed compression of the host: its summary, the lines behind its range, and
/// the trigger that it keeps. Without one: the opening's summary and all lines.
[[nodiscard]] ConversationView view_of(std::span<const SessionRecord> records);

/// What a session tells of its compressions so far.
struct CompressHistory {
    std::string flush_turn;  ///< a completed flush that nothing was said after; "" = none
    std::int64_t flush_notes = 0, flush_edits = 0;
    std::string flush_words;              ///< what the model answered in it
    std::size_t failures = 0;             ///< tries that failed since the last that completed
    std::size_t turns_since_failure = 0;  ///< turns begun since the newest failed try
};
[[nodiscard]] CompressHistory compress_history(std::span<const SessionRecord> records);

/// After the n-th failed try in a row 2^(n-1) turns, at most 8, go by before the next one.
[[nodiscard]] bool must_wait(const CompressHistory& history) noexcept;

/// Whether the line is the trigger of a flush.
[[nodiscard]] bool is_flush_trigger(const SessionRecord& record);

}  // namespace daybook
