// Requests that need a home's files and no running host: `daybookd --once VERB` does them.
#pragma once

#include <string_view>

#include <daybook/result.hpp>

#include "host/cli/options.hpp"
#include "host/cli/output.hpp"
#include "host/format/json.hpp"
#include "host/surface/places.hpp"

namespace daybook::cli {

/// Starts the daemon's program for one request and waits for its outcome.
/// Errors: the request's own; io (the program cannot be started, or ended without an outcome).
Result<Json> call_once(const Places& places,
                       const PlaceOptions& options,
                       std::string_view verb,
                       const Json& args);

/// Asks the running host, or, when there is none, does it without.
Result<Json> call_either(const Options& options,
                         const Places& places,
                         std::string_view verb,
                         const Json& args);

}  // namespace daybook::cli
