// One turn of the desk: the trigger to the model, its tool calls, its answer (docs/turns.md, "The
// loop").
//
// The order of what is made durable: the journal's turn_start; each effect's intent and outcome;
// each write by the gate; the session's answer; the journal's turn_end, which settles the trigger;
// only then whoever watches is told. Thread: [desk].
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/turn/handover.hpp"
#include "host/turn/model_router.hpp"
#include "host/turn/prompt.hpp"
#include "host/turn/tool_call.hpp"
#include "host/turn/trigger.hpp"

namespace daybook {

struct TurnEnd {
    enum class Kind { completed, failed, cancelled, waiting };
    Kind kind = Kind::waiting;
    std::string reason;                  ///< of all but completed
    std::vector<ModelRefusal> refusals;  ///< of waiting for a model
    std::string model;
    std::int64_t context_tokens = 0, window = 0;
    std::string turn;                  ///< "" = not begun
    std::string text;                  ///< of completed
    std::size_t notes = 0, edits = 0;  ///< files that the turn's calls wrote
};

class Turn {
  public:
    static constexpr int kMaxRounds = 16;

    /// `session` is open and belongs to `day`. Everything is borrowed; outlives the turn.
    Turn(DeskParts& parts, ModelRouter& router, const Trigger& trigger, DeskDate day);

    /// `waiting`: nothing was started or recorded, the trigger stays queued.
    TurnEnd run();
    /// The same for the flush before a compression, with this model and no other.
    TurnEnd run_flush(const ModelChoice& model, std::int64_t window);
    /// After run() threw: the turn ends as failed; one that was not begun yet waits.
    TurnEnd fail(const Error& why);

  private:
    Result<> begin(const Trigger& trigger);
    void withdraw(const Error& why);
    TurnEnd begin_and_loop();
    TurnEnd loop();
    /// Runs the calls of one answer and adds them to the conversation. Errors: io, unavailable (the
    /// session).
    Result<> run_calls(const ModelAnswer& answer, int round);
    void note_owner_edits();
    /// Takes up who held the conversation before; what the model must be told goes into
    /// `handover_`.
    void take_over();
    void tell_handover();
    /// The fixed part as it is now, with the hand-over.
    void refresh_fixed_part();
    ModelAnswer ask(std::vector<std::string>& left_out);
    /// The next request but for its frame, cut to the window as far as it must be.
    struct Draft;
    [[nodiscard]] Draft draft(std::vector<std::string>& left_out) const;
    [[nodiscard]] std::optional<ModelAnswer> window_fault(const Draft& next) const;
    /// Compresses in the middle of the turn, once: `mark` says why. False: nothing changed.
    bool compress_now(const std::string& mark, std::int64_t used);
    void measure(const ModelAnswer& answer, std::size_t bytes);
    void count_writes(const CallOutcome& outcome);
    /// After a failed model: true = go on with another one.
    bool take_next_model(const ModelAnswer& answer, TurnEnd& end);
    TurnEnd complete(const ModelAnswer& answer);
    TurnEnd finish(TurnEnd end, const std::string& text);
    Result<> save_answer(const ModelAnswer& answer);
    void keep_backend_session(const ModelAnswer& answer);
    void emit_call(const ModelToolCall& call);
    void emit_result(const ModelToolCall& call, const ToolReport& report);
    [[nodiscard]] SessionRecord line(std::string kind,
                                     Source source,
                                     std::string text,
                                     Json extra) const;
    [[nodiscard]] Json about() const;  ///< {"turn","trigger"} of events

    DeskParts& parts_;
    ModelRouter& router_;
    const Trigger& trigger_;
    TurnScope scope_;
    ToolCaller tools_;
    ModelCaller models_;
    ModelChoice model_;
    std::int64_t window_ = 0;
    FixedPart fixed_;
    std::optional<Handover> handover_;
    bool resumes_ = false;  ///< the backend's own session holds the conversation
    Json offered_tools_;
    Json::Array live_;
    std::vector<std::string> left_out_;
    std::vector<std::string> context_left_out_;  ///< what was found before the turn began
    std::set<std::string> failed_models_;
    Json attempts_ = Json::array();
    std::int64_t input_tokens_ = -1, output_tokens_ = 0;
    bool exact_ = false;
    std::size_t counted_bytes_ = 0;  ///< of the request that input_tokens_ counts
    std::size_t notes_ = 0, edits_ = 0;
    bool compressed_ = false;  ///< a compression in its middle was tried
    bool begun_turn_ = false;  ///< journal and session have its beginning
    SteadyTime begun_{};
};

}  // namespace daybook
