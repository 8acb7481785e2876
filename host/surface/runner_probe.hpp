// Starts a runner for a moment, to see its walls and to ask a model whether it is ready.
#pragma once

#include <string>

#include <daybook/result.hpp>

namespace daybook {

class Desk;
class Host;
struct PluginEntry;

struct ProbeOutcome {
    std::string walls;  ///< JSON of the ready frame
    double start_milliseconds = 0;
};

/// Errors: refused (the walls do not stand, or the module does not load: the runner's reason),
/// deadline, unavailable. Thread: a job's.
Result<ProbeOutcome> probe_walls(Host& host, const Desk& desk, const PluginEntry& plugin);

/// What the model's backend says of itself. Errors: unavailable (not ready: its own reason), and
/// those above. Thread: a job's.
Result<> probe_model(Host& host,
                     const Desk& desk,
                     const PluginEntry& plugin,
                     const std::string& model);

}  // namespace daybook
