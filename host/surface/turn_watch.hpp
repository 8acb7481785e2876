// Hands a desk a trigger and follows its turn to the end.
#pragma once

#include <memory>
#include <string>

#include "host/gate/leash.hpp"
#include "host/surface/reply.hpp"

namespace daybook {

class Desk;
class Host;

struct TriggerRequest {
    TurnKind kind = TurnKind::message;
    std::string text;
    std::string key;
    std::string name;
    bool wait = false;    ///< the outcome comes with the turn's end
    bool stream = false;  ///< the turn's events come as they happen
};

/// Accepts the trigger (durable) and answers: at once, or when its turn has ended. The asker going
/// away ends the watching, not the turn. Outcome: docs/api.md, "trigger". Thread: [worker].
void accept_and_follow(Host& host,
                       Desk& desk,
                       const TriggerRequest& request,
                       const std::shared_ptr<Reply>& reply);

}  // namespace daybook
