// Context compression of backends that keep no conversation of their own, and the flush before it
// (docs/turns.md, "Compression").
//
// Before a turn, over 70 % of the window: flush turn, summary in a fresh conversation, then the
// turn runs on summary + trigger. In the middle of a turn, over 85 % or when the backend says that
// its window is full: at once, without a flush, which the journal says. What fails leaves the
// conversation as it was. The session file only grows: a `compress` line changes what the model
// sees. Thread: [desk].
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <daybook/result.hpp>

#include "host/turn/conversation_view.hpp"
#include "host/turn/flush_turn.hpp"
#include "host/turn/model_summary.hpp"
#include "host/turn/trigger.hpp"

namespace daybook {

/// One compression, as journal, session and listeners are told of it.
struct CompressReport {
    std::string mark;  ///< "70", "85", "overflow"; "auto" = the backend's own doing
    std::string by = "host";
    std::string turn;  ///< in the middle of which it was made; "" = before a turn
    std::int64_t tokens_before = 0, tokens_after = 0;
    std::uint64_t from = 0, to = 0;  ///< lines of the session that the summary stands for
    std::uint64_t keeps = 0;         ///< a trigger among them that is still shown; 0 = none
    std::size_t bytes = 0;           ///< of the content afterwards, when the backend compacted
    std::optional<FlushOutcome> flush;
    std::string summary_turn;
    std::string error;  ///< "" = completed
};

class Compressor {
  public:
    /// Borrowed; outlives the compressor.
    Compressor(DeskParts& parts, ModelRouter& router) : parts_(parts), router_(router) {}

    /// Compresses when the next turn's request would pass the mark. Whatever comes of it, the turn
    /// may go on, but for an error: cancelled (the host stops). `left_out` gets a sentence when the
    /// window is full of what cannot be compressed.
    Result<> before_turn(const ModelChoice& model,
                         std::int64_t window,
                         const Trigger& next,
                         DeskDate day,
                         std::vector<std::string>& left_out);
    /// In the middle of the turn `scope`, whose request uses `used` tokens: replaces everything but
    /// its trigger and its newest round of calls. True when the conversation is shorter now.
    bool in_turn(const ModelChoice& model,
                 std::int64_t window,
                 const TurnScope& scope,
                 std::string mark,
                 std::int64_t used);
    /// A backend shortened its own conversation in the middle of a turn.
    void note_backend_compaction(const ModelChoice& model,
                                 const TurnScope& scope,
                                 const Compaction& compaction,
                                 std::size_t bytes);

  private:
    struct Next;
    [[nodiscard]] Next look_ahead(const ModelChoice& model,
                                  std::int64_t window,
                                  const Trigger& next,
                                  DeskDate day);
    bool compact_backend(const ModelChoice& model, const Next& next, CompressReport& report);
    void summarise(const ModelChoice& model,
                   std::int64_t window,
                   DeskDate day,
                   const LineList& lines,
                   CompressReport& report);
    void finish(const ModelChoice& model,
                std::int64_t window,
                CompressReport report,
                std::string summary);

    DeskParts& parts_;
    ModelRouter& router_;
};

/// The journal's record of a `compress` line of the session, under a key that makes it one.
[[nodiscard]] JournalEntry compress_entry(const std::string& session, const SessionRecord& line);

/// A crash between a compression's session line and its journal record: writes the record, once.
/// Errors: io, full, unavailable.
Result<> complete_compress_record(Journal& journal, const SessionStore& sessions);

}  // namespace daybook
