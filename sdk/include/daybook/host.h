/* The core group: what every plugin may ask of the host.
 *
 * Threads are named symbolically. [call] is the thread on which the host called the plugin; [any] is every thread of the
 * plugin. No function here blocks on anything but the channel to the host. */
#ifndef DAYBOOK_HOST_H
#define DAYBOOK_HOST_H

#include <daybook/export.h>
#include <daybook/status.h>
#include <daybook/text.h>

DAYBOOK_BEGIN

/* One call in flight. Owned by the host; a pointer kept after the call has returned is refused (DAYBOOK_NOT_FOUND). */
typedef struct daybook_call daybook_call;

/* One opened plugin. Owned by the plugin, made by `open`, freed by `close`. */
typedef struct daybook_instance daybook_instance;

enum { DAYBOOK_LOG_DEBUG = 0, DAYBOOK_LOG_INFO = 1, DAYBOOK_LOG_WARN = 2, DAYBOOK_LOG_ERROR = 3 };

/* Append-only; test members newer than your minimum with DAYBOOK_HAS. Valid from `open` until after `close`. */
typedef struct daybook_host {
    uint32_t struct_size, abi_major, abi_minor, reserved0;
    const char *host_version;
    void *ctx;

    /* A line for the operator's log. `fields_json` may be empty. Rate-limited by the host. [any] */
    void (*log)(void *ctx, int32_t level, daybook_str message, daybook_str fields_json);

    /* The table of an optional group such as "daybook.desk-files/1", or NULL when the host does not serve that id or the
     * plugin's manifest does not want it. The pointer stays valid until after `close`. [any] */
    const void *(*get_extension)(void *ctx, const char *id);

    /* When the call must be over: absolute, nanoseconds of CLOCK_MONOTONIC; 0 = no deadline. [any] */
    int64_t (*deadline_ns)(daybook_call *);

    /* Nonzero once the call is cancelled or past its deadline; never goes back. [any] */
    int32_t (*cancelled)(daybook_call *);

    /* A short text on what is being done, for whoever waits. [any] */
    void (*progress)(daybook_call *, daybook_str text);

    /* Ends the call with a JSON value / with a failure. Exactly one of the two, once; the host copies. The first wins, a
     * second returns DAYBOOK_INVALID and is counted as misbehaviour. A failure's message says which file or input, what
     * was wanted, what was found, what to do. [call] */
    daybook_status (*result)(daybook_call *, daybook_str json);
    daybook_status (*fail)(daybook_call *, daybook_status, int32_t retryable, daybook_str message, daybook_str detail_json);

    /* The key under which an external effect of this call must be made, so that a repeat is recognised. Empty when the
     * call may have no external effect. Valid until the call returns. [any] */
    daybook_str (*idempotency_key)(daybook_call *);
} daybook_host;

DAYBOOK_END

#endif
