// What a crash left: triggers that are not settled, turns that were cut, tool calls without a
// result.
//
// The scanner reads journal records in their order and has no I/O; recover() acts on what it found.
// Rules: docs/turns.md, "After a crash". Thread: [main], before the desk's thread starts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/format/journal_record.hpp"
#include "host/journal/journal.hpp"
#include "host/session/session_store.hpp"
#include "host/turn/trigger.hpp"

namespace daybook {

/// A trigger as the journal holds it; nullopt for any other record (a plugin's own `fill` is none).
std::optional<Trigger> trigger_of(const JournalRecord& record);
/// The entry that accepts a trigger. Secrets in its text are masked.
[[nodiscard]] JournalEntry entry_of(const Trigger& trigger);

/// What is known of one effect of a cut turn.
struct SeenEffect {
    std::string key, tool;
    std::string outcome;  ///< "known", "none", "unknown"; "" = the record ends before it
    std::string status;
};

struct CutTurn {
    std::string turn, session, trigger, kind;
    std::vector<SeenEffect> effects;
};

class JournalScanner {
  public:
    /// A trigger whose turn was cut so often is closed instead of run again.
    static constexpr int kMaxCuts = 3;

    void take(const JournalRecord& record);

    [[nodiscard]] std::vector<Trigger> unsettled() const;  ///< in the order of acceptance
    [[nodiscard]] const std::vector<CutTurn>& cut() const { return open_; }
    /// Ids of the triggers seen, and whether each is settled.
    [[nodiscard]] const std::map<std::string, bool>& triggers() const { return settled_; }
    [[nodiscard]] std::uint64_t last_turn() const { return last_turn_; }
    /// What the owner said last about pausing the desk; nullopt: nothing in what was read.
    [[nodiscard]] std::optional<bool> paused() const { return paused_; }
    [[nodiscard]] int cuts_of(const std::string& trigger) const;

  private:
    void take_turn(const JournalRecord& record);
    void take_effect(const JournalRecord& record);

    std::vector<Trigger> accepted_;
    std::map<std::string, bool> settled_;
    std::map<std::string, int> cuts_;
    std::vector<CutTurn> open_;
    std::uint64_t last_turn_ = 0;
    std::optional<bool> paused_;
};

struct Recovered {
    std::vector<Trigger> pending;        ///< to run, in order; recoveries first
    std::vector<std::string> sentences;  ///< for the log
};

/// Closes what was cut, in session and journal, and says what is to run. `scanner` has read the
/// journal. Errors: io, full, unavailable.
Result<Recovered> recover(const JournalScanner& scanner, Journal& journal, SessionStore& sessions);

/// Text of the recovery trigger for a cut turn with effects.
[[nodiscard]] std::string recovery_text(const CutTurn& turn);

}  // namespace daybook
