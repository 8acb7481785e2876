// The lines of a session, seen as turns: what the model is given of them, and the transcript for a
// summary. No I/O.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/format/json.hpp"
#include "host/format/session_record.hpp"
#include "host/os/clock.hpp"

namespace daybook {

/// Consecutive lines of one turn.
struct TurnLines {
    std::string turn;
    std::vector<const SessionRecord*> lines;
};

/// Lines of a session, oldest first, wherever they lie.
using LineList = std::vector<const SessionRecord*>;
[[nodiscard]] LineList list_of(std::span<const SessionRecord> records);

/// Groups the lines by turn; openings belong to none. Views into the records.
[[nodiscard]] std::vector<TurnLines> group_by_turn(const LineList& lines);

/// One trigger as a message of the request (docs/turns.md).
[[nodiscard]] Json trigger_message(const SessionRecord& trigger, const Zone& zone);
/// An assistant's message; `calls` are {"id","name","arguments"}.
[[nodiscard]] Json assistant_message(std::string_view text, Json::Array calls);
[[nodiscard]] Json tool_message(std::string_view id,
                                std::string_view name,
                                std::string_view status,
                                std::string_view text);

/// A turn's lines as messages, in the order of the request: each call stands in the assistant's
/// message before its result.
[[nodiscard]] Json::Array messages_of(const TurnLines& turn, const Zone& zone);

/// The newest whole turns of the session that fit into `budget` bytes, oldest first. A turn is
/// never cut. What was left out is added to `left_out` as a sentence.
[[nodiscard]] Json::Array render_history(const LineList& lines,
                                         const Zone& zone,
                                         std::size_t budget,
                                         std::vector<std::string>& left_out);

/// docs/turns.md, "The transcript"; about `max_bytes`. `so_far` is the summary of what came before,
/// its first entry. When it is too long tool results are cut further, then words, then the oldest
/// entries go, which is said at their place.
[[nodiscard]] std::string transcript_of(std::string_view so_far,
                                        const LineList& lines,
                                        const Zone& zone,
                                        std::size_t max_bytes);

/// The host's own summary, when no model can write one: the owner's words and what was done,
/// quoted, marked as extracted.
[[nodiscard]] std::string extract_summary(std::span<const SessionRecord> records,
                                          const Zone& zone,
                                          std::string_view why);

/// How the host's own summary begins: what a model should write again.
inline constexpr std::string_view kExtractedMark = "(extracted by the host, not written by a model";

/// Whether anything was said in the session.
[[nodiscard]] bool has_turns(std::span<const SessionRecord> records);

/// At most `max_bytes` of the text, cut at a character's border. `cut` tells whether something is
/// missing.
[[nodiscard]] std::string_view cut_text(std::string_view text,
                                        std::size_t max_bytes,
                                        bool* cut = nullptr);
/// 12288 -> "12,288".
[[nodiscard]] std::string grouped(std::size_t number);

}  // namespace daybook
