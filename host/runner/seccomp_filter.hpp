// The system calls a plugin's process may make, as a program for the kernel.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>
#include <vector>

namespace daybook::runner {

/// The allow-list of the profile `pure` for the process `own_pid`.
std::vector<sock_filter> make_pure_filter(pid_t own_pid);

}  // namespace daybook::runner
