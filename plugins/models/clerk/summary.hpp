// The clerk's summary of a session: what was said and done, quoted, nothing concluded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace daybook::clerk {

/// One entry of the transcript (docs/turns.md, "The transcript"): `[09:31 owner message] text`.
struct Entry {
    std::string time;
    std::string head;  ///< "owner message", "desk calls add_note", "tool add_note ok", "desk", ...
    std::string text;  ///< on one line
    std::vector<std::string> lines;  ///< the same, as its lines were
};

[[nodiscard]] std::vector<Entry> parse_transcript(std::string_view transcript);

/// 5 to 15 lines. Lessons are taken from the notes that were written, never from what was refused.
/// When the transcript begins with a summary ("host summary"), what that one kept comes behind as
/// at most 40 lines more, so that a second compression loses nothing of the first.
[[nodiscard]] std::string summarize(std::string_view transcript, std::string_view day);

}  // namespace daybook::clerk
