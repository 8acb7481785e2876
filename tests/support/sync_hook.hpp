// Every fsync and fdatasync of a test program, whichever library asks for it: the program defines
// both functions itself (sync_hook.cpp), so that SQLite's and libgit2's come by here too. Thread:
// [any].
#pragma once

#include <cstdint>
#include <string>

namespace daybook::test {

/// Since the start of the process.
[[nodiscard]] std::uint64_t syncs_of_process() noexcept;
/// Those that the calling thread asked for and waited for.
[[nodiscard]] std::uint64_t syncs_of_this_thread() noexcept;

/// From now on a sync of a file whose path ends in this text fails with EIO; "" = none does. The
/// text must outlive its use.
void fail_syncs_of(const char* ending) noexcept;

}  // namespace daybook::test
