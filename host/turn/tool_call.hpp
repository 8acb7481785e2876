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
    int calls = 0;  ///< whose leash was derived
};

/// The outcome as the model and the session see it.
struct ToolReport {
    std::string status;  ///< "ok" or the error's name
    std::string text;    ///< JSON: the result, or {"error","message"}
    std::vector<std::string> checkpoints;
    bool is_cut = false;  ///< the model is shown less than the tool gave
};

class ToolCaller {
  public:
    /// Longest result that a model is shown; more is cut and said.
    static constexpr std::size_t kMaxShown = 64UL * 1024;

    /// Longest result that one tool gets of another; a longer one is an error, never cut.
    static constexpr std::size_t kMaxNested = 4UL * 1024 * 1024;

    /// Borrowed; outlives the caller.
    ToolCaller(DeskParts& parts, TurnScope& scope) : parts_(parts), scope_(scope) {}

    /// Runs the tool. The outcome's error says what to do in one sentence. A call that reached
    /// outside is never repeated.
    CallOutcome call(const std::string& tool, const std::string& arguments);
    [[nodiscard]] static ToolReport report(const CallOutcome& outcome);
    /// What the verbs of this turn's calls work on; also for the model's own calls, whose reading
    /// is kept apart in `shown`: what a backend reads for itself was not shown to the turn.
    [[nodiscard]] VerbContext verb_context(ShownFiles& shown);
    /// What http/1 may reach: those origins, with the credentials of this host.
    [[nodiscard]] HttpAccess http_access(std::vector<OriginConfig> origins) const;

  private:
    struct Checked;
    Result<Checked> check(Leash* parent, const std::string& tool, const std::string& arguments);
    /// Errors: not_found, refused (not in a turn of this kind).
    Result<ToolOffer> find_tool(const std::string& tool, const std::string& arguments);
    /// Errors: those of derive_leash and attenuate.
    [[nodiscard]] std::chrono::milliseconds timeout_of(const ToolManifest& tool) const;
    Result<Leash> leash_for(Leash* parent, const ToolOffer& offer, const Json& arguments);
    CallOutcome run(Checked& checked);
    CallOutcome run_external(Checked& checked);
    CallOutcome send(Checked& checked, const std::string& idempotency_key);
    /// Does the caller's manifest name the tool ("calls")? Errors: refused.
    [[nodiscard]] Result<> check_named(const Leash& parent, const std::string& tool) const;
    Result<std::string> call_nested(Leash& parent,
                                    const std::string& tool,
                                    const std::string& arguments,
                                    CallOutcome& outcome);
    Result<> check_schema(const ToolManifest& tool, const Json& arguments);
    [[nodiscard]] std::string known_tools() const;
    /// A write that was asked for and never reached the gate is journalled as `write_refused`, when
    /// the tool is one that writes. Returns the error the caller is to see.
    Error note_refusal(const ToolManifest& tool,
                       const Json& arguments,
                       const std::string& rule,
                       const std::string& allowed,
                       const Error& error);

    [[nodiscard]] bool is_cancelled() const;

    DeskParts& parts_;
    TurnScope& scope_;
    std::vector<const CallOutcome*>
        callers_;  ///< of the nested calls that are out, outermost first
};

}  // namespace daybook
