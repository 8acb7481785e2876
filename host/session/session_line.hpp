// Bounds of what a session file and a conversation in memory hold. No I/O.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/session_record.hpp"

namespace daybook {

/// A line's bytes, with its newline.
inline constexpr std::size_t kMaxSessionLine = 1024UL * 1024;
/// Text of a conversation that is kept in memory, and of a session that is read at once.
inline constexpr std::size_t kMaxHeldSession = 32UL * 1024 * 1024;

/// The record's line, with its newline. A record that is too long for one is cut: its text first to
/// last, the texts of `extra` before it, and `extra` gets "cut": {"text_bytes","extra_bytes"}, each
/// as it was before. Errors: full (the numbers and names of `extra` alone are too long).
Result<std::string> fit_line(SessionRecord& record);

/// Bytes that the record takes up, roughly.
[[nodiscard]] std::size_t weight_of(const SessionRecord& record);

/// Drops the oldest turns until at most `max_bytes` are held. The first line (the opening) and the
/// newest turn stay. Returns how many lines were dropped.
std::size_t drop_oldest_turns(std::vector<SessionRecord>& records, std::size_t max_bytes);

}  // namespace daybook
