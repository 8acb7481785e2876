// Keeps the number of packs small: the small ones are put together, off the call's path, so that
// each object is packed anew only a few times in its life. Thread: [any], one at a time a
// repository.
#pragma once

#include <daybook/result.hpp>

#include "host/checkpoint/pack_writer.hpp"

namespace daybook {

/// Packs that may lie side by side.
inline constexpr std::size_t kMostPacks = 16;

/// With more than kMostPacks: the smaller half becomes one. The new one is durable and has every
/// object of the old ones before those go; the index goes first, as git does it. An owner's own
/// `.keep` files are respected. True when something was merged. Errors: corrupt, full, io
/// (`*sync_failed`: final).
Result<bool> merge_packs(Os& os, const PackPlace& place, bool* sync_failed);

}  // namespace daybook
