// Requests that put files back, and the trash.
#pragma once

#include "host/surface/api.hpp"

namespace daybook::api {

void checkpoint_restore(Host& host, Args& args, const ReplyPtr& reply);
void checkpoint_undo(Host& host, Args& args, const ReplyPtr& reply);
void checkpoint_note_edits(Host& host, Args& args, const ReplyPtr& reply);
Result<Json> checkpoint_trash(Host& host, Args& args);
void checkpoint_empty_trash(Host& host, Args& args, const ReplyPtr& reply);

}  // namespace daybook::api
