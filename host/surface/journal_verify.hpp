// Proves, from the files alone, that a desk's record keeps its promises: what the rules are stands
// in docs/operations.md, "Proving a record". Changes nothing, takes no lock: beside a host that
// writes, and without one.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include <daybook/result.hpp>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/format/json.hpp"
#include "host/os/os.hpp"
#include "host/surface/journal_proof.hpp"

namespace daybook {

/// Where a desk's checkpoints are read: the repository by itself, or the store of the host that
/// writes it, which may know of some that git does not hold yet.
struct CheckpointSource {
    /// Every checkpoint, by id.
    std::function<Result<std::map<std::string, Checkpoint>>()> all;
    /// SHA-256 of a file as the checkpoint holds it, "" = it did not exist then.
    std::function<Result<std::string>(const Checkpoint& checkpoint, const DeskPath& path)> former;
};
[[nodiscard]] CheckpointSource repository_source(Os& os,
                                                 const std::filesystem::path& state,
                                                 const std::string& desk);
/// The store outlives the source.
[[nodiscard]] CheckpointSource store_source(const CheckpointStore& store);

/// `state` is the state folder. Errors: not_found (the desk has no journal), io, corrupt (the
/// repository's chain of commits cannot be read).
Result<JournalProof> verify_journal(Os& os,
                                    const std::filesystem::path& state,
                                    const std::string& desk,
                                    const CheckpointSource& checkpoints);

struct VaultPlace;

/// All desks, or the one named: {"ok","desks":[proof_json(…)]}. A desk that has not begun yet
/// proves nothing. `source` says where each desk's checkpoints are read. Errors: not_found (no such
/// desk), io, corrupt.
Result<Json> verify_journals(const VaultPlace& place,
                             const std::string& desk,
                             const std::function<CheckpointSource(const std::string&)>& source);
/// The same without a host: from the repositories.
Result<Json> verify_journals_of_files(const VaultPlace& place, const std::string& desk);

/// {"desk","ok","days","lines",…,"findings":[{"file","line","what"}],"notes":[…]}
[[nodiscard]] Json proof_json(const std::string& desk, const JournalProof& proof);

}  // namespace daybook
