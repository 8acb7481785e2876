// `daybook forget`: a secret that slipped in is masked wherever a desk keeps it
// (docs/operations.md, "Forgetting"). On the files of a desk that is closed.
//
// Own files first, then the history, then sessions, journals and ledger; indexes go and are
// rebuilt. `forget/<desk>` in the state folder stands there meanwhile and holds no text: cut short,
// the same command with the same text finishes it.
#pragma once

#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/clock.hpp"
#include "host/surface/vault.hpp"

namespace daybook {

struct ForgetWish {
    std::string desk;
    std::vector<std::string> texts;
    bool dry_run = false;
    /// A host runs, and writes its own journal: that is looked at and not changed.
    bool is_live = false;
};

/// {"desk","dry_run","files":[…own
/// files],"places":N,"lines":N,"contents":N,"commits":N,"removed":N,
/// "unreached":[…],"verified":bool}. The caller holds the home's lock, and the desk is not open,
/// for a dry run neither.
/// Errors: invalid (a text that is too short), not_found, busy, io, full, corrupt.
Result<Json> forget_in_desk(const VaultPlace& place, const Clock& clock, const ForgetWish& wish);

}  // namespace daybook
