// The promotion ledger of a desk: `ledger/<desk>/ledger.jsonl`, append-only, one JSON object a
// line, each synced before anybody is told (docs/formats.md, "Ledger").
//
// Records say what happened to the desk's memory. A restore does not take records back: it appends
// one that says at which earlier record the memory stands again, its *effective head*. What the
// owner forbade for good ("ban") holds wherever the head stands. Thread: [desk].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/clock.hpp"
#include "host/os/os.hpp"

namespace daybook {

struct LedgerRecord {
    std::uint64_t seq = 0;  ///< from 1, without holes
    std::string type;       ///< "restore", "ban"; others belong to those who write them
    std::string key;        ///< a record with a key that stands already is not written again; ""
    Json data = Json::object();

    [[nodiscard]] std::string to_line(Timestamp at) const;
    static std::optional<LedgerRecord> from_line(std::string_view line);
};

/// Where the memory stands.
struct EffectiveLedger {
    std::vector<std::uint64_t> live;  ///< records that count, oldest first; no restores
    std::vector<std::uint64_t> bans;  ///< every ban, live or not
    /// Memory.md alone was put back after the newest live record: what is live follows from the
    /// ids in the file.
    bool memory_is_from_file = false;
};

/// No I/O.
[[nodiscard]] EffectiveLedger effective_ledger(const std::vector<LedgerRecord>& records);
/// Lines of a ledger's text, as it is mirrored in a checkpoint: the head that it had then.
[[nodiscard]] std::uint64_t ledger_head_in(std::string_view text);

class Ledger {
  public:
    /// `folder` is beneath `dir`, "ledger/main"; made when missing. A torn last line is cut; it was
    /// acknowledged to nobody. Errors: corrupt (names the line), io, full.
    static Result<Ledger> open(Os& os, const Clock& clock, int dir, std::string folder);

    /// Durable when it returns. Returns the record's number, that of the earlier one when the key
    /// stands already. Errors: io, full; after a failed sync every append is refused.
    Result<std::uint64_t> append(LedgerRecord record);
    [[nodiscard]] const std::vector<LedgerRecord>& records() const noexcept { return records_; }
    /// The whole file.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

  private:
    Ledger(Os& os, const Clock& clock, UniqueFd file)
        : os_(&os), clock_(&clock), file_(std::move(file)) {}

    Os* os_;
    const Clock* clock_;
    UniqueFd file_;
    std::vector<LedgerRecord> records_;
    std::string text_;
    std::optional<std::string> failure_;
};

}  // namespace daybook
