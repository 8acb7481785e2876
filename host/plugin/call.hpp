// One plugin call from begin to end: leash attached, verbs served, deadline kept, exactly one
// outcome.
//
// Frames carry the call's id; a verb for an id that is not out on that connection is a protocol
// fault and the runner is killed. When the call ends its leash is erased: a thread of the plugin
// that asks later gets not_found. Thread: [desk].
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/gate/leash.hpp"
#include "host/gate/write_gate.hpp"
#include "host/plugin/runner_process.hpp"

namespace daybook {

/// An event of a model's turn: name and values as in channel.hpp (MessageType::event).
struct ModelEvent {
    std::string name;
    std::vector<std::string> values;
};

struct CallRequest {
    std::string kind = "tool";     ///< tool, model.turn, model.ready, model.window, model.compact
    std::string name;              ///< tool or model
    std::string arguments = "{}";  ///< JSON
    std::string idempotency_key;
};

struct CallOutcome {
    Result<std::string> result = Error(Errc::internal, "no outcome");  ///< JSON
    std::string detail;                                                ///< JSON of a failure, or ""
    std::vector<WriteReceipt> writes;  ///< what it had written, also when it failed
    bool external_effect = false;      ///< it used a verb of an external group
    Json leash;  ///< the leash it ran under, as it was at the start; null: it was refused before
    std::chrono::milliseconds took{0};
    bool ended =
        false;  ///< set as soon as it has ended: a call nested in it has no caller any more
};

/// Answers one verb of a call. `arguments` are the fields after request id and name.
/// The answer's bytes go to the plugin's sink. Errors travel to the plugin as status and sentence.
class VerbServer {
  public:
    virtual ~VerbServer() = default;
    virtual Result<std::string> serve(Leash& leash,
                                      std::string_view verb,
                                      const std::vector<std::string>& arguments,
                                      CallOutcome& outcome) = 0;

    /// Where a verb's answer goes when it is there. Does nothing once the call is over.
    using Reply = std::function<void(Result<std::string>)>;
    /// Takes a verb whose answer may come later, from the same thread; the call goes on meanwhile.
    /// False: it is not such a verb, and serve() is asked.
    virtual bool serve_later(Leash& leash,
                             std::string_view verb,
                             const std::vector<std::string>& arguments,
                             CallOutcome& outcome,
                             Reply reply) {
        static_cast<void>(leash), static_cast<void>(verb), static_cast<void>(arguments);
        static_cast<void>(outcome), static_cast<void>(reply);
        return false;
    }
    /// The call must end: whatever is still open for it is closed, and who waits is told why.
    virtual void give_up(const Error& why) { static_cast<void>(why); }
};

struct CallWatch {
    std::function<void(const ModelEvent&)> on_event;      ///< may be empty
    std::function<void(const std::string&)> on_progress;  ///< may be empty
    std::function<bool()>
        is_cancelled;  ///< may be empty; looked at after every message and every 50 ms
    /// May be empty; asked every 250 ms while the call is out. What it refuses ends the process.
    std::function<Result<>()> inspect;
};

/// Runs the call on the runner and waits for its outcome in the inbox.
/// Errors in the outcome: busy (the runner is on this stack), deadline (killed after the grace),
/// cancelled, plugin_crashed, plugin_protocol, unavailable, refused, and whatever status the plugin
/// gave.
CallOutcome run_call(RunnerProcess& runner,
                     DeskInbox& inbox,
                     Leash& leash,
                     const CallRequest& request,
                     VerbServer& verbs,
                     const CallWatch& watch,
                     std::chrono::milliseconds cancel_grace);

}  // namespace daybook
