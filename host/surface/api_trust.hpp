// Requests about the owner's approval of plugins, and the same without a running host.
#pragma once

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/os.hpp"
#include "host/surface/api_args.hpp"
#include "host/surface/places.hpp"

namespace daybook {

class Host;

namespace api {
/// plugin.look {"file" or "plugin"}
Result<Json> plugin_look(Host& host, Args& args);
/// plugin.trust {"file" or "plugin", "sha256"}: journalled
Result<Json> plugin_trust(Host& host, Args& args);
}  // namespace api

/// `daybookd --once plugin.look` and plugin.trust.
Result<Json> plugin_look_once(const Places& places, Os& os, Args& args);
Result<Json> plugin_trust_once(const Places& places, Os& os, Args& args);

}  // namespace daybook
