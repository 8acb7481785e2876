// Requests that change which plugins are in force, and why one is not.
#pragma once

#include <string>

#include "host/surface/api.hpp"

namespace daybook {

struct PluginEntry;

namespace api {

void plugin_load(Host& host, Args& args, const ReplyPtr& reply);
void plugin_reload(Host& host, Args& args, const ReplyPtr& reply);
void plugin_rollback(Host& host, Args& args, const ReplyPtr& reply);
void plugin_unload(Host& host, Args& args, const ReplyPtr& reply);
void plugin_disable(Host& host, Args& args, const ReplyPtr& reply);
void plugin_enable(Host& host, Args& args, const ReplyPtr& reply);
Result<Json> plugin_why(Host& host, Args& args);

/// One word for what the plugin is up to: disabled, unloaded, refused, open_breaker, backoff,
/// probation, ok.
[[nodiscard]] std::string plugin_state_word(const Host& host, const PluginEntry& entry);

}  // namespace api

}  // namespace daybook
