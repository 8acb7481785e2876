/* DRAFT: a model backend. May still change; the ids and this shape's events will not.
 *
 * The host gives a turn as one JSON request (docs/turns.md, "The request"); the backend answers as a stream of events
 * and ends it with exactly one `end` or `error`. A tool call is emitted whole and checked: arguments are a JSON object.
 * A backend runs no tool itself: it ends with reason "tool_calls" and gets the results in the next request. */
#ifndef DAYBOOK_EXT_DRAFT_MODEL_H
#define DAYBOOK_EXT_DRAFT_MODEL_H

#include <daybook/host.h>

DAYBOOK_BEGIN

/* Tokens. A member that was not reported is -1; `exact` is 0 for an estimate. */
typedef struct daybook_usage {
    uint32_t struct_size, exact;
    int64_t input, output, cache_read, cache_write;
} daybook_usage;

/* Filled by the host. A function that returns anything but DAYBOOK_OK asks the backend to stop and return that status:
 * that is how a turn is cancelled and how a slow reader holds it back. [call] */
typedef struct daybook_stream {
    uint32_t struct_size, reserved0;
    void *ctx;
    daybook_status (*text)(void *ctx, daybook_str delta);
    daybook_status (*reasoning)(void *ctx, daybook_str delta); /* shown, never stored as the answer */
    daybook_status (*tool_call)(void *ctx, daybook_str id, daybook_str name, daybook_str args_json);
    daybook_status (*usage)(void *ctx, const daybook_usage *);
    daybook_status (*session)(void *ctx, daybook_str backend_session_id); /* comes back in the next request as "resume" */
    daybook_status (*compacted)(void *ctx, int64_t tokens_before, int64_t tokens_after);
    /* reason: "completed" or "tool_calls". Only "completed" is saved as an exchange. */
    daybook_status (*end)(void *ctx, daybook_str reason);
    /* class: not_ready overloaded auth overflow request_fault model_fault truncated lost_connection cancelled no_answer */
    daybook_status (*error)(void *ctx, daybook_str error_class, daybook_str message);
} daybook_stream;

typedef struct daybook_model {
    uint32_t struct_size, flags;
    const char *name;
    /* Window in tokens for the configured model, or 0 when unknown. [call] */
    int64_t (*context_window)(daybook_instance *, const char *model);
    /* Exact count for a request, or DAYBOOK_UNSUPPORTED; may be NULL. [call] */
    daybook_status (*count_tokens)(daybook_instance *, daybook_call *, daybook_str request_json, daybook_usage *out);
    /* Runs a turn. The call itself ends like a tool's (result or fail); the host reads the stream. [call] */
    daybook_status (*turn)(daybook_instance *, daybook_call *, daybook_str request_json, const daybook_stream *);
    /* Is it ready? Bounded, spends no tokens. result = {"ready":true} or fail with the reason. [call] */
    daybook_status (*ready)(daybook_instance *, daybook_call *);
    /* Shortens the backend's own conversation, if it keeps one; may be NULL. [call] */
    daybook_status (*compact)(daybook_instance *, daybook_call *, daybook_str instruction, const daybook_stream *);
    /* Returns at once; the running turn ends soon after. May be NULL. [any] */
    void (*cancel)(daybook_instance *, daybook_call *);
} daybook_model;

DAYBOOK_END

#endif
