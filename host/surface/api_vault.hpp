// Requests about a home's files of record as a whole, and the same without a running host.
#pragma once

#include <string_view>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/surface/api.hpp"
#include "host/surface/places.hpp"

namespace daybook {

namespace api {
void checkpoint_verify(Host& host, Args& args, const ReplyPtr& reply);
void home_usage(Host& host, Args& args, const ReplyPtr& reply);
void journal_verify(Host& host, Args& args, const ReplyPtr& reply);
void desk_forget(Host& host, Args& args, const ReplyPtr& reply);
void home_backup(Host& host, Args& args, const ReplyPtr& reply);
}  // namespace api

/// One request of these, on the files of a home whose host does not run: `daybookd --once VERB`.
/// Errors: unsupported (another verb), busy (a host runs and the verb cannot go on beside it), and
/// the verb's own.
Result<Json> run_once(const PlaceOptions& options, std::string_view verb, const Json& args);

}  // namespace daybook
