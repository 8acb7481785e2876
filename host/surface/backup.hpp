// A backup of a whole home, consistent while desks work, and the way back from it.
//
// Each desk is held still between two turns just long enough to copy its own files and to note how
// long its append-only files are and which commit is its newest; what never changes (git's objects,
// the lines up to there) is copied afterwards. Left out: what is rebuilt (scratch, log, run) and,
// unless asked for, the keys; the control token always. docs/operations.md, "Backup".
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <daybook/result.hpp>

#include "host/os/clock.hpp"
#include "host/surface/vault.hpp"

namespace daybook {

struct BackupWish {
    std::filesystem::path to;  ///< absolute; a folder or a file to be made
    bool with_keys = false;
    bool is_live = false;  ///< a host serves this home
    Timestamp at{};
};

/// Runs `work` while the desk does nothing else, everything of its checkpoints being in git.
using HoldStill =
    std::function<Result<>(const std::string& desk, const std::function<Result<>()>& work)>;

/// {"to","files","bytes","desks":[…],"keys","left_out":[…]}. Errors: conflict (`to` is there
/// already), not_found (no home), full, io, and those of `hold`.
Result<Json> back_up(const VaultPlace& place, const BackupWish& wish, const HoldStill& hold);

/// Puts a backup in the place of a home that is not there yet. Every file is compared with its
/// hash; the number of the format is written last, so what was cut short is no home.
/// {"from","files","bytes","at","ok","desks":[…as verify…]}. Errors: conflict (something is there
/// already), corrupt (names the file), full, io.
Result<Json> restore_home(const VaultPlace& place, const std::filesystem::path& from);

}  // namespace daybook
