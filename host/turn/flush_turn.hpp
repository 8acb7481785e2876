// The flush: a quiet turn in the desk's own conversation, before it is compressed, in which the
// model saves what it will need. Two tools, no effect outside (docs/leash.md). A host step:
// whatever compresses afterwards, it comes first. Thread: [desk].
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include <daybook/result.hpp>

#include "host/turn/model_router.hpp"

namespace daybook {

struct CompressHistory;

struct FlushOutcome {
    enum class Kind {
        done,      ///< completed; also with nothing written
        failed,    ///< the model broke off: the conversation is not to be compressed on its word
        unfit,     ///< it could write nothing, so it was not begun
        stopping,  ///< the host stops
    };
    Kind kind = Kind::failed;
    std::string turn;  ///< "" = not begun
    std::size_t notes = 0, edits = 0;
    std::string why;  ///< why there is no note, or why it is not done
    [[nodiscard]] Json to_json() const;
};

/// Whether a flush could write its one file, by what the desk's tools and the allowance say.
/// Errors: not_found (no add_note), refused (its leash does not reach the day's notes).
[[nodiscard]] Result<> check_flush(const std::map<std::string, ToolOffer>& tools, DeskDate day);

/// Runs it with that model, or takes one that is done already and that nothing was said after (a
/// crash came between it and the summary).
[[nodiscard]] FlushOutcome run_flush(DeskParts& parts,
                                     ModelRouter& router,
                                     const ModelChoice& model,
                                     std::int64_t window,
                                     DeskDate day,
                                     const CompressHistory& history);

}  // namespace daybook
