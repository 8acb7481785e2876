// The parts of the bench "turn".
#pragma once

#include "bench/parts.hpp"

namespace daybook::bench {

/// The host's own share of a turn. Errors: what kept it from measuring.
Result<> measure_turn(const Options& options, Report& report);
/// A host with many desks that have nothing to do: start, memory, descriptors, threads.
Result<> measure_idle_desks(const Options& options, Report& report);

}  // namespace daybook::bench
