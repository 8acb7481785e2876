// The JSON API: what may be asked of a host over the control socket, and later by the page
// (docs/api.md).
//
// One table, verb -> handler. A handler runs on the worker thread; it answers there, or keeps the
// reply and answers later.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/surface/api_args.hpp"
#include "host/surface/control_connection.hpp"
#include "host/surface/reply.hpp"

namespace daybook {

class Host;

using ReplyPtr = std::shared_ptr<Reply>;

struct ApiVerb {
    std::string_view name;
    void (*run)(Host&, Args&, const ReplyPtr&);
    bool while_stopping = false;  ///< still answered when the host has begun to stop
};

/// Every verb, by name.
[[nodiscard]] std::span<const ApiVerb> api_verbs();

/// Takes a request on the I/O thread and runs it on the worker. A full queue is answered busy.
void serve_request(Host& host, ControlRequest request, const ReplyPtr& reply);

/// For handlers that answer at once: `Handler` is Result<Json>(Host&, Args&).
template <auto Handler>
void at_once(Host& host, Args& args, const ReplyPtr& reply) {
    reply->done(Handler(host, args));
}

namespace api {
// api_host.cpp
Result<Json> version(Host& host, Args& args);
Result<Json> status(Host& host, Args& args);
void doctor(Host& host, Args& args, const ReplyPtr& reply);
Result<Json> clock_show(Host& host, Args& args);
void clock_advance(Host& host, Args& args, const ReplyPtr& reply);
void host_stop(Host& host, Args& args, const ReplyPtr& reply);
// api_desk.cpp
Result<Json> desk_list(Host& host, Args& args);
Result<Json> desk_show(Host& host, Args& args);
Result<Json> desk_interrupt(Host& host, Args& args);
Result<Json> desk_pause(Host& host, Args& args);
Result<Json> desk_resume(Host& host, Args& args);
void say(Host& host, Args& args, const ReplyPtr& reply);
void trigger(Host& host, Args& args, const ReplyPtr& reply);
Result<Json> session_list(Host& host, Args& args);
Result<Json> session_show(Host& host, Args& args);
Result<Json> memory_show(Host& host, Args& args);
Result<Json> memory_notes(Host& host, Args& args);
// api_checkpoint.cpp
Result<Json> checkpoint_list(Host& host, Args& args);
Result<Json> checkpoint_show(Host& host, Args& args);
Result<Json> checkpoint_diff(Host& host, Args& args);
void checkpoint_take(Host& host, Args& args, const ReplyPtr& reply);
// api_journal.cpp
Result<Json> journal_show(Host& host, Args& args);
void journal_tail(Host& host, Args& args, const ReplyPtr& reply);
// api_plugin.cpp
Result<Json> plugin_list(Host& host, Args& args);
Result<Json> plugin_show(Host& host, Args& args);
Result<Json> plugin_retry(Host& host, Args& args);
Result<Json> model_list(Host& host, Args& args);
Result<Json> tool_list(Host& host, Args& args);
void tool_call(Host& host, Args& args, const ReplyPtr& reply);
}  // namespace api

}  // namespace daybook
