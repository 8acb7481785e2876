// Every fsync and fdatasync of this process, whichever library asks for it.
//
// The program defines both functions itself, so that libgit2's calls, which do not go through an
// Os, come by here too. Thread: [any].
#pragma once

#include <cstdint>

namespace daybook::bench {

/// Since the start of the process.
[[nodiscard]] std::uint64_t process_flushes() noexcept;

}  // namespace daybook::bench
