// A new file of a plugin proves itself before it is put in force: a runner of its own gets through
// its walls, loads it, finds that its descriptor says what its manifest says, opens it with the
// desk's configuration, and it says that all is well (`health`, where it offers that).
#pragma once

#include <chrono>

#include <daybook/result.hpp>

#include "host/plugin/runner_process.hpp"

namespace daybook {

inline constexpr std::chrono::milliseconds kProofTimeout{10000};  ///< start and open
inline constexpr std::chrono::milliseconds kHealthTimeout{2000};

/// Waits in an inbox of its own; the runner is gone when it returns. The new file's log lines go to
/// `events`. Errors: those of RunnerProcess::ensure_ready(), and for a health that is none:
/// unavailable (degraded, with its sentence), or what the call ended with. Thread: [any] but [io],
/// [desk].
Result<> prove_runner(IoLoop& loop,
                      const PluginEntry& plugin,
                      RunnerSettings settings,
                      RunnerEvents events);

}  // namespace daybook
