// External effects are at most once: a synced intent before the call, its outcome after it, never a
// second try.
//
// An intent without an outcome is unknown: recovery.hpp closes the turn and tells owner and model.
// Thread: [desk].
#pragma once

#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/journal/journal.hpp"
#include "host/plugin/call.hpp"

namespace daybook {

/// One effect of a turn.
struct Effect {
    std::string
        key;  ///< "<trigger>:<ordinal>:<12 digits of the arguments' hash>"; reaches the plugin
    std::string tool;
    std::string args_sha256;
    std::string session, turn, trigger;
    Json leash;  ///< of the call, for the record; null: not known
};

/// `ordinal` counts the external calls of the turn from 1.
[[nodiscard]] Effect make_effect(std::string session,
                                 std::string turn,
                                 std::string trigger,
                                 std::string tool,
                                 int ordinal,
                                 std::string_view arguments);

/// What became of the call, as far as the host can know.
enum class EffectState {
    none,     ///< it used no verb that reaches outside
    known,    ///< the plugin told how it ended
    unknown,  ///< the call broke off after such a verb: it may or may not have happened
};
[[nodiscard]] std::string_view name_of(EffectState state) noexcept;
[[nodiscard]] EffectState state_of(const CallOutcome& outcome) noexcept;

class EffectLog {
  public:
    explicit EffectLog(Journal& journal) : journal_(journal) {}

    /// Durable when it returns; without it the call must not be made.
    /// Errors: refused (the key was used before: the effect was already tried), io, unavailable.
    Result<> intend(const Effect& effect);
    Result<> conclude(const Effect& effect, const CallOutcome& outcome);

  private:
    Journal& journal_;
};

}  // namespace daybook
