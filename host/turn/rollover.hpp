// A day's end: the open session is summarised, folded and closed; the next one opens with its first
// turn.
//
// Each step is recorded in state.json when it is done, and its effect can be recognised, so that a
// crash between the two repeats nothing. docs/turns.md, "The day's end". Thread: [desk].
#pragma once

#include <string>

#include <daybook/result.hpp>

#include "host/turn/model_router.hpp"
#include "host/turn/session_keeper.hpp"

namespace daybook {

class Rollover {
  public:
    /// Borrowed; outlives the rollover.
    Rollover(DeskParts& parts, ModelRouter& router) : parts_(parts), router_(router) {}

    /// Closes the open session, or goes on with a rollover that a crash cut. When it returns no
    /// session is open. Errors: io, full, unavailable (journal), cancelled (stopping): the rest is
    /// done the next time.
    Result<> run(const std::string& why);
    /// Makes the session for its first turn; its opening line carries the last summary. Errors: io,
    /// full, unavailable.
    Result<> open_session(DeskDate day);
    /// Journals that the open session was opened, once, as long as nothing was said in it: a crash
    /// may have come between the two. Errors: io, full, unavailable.
    Result<> record_opened();

  private:
    Result<> summarise(RolloverState& rollover, const std::string& why);
    Result<> fold(RolloverState& rollover, const std::string& why);
    Result<> record(const RolloverState& rollover,
                    std::string_view step,
                    const std::string& why,
                    Json more);
    Result<> save(const RolloverState& rollover);

    DeskParts& parts_;
    ModelRouter& router_;
};

}  // namespace daybook
