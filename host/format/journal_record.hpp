// One line of a journal (docs/formats.md, "Journal"). No I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/clock.hpp"

namespace daybook {

inline constexpr std::size_t kMaxJournalLine = 64UL * 1024;

/// What a caller hands over; the journal adds v, seq, id, ts, local and desk.
struct JournalEntry {
    std::string type;         ///< turn_start, note_written, ... (the table of docs/formats.md)
    std::string by = "host";  ///< "host", or the plugin's name
    std::string session;      ///< "2026-10-19-1"; "" = null
    std::string turn;         ///< "t-42"; "" = null
    std::string key;          ///< idempotency; "" = none
    std::string order;        ///< the order's own id; "" = none
    std::optional<Timestamp> ts_event;  ///< only when it happened earlier than it was learned
    Json data = Json::object();
};

struct JournalRecord {
    std::uint64_t seq = 0;
    std::string id;  ///< "main-20261019-000118"
    Timestamp ts{};
    std::string local;
    std::string desk;
    JournalEntry entry;

    /// One line without the newline. Errors: full (over kMaxJournalLine).
    [[nodiscard]] Result<std::string> to_line() const;
    /// Errors: invalid (malformed), unsupported (a higher `v`).
    static Result<JournalRecord> from_line(std::string_view line);
    /// "main-20261019-000118".
    static std::string make_id(std::string_view desk, DeskDate day, std::uint64_t seq);
};

}  // namespace daybook
