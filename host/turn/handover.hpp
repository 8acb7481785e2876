// The hand-over: what a model is told that takes up a conversation which it did not hold itself
// (docs/turns.md, "Hand-over").
//
// The exchanges are given as messages and the last summary as a part, as always. Added are a part
// that says who ended where and what was compressed, and a part of the session's effects outside
// the desk, so that no model makes one again. Thread: [desk].
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/format/journal_record.hpp"
#include "host/format/session_record.hpp"
#include "host/turn/desk_parts.hpp"
#include "host/turn/prompt.hpp"

namespace daybook {

/// Bytes of the part `effects`.
inline constexpr std::size_t kEffectsBudget = 6UL * 1024;

/// One effect of a session: an external call, or a record that a plugin made of an order.
struct EffectLine {
    std::string turn;
    std::string key;   ///< of an external call; "" = a plugin's record
    std::string text;  ///< "- 09:31 t-2 place: known, ok (key ...)", further lines indented
    bool is_unknown = false;
};

/// The effects of a session in their order. `records` are its journal's, oldest first. An outcome
/// that was looked up stands in place of one that was not known. No I/O.
[[nodiscard]] std::vector<EffectLine> effects_of(std::span<const JournalRecord> records,
                                                 std::string_view session);

/// The newest effects within the budget; those of the turn `own` and those whose outcome is not
/// known go first. What is missing is added to `left_out` as a sentence. No I/O.
[[nodiscard]] std::string effects_text(std::span<const EffectLine> effects,
                                       std::string_view own,
                                       std::size_t budget,
                                       std::vector<std::string>& left_out);

struct Handover {
    enum class Why {
        restart,  ///< nobody of this process held the conversation before
        model,    ///< another model ran the turns before
        failed,   ///< another model failed in the middle of this turn
    };
    Why why = Why::restart;
    std::string from, to;  ///< models; from "" = not known
    std::string fault;     ///< of Why::failed: the error's class
};
[[nodiscard]] std::string_view name_of(Handover::Why why) noexcept;

/// The model of the newest answer in the session; "" = none.
[[nodiscard]] std::string model_of_last_answer(std::span<const SessionRecord> records);

/// Whether the backend's own session still holds the whole conversation: it told one, and no other
/// model answered since. `holder` is who was asked last in this process; "" = nobody.
[[nodiscard]] bool may_resume(const SessionStore& sessions,
                              const std::string& holder,
                              const std::string& model);

/// Whether a turn that begins now for `model` needs a hand-over: something was said in the session
/// before the turn `own`, the model was not the one that held it, and it cannot resume.
[[nodiscard]] std::optional<Handover> handover_for(const SessionStore& sessions,
                                                   const std::string& holder,
                                                   const std::string& model,
                                                   std::string_view own);

/// Adds the parts `handover` and `effects` to the fixed part.
void add_handover(DeskParts& parts,
                  const Handover& handover,
                  std::string_view session,
                  std::string_view turn,
                  FixedPart& fixed);

/// Journals the hand-over. Errors: io, full, unavailable.
Result<> record_handover(DeskParts& parts,
                         const Handover& handover,
                         const std::string& session,
                         const std::string& turn);

}  // namespace daybook
