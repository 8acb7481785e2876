// One desk's stores without a host, for requests that change something or must see what a killed
// host left: opened and recovered as a start does it.
#pragma once

#include <memory>
#include <string>

#include <daybook/result.hpp>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/gate/write_gate.hpp"
#include "host/os/clock.hpp"
#include "host/os/os.hpp"
#include "host/os/unique_fd.hpp"

namespace daybook {

struct Places;

class OfflineDesk {
  public:
    /// Replays the record log, does again what a power cut took, completes the journal and carries
    /// on a restore. The caller holds the home's lock. The journal's day is that of the desk's zone
    /// when the configuration says which, else UTC. Errors: not_found (the desk has no folder),
    /// busy (a host has the repository), corrupt, no_checkpoint, io, full.
    static Result<std::unique_ptr<OfflineDesk>> open(const Places& places,
                                                     Os& os,
                                                     const Clock& clock,
                                                     const std::string& name);

    [[nodiscard]] CheckpointStore& checkpoints() noexcept { return *checkpoints_; }

  private:
    OfflineDesk() = default;

    UniqueFd state_, folder_;
    std::unique_ptr<Journal> journal_;
    std::unique_ptr<CheckpointStore> checkpoints_;
    std::unique_ptr<Ledger> ledger_;
    std::unique_ptr<WriteGate> gate_;
};

}  // namespace daybook
