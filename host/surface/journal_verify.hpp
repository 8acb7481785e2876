// Proves, from the files alone, that a desk's record keeps its promises: what the rules are stands
// in docs/operations.md, "Proving a record". Changes nothing, takes no lock: beside a host that
// writes, and without one.
#pragma once

#include <filesystem>
#include <string>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/os.hpp"
#include "host/surface/journal_proof.hpp"

namespace daybook {

/// `state` is the state folder. Errors: not_found (the desk has no journal), io, corrupt (the
/// repository's chain of commits cannot be read).
Result<JournalProof> verify_journal(Os& os,
                                    const std::filesystem::path& state,
                                    const std::string& desk);

struct VaultPlace;

/// All desks, or the one named: {"ok","desks":[proof_json(…)]}. A desk that has not begun yet
/// proves nothing. Errors: not_found (no such desk), io, corrupt.
Result<Json> verify_journals(const VaultPlace& place, const std::string& desk);

/// {"desk","ok","days","lines",…,"findings":[{"file","line","what"}],"notes":[…]}
[[nodiscard]] Json proof_json(const std::string& desk, const JournalProof& proof);

}  // namespace daybook
