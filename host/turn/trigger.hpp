// What starts a turn.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/format/session_record.hpp"
#include "host/gate/leash.hpp"

namespace daybook {

/// Accepted = its journal line is synced; its id is that line's id. It is settled by a turn_end
/// that names it.
struct Trigger {
    std::string id;                     ///< journal id of its line
    TurnKind kind = TurnKind::message;  ///< message, job, alert or fill
    Source source = Source::owner;
    std::string text;
    std::string key;   ///< the sender's idempotency key, or ""
    std::string name;  ///< of a job or alert, or ""
    Timestamp accepted{};
    /// Set for a recovery: the turn that a crash cut, and what is known of its effects.
    std::string recovery_of;
};

/// "message" -> TurnKind::message. Errors: invalid (lists the kinds).
Result<TurnKind> trigger_kind_of(std::string_view name);
/// Where a trigger of that kind comes from.
[[nodiscard]] Source source_of(TurnKind kind) noexcept;

}  // namespace daybook
