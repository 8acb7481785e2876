// Objects that lie loose (or in other packs) put together into one pack, each as its difference
// from a similar one. Thread: [any], one at a time a repository.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/git_objects.hpp"
#include "host/checkpoint/pack_encoder.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// Where a new pack is made before it goes to objects/pack whole. A crash may leave files in it.
inline constexpr std::string_view kNewPackFolder = "daybook.pack~";

struct PackPlace {
    std::filesystem::path repository;
    int repository_fd = -1;  ///< the same, opened
    DeltaEncoder delta = encode_delta;
};

/// Makes one pack of exactly these objects, which must be in the repository. Its bytes are ours
/// (pack_encoder.hpp); the git library makes the index out of them, and so reads and hashes every
/// object: when it is not exactly these, the pack is thrown away and the library makes one itself.
/// Durable when it returns: pack, index and folder are synced; the index gets its name last.
/// Returns "pack-<40 hexadecimal digits>". Errors: corrupt (an object is missing or broken), full,
/// io
/// (`*sync_failed` says whether it was a sync: final).
Result<std::string> write_pack(Os& os,
                               const PackPlace& place,
                               const std::vector<GitId>& ids,
                               bool* sync_failed);

/// Syncs `<name>.pack` and `<name>.idx` of kNewPackFolder and moves both to objects/pack, durably.
Result<> place_pack(Os& os, const PackPlace& place, const std::string& name, bool* sync_failed);

/// Empties kNewPackFolder, making it when it is missing. Errors: io, full.
Result<> clear_new_packs(Os& os, const PackPlace& place);

}  // namespace daybook
