// The part of `journal verify` that reads the journal alone: turns, effects, triggers, rollovers,
// compressions. Takes records in their order. No I/O.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/format/journal_record.hpp"
#include "host/surface/journal_proof.hpp"

namespace daybook {

/// A turn as the journal tells it.
struct ProvenTurn {
    std::string session, kind, trigger, outcome;  ///< outcome "" = it has no end
    LinePlace began, ended;
    std::uint64_t at = 0;      ///< place of its beginning among all records
    std::uint64_t end_at = 0;  ///< of its end; 0 = none
};

/// A compression as the journal tells it.
struct ProvenCompression {
    LinePlace place;
    std::string session, outcome, mark, flush_turn, summary_turn;
    std::uint64_t line = 0;  ///< of the session
    std::uint64_t at = 0;
};

class JournalTurns {
  public:
    explicit JournalTurns(JournalProof& proof) : proof_(proof) {}

    void take(const JournalRecord& record, const LinePlace& place);
    /// What can only be said when all is read.
    void finish();

    [[nodiscard]] const std::map<std::string, ProvenTurn>& turns() const { return turns_; }
    [[nodiscard]] const std::vector<ProvenCompression>& compressions() const {
        return compressions_;
    }
    /// Sessions whose fold step is recorded, with the place of that record.
    [[nodiscard]] const std::map<std::string, LinePlace>& closed() const { return closed_; }
    /// Number of the newest turn.
    [[nodiscard]] std::uint64_t last_turn() const { return last_turn_; }

  private:
    void begin_turn(const JournalRecord& record, const LinePlace& place);
    void end_turn(const JournalRecord& record, const LinePlace& place);
    void take_effect(const JournalRecord& record, const LinePlace& place);
    void take_rollover(const JournalRecord& record, const LinePlace& place);
    void take_compression(const JournalRecord& record, const LinePlace& place);
    void check_flush(const ProvenCompression& compression, std::set<std::string>& used);

    JournalProof& proof_;
    std::uint64_t at_ = 0;  ///< records taken
    std::uint64_t last_turn_ = 0;
    std::map<std::string, ProvenTurn> turns_;
    std::set<std::string> open_;      ///< turns without an end
    std::set<std::string> triggers_;  ///< accepted
    std::map<std::string, LinePlace> settled_;
    std::map<std::string, LinePlace> intents_, outcomes_;            ///< of effects, by key
    std::map<std::string, std::map<std::string, LinePlace>> steps_;  ///< session -> step
    std::map<std::string, LinePlace> timed_;                         ///< day -> its timed rollover
    std::map<std::string, LinePlace> closed_;
    std::vector<ProvenCompression> compressions_;
};

}  // namespace daybook
