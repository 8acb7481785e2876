// The walls around a walled child, in the order in which they go up: in the process that becomes
// the program, before it does.
//
// What each holds: Landlock what it reads, writes, starts and (from ABI 4) connects to; the
// deny-list (child_filter.cpp) what Landlock does not know; the group that it cannot leave lets the
// host end it with everything it started.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include <daybook/result.hpp>

#include "host/runner/child_options.hpp"

namespace daybook::runner {

struct ChildWalls {
    int landlock = 0;  ///< ABI in force, 0 = none (isolation off)
    bool seccomp = false;
    bool has_network = false;          ///< it may make TCP sockets
    int probes = 0;                    ///< forbidden acts that were tried and failed as they must
    std::vector<std::string> missing;  ///< granted places that do not exist
};

/// Few files, a bounded largest file, no core, bounded memory and processes. Errors: io.
Result<> limit_child(const ChildOptions& options);
/// Reads: the system's libraries and data, the program, what the owner granted; writes: its state
/// folder. Errors: unsupported (no Landlock; connections below ABI 4 without the owner's word), io
/// (which path).
Result<> confine_child_files(const ChildOptions& options, ChildWalls& walls);
/// `group` is the process group that it stays in. Errors: unsupported, io.
Result<> confine_child_calls(pid_t group, ChildWalls& walls);
/// Tries what must not work. `host` is the pid of a process outside. Errors: refused (which act
/// succeeded).
Result<int> probe_child_walls(const ChildOptions& options, const ChildWalls& walls, pid_t host);

/// {"landlock":7,"seccomp":1,"profile":"child","isolation":"required","network":"none","probes":8,
/// "missing_reads":[]}; network is none, ports or any.
[[nodiscard]] std::string child_walls_json(const ChildWalls& walls, const ChildOptions& options);

}  // namespace daybook::runner
