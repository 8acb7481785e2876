// The walls around a plugin, in the order in which the runner puts them up. Each step is checked;
// main.cpp stops at the first that fails and tells the host which and why. All of it runs before
// any thread exists and before the module is loaded: constructors of a module are hostile code
// already.
//
// What each wall holds: seccomp (seccomp_filter.cpp) lets no system call through that writes,
// signals, connects or starts a process. Landlock (landlock.cpp) confines reading, and holds
// writing and networking a second time.
#pragma once

#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/runner/options.hpp"

namespace daybook::runner {

/// What stands, as reported to the host.
struct Walls {
    int landlock = 0;  ///< ABI in force, 0 = none
    bool seccomp = false;
    int probes = 0;  ///< forbidden acts that were tried and failed as they must
    std::vector<std::string> missing_reads;  ///< granted places that do not exist
};

/// Closes every inherited descriptor above 3, dies with the parent, leaves its session. Errors: io,
/// unavailable (the parent is gone already).
Result<> leave_host();
/// No core file, no file growth (profile scratch: no file over its bound), few descriptors, bounded
/// memory. Errors: io.
Result<> limit_resources(const Options& options);
/// Drops every capability, forbids gaining any again, hides the process from its like. Errors: io.
Result<> drop_privileges();
/// Confines reading to the libraries, the module's folder, the desk and the granted places, and
/// writing to the scratch folder of profile scratch; handles every other right and grants none.
/// Returns the ABI in force, 0 when the kernel has none and that is accepted, which it never is for
/// profile scratch. Errors: unsupported (no Landlock), io (which call, which path).
Result<int> apply_landlock(const Options& options, std::vector<std::string>& missing_reads);
/// Installs the profile's allow-list for every thread of the process. Errors: unsupported (no
/// seccomp), io.
Result<> apply_seccomp(const Options& options);
/// Tries what must not work: opening for write, a socket, a child, a signal to the host, (with
/// Landlock) reading outside, and (profile scratch) a file beside its folder. Returns how many acts
/// were refused. Errors: refused (which act succeeded).
Result<int> probe_walls(const Options& options, int landlock);

/// {"landlock":7,"seccomp":1,"profile":"pure","isolation":"required","probes":5,"missing_reads":[]}
[[nodiscard]] std::string walls_json(const Walls& walls, const Options& options);

/// An io error with the system's reason: `operation: Permission denied`.
[[nodiscard]] Error system_error(const std::string& operation, int error);

}  // namespace daybook::runner
