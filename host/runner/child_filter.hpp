// The system calls that a walled child may not make, as a program for the kernel.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>
#include <vector>

namespace daybook::runner {

struct ChildFilter {
    bool has_network = false;    ///< TCP sockets may be made
    bool scopes_signals = true;  ///< Landlock keeps its signals to itself (ABI 6); else the filter
    pid_t own_pid = 0;
    pid_t own_group = 0;
};

/// The deny-list. What is newer than the list is unknown to it (ENOSYS).
std::vector<sock_filter> make_child_filter(const ChildFilter& filter);

}  // namespace daybook::runner
