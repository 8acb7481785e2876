// The system calls a plugin's process may make, as a program for the kernel.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>
#include <vector>

#include <daybook/result.hpp>

namespace daybook::runner {

enum class FilterProfile {
    pure,     ///< no call that changes a file
    scratch,  ///< also what an index in a folder of its own needs; Landlock says which folder
};

/// The allow-list of the profile for the process `own_pid`.
std::vector<sock_filter> make_filter(FilterProfile profile, pid_t own_pid);

/// Installs a filter for every thread of the process. Errors: unsupported (no seccomp), io.
Result<> install_filter(std::vector<sock_filter> code);

}  // namespace daybook::runner
