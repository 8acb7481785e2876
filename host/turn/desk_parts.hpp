// What the code of a turn works on: the desk's stores, runners and listeners, borrowed from the
// desk for as long as it lives.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "host/format/calendar.hpp"
#include "host/format/config.hpp"
#include "host/format/json.hpp"
#include "host/gate/write_gate.hpp"
#include "host/journal/journal.hpp"
#include "host/plugin/desk_inbox.hpp"
#include "host/plugin/registry.hpp"
#include "host/session/session_store.hpp"
#include "host/turn/context_meter.hpp"
#include "host/turn/desk.hpp"
#include "host/turn/desk_events.hpp"
#include "host/turn/runners.hpp"

namespace daybook {

class HistorySource;
struct HandOver;

/// Asks the turn that runs to end. Thread: [any].
class TurnInterrupt {
  public:
    void set(const std::string& why);
    /// The host stops: the turn is left as a crash would leave it, and the next start goes on from
    /// there.
    void set_stopping();
    void clear();  ///< not the stopping
    [[nodiscard]] bool is_set() const noexcept { return set_.load() || stopping_.load(); }
    [[nodiscard]] bool is_stopping() const noexcept { return stopping_.load(); }
    [[nodiscard]] std::string why() const;

  private:
    std::atomic<bool> set_{false};
    std::atomic<bool> stopping_{false};
    mutable std::mutex mutex_;  // guards why_
    std::string why_;
};

struct DeskParts {
    const DeskServices& services;
    const DeskConfig& config;
    const Calendar& calendar;
    const Zone& zone;
    Journal& journal;
    SessionStore& sessions;
    CheckpointStore& checkpoints;
    WriteGate& gate;
    Runners& runners;
    DeskInbox& inbox;
    DeskEvents& events;
    TurnInterrupt& interrupt;
    const PluginSet& plugins;  ///< as the work that runs found them; exchanged between two
    const std::map<std::string, ToolOffer>& tools;
    std::map<std::string, JsonSchema>& schemas;  ///< compiled at the first call of a tool
    std::uint64_t& next_turn;                    ///< number of the next turn; never given twice
    ContextMeter& meter;
    HistorySource& history;
    /// Accepts a trigger that a plugin hands over; durable when it returns. Errors: invalid, full,
    /// unavailable.
    std::function<Result<Json>(const HandOver&)> hand_over;

    [[nodiscard]] std::string new_turn() const { return "t-" + std::to_string(next_turn++); }
    /// A journal entry of this host in a turn.
    [[nodiscard]] static JournalEntry entry(std::string type,
                                            std::string session,
                                            std::string turn,
                                            Json data);
};

}  // namespace daybook
