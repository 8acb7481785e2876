// Opens everything a desk keeps on disk, in the order that recovery needs. Thread: [main].
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/format/calendar.hpp"
#include "host/gate/write_gate.hpp"
#include "host/journal/journal.hpp"
#include "host/os/unique_fd.hpp"
#include "host/session/session_store.hpp"
#include "host/turn/desk.hpp"

namespace daybook {

struct DeskStores {
    Calendar calendar;
    Zone zone;
    UniqueFd home;
    UniqueFd desk_dir;
    std::unique_ptr<Journal> journal;
    std::unique_ptr<SessionStore> sessions;
    std::unique_ptr<CheckpointStore> checkpoints;
    std::unique_ptr<Ledger> ledger;
    std::unique_ptr<WriteGate> gate;
    std::string name;                  ///< of the desk
    std::vector<std::string> repairs;  ///< what was put right, for the log

    [[nodiscard]] DeskPlaces places() const;

    /// Errors: whatever keeps the desk from serving, with its name.
    static Result<DeskStores> open(const DeskServices& services, const DeskConfig& config);
};

}  // namespace daybook
