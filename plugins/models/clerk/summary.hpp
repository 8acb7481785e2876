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
};

[[nodiscard]] std::vector<Entry> parse_transcript(std::string_view transcript);

/// 5 to 15 lines. Lessons are taken from the notes that were written, never from what was refused.
[[nodiscard]] std::string summarize(std::string_view transcript, std::string_view day);

}  // namespace daybook::clerk
