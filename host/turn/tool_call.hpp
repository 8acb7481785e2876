// A tool call from its arguments to its outcome: checked, leashed, journalled when it reaches
// outside, run.
//
// docs/turns.md, "A tool call". Thread: [desk].
#pragma once

#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/plugin/call.hpp"
#include "host/plugin/host_calls.hpp"
#include "host/turn/desk_parts.hpp"

namespace daybook {

/// What belongs to one turn, whoever works on it.
struct TurnScope {
    TurnKind kind = TurnKind::message;
    DeskDate day;
    std::string session, turn;
    std::string trigger;  ///< its id; for an owner's call "<desk>:<turn>"
    TurnAllowance allowance;
    ShownFiles shown;
    int external_calls = 0;
};

/// The outcome as the model and the session see it.
struct ToolReport {
    std::string status;  ///< "ok" or the error's name
    std::string text;    ///< JSON: the result, or {"error","message"}
    std::vector<std::string> checkpoints;
};

class ToolCaller {
  public:
    /// Longest result that a model is shown; more is cut and said.
    static constexpr std::size_t kMaxShown = 64UL * 1024;

    /// Borrowed; outlives the caller.
    ToolCaller(DeskParts& parts, TurnScope& scope) : parts_(parts), scope_(scope) {}

    /// Runs the tool. The outcome's error says what to do in one sentence. A call that reached
    /// outside is never repeated.
    CallOutcome call(const std::string& tool, const std::string& arguments);
    [[nodiscard]] static ToolReport report(const CallOutcome& outcome);
    /// What the verbs of this turn's calls work on; also for the model's own calls.
    [[nodiscard]] VerbContext verb_context();

  private:
    struct Checked;
    Result<Checked> check(Leash* parent, const std::string& tool, const std::string& arguments);
    CallOutcome run(Checked& checked);
    CallOutcome run_external(Checked& checked);
    CallOutcome send(Checked& checked, const std::string& idempotency_key);
    Result<std::string> call_nested(Leash& parent,
                                    const std::string& tool,
                                    const std::string& arguments,
                                    CallOutcome& outcome);
    Result<> check_schema(const ToolManifest& tool, const Json& arguments);
    [[nodiscard]] std::string known_tools() const;

    DeskParts& parts_;
    TurnScope& scope_;
};

}  // namespace daybook
