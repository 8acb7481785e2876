// Serves the verbs of desk-files/1, clock/1, tools/1 and journal/1, each checked against the call's
// leash. Thread: [desk].
#pragma once

#include <functional>
#include <string>

#include "host/format/calendar.hpp"
#include "host/gate/write_gate.hpp"
#include "host/journal/journal.hpp"
#include "host/plugin/call.hpp"

namespace daybook {

/// What the verbs of one turn work on. Borrowed; outlives the calls.
struct VerbContext {
    WriteGate& gate;
    Journal& journal;
    const Clock& clock;
    const Zone& zone;
    const Calendar& calendar;
    TurnAllowance& allowance;
    ShownFiles& shown;
    std::string session;
    std::string turn;
    DeskDate day;
    /// Calls another tool under a leash narrower than `parent` (turn/tool_call.hpp). Returns its
    /// JSON result.
    std::function<Result<std::string>(
        Leash& parent, const std::string& tool, const std::string& arguments, CallOutcome& outcome)>
        call_tool;
};

/// The verbs of one call.
class HostCalls final : public VerbServer {
  public:
    explicit HostCalls(VerbContext context) : context_(std::move(context)) {}
    Result<std::string> serve(Leash& leash,
                              std::string_view verb,
                              const std::vector<std::string>& arguments,
                              CallOutcome& outcome) override;

  private:
    VerbContext context_;
    /// What the call read of the file that it may write: for its own use, the model has not seen
    /// it.
    ShownFiles own_shown_;
};

}  // namespace daybook
