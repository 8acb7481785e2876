// The order in which the walls go up.
#pragma once

#include "host/runner/host_link.hpp"
#include "host/runner/options.hpp"
#include "host/runner/walls.hpp"

namespace daybook::runner {

/// Puts up every wall and proves that they stand, or ends the process with the host told why. With
/// isolation = off: leaves the host, limits and privileges only.
Walls confine(HostLink& link, const Options& options);

}  // namespace daybook::runner
