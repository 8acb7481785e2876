/* "daybook.http/1": one request to an approved origin, streamed both ways, made by the host.
 *
 * Approved are the origins that the owner wrote: for a tool those of its plugin ([plugin.NAME] origins), for a model's
 * call that of the model's url. The host adds the credential; a plugin never sees it. Redirects are followed within the
 * approved origins. An HTTP status of 400 and up is an answer, not a failure.
 *
 * Failures: INVALID (the request), REFUSED (origin, address, redirect, certificate, a header that is the host's),
 * AUTH (the credential is missing), UNAVAILABLE (no connection), NO_ANSWER (no head in time), LOST_CONNECTION (cut,
 * garbled or silent in mid-answer), FULL (over a bound), DEADLINE, CANCELLED, NOT_FOUND (no such exchange). Their text
 * goes to the sink as JSON {"error","message"}. When the call ends, what is open is closed.
 * [call] and the plugin's own threads while the call runs; each function waits for what it asks. */
#ifndef DAYBOOK_EXT_HTTP_H
#define DAYBOOK_EXT_HTTP_H

#include <daybook/host.h>

#define DAYBOOK_EXT_HTTP "daybook.http/1"

DAYBOOK_BEGIN

typedef struct daybook_http {
    uint32_t struct_size, reserved0;
    /* Starts a request and returns at once. `request_json`:
     *   {"method":"POST","url":"https://api.example.com/v1","headers":{"content-type":"application/json"}} and, when
     * wanted, "connect_ms" (10000), "first_byte_ms" (300000), "idle_ms" (120000), "max_bytes" of the answer (64 MiB, at
     * most 256 MiB), "compressed":true (offer gzip), "body_follows":true (more of the body comes by `send`), then also
     * "body_bytes" when its whole length is known, and "credential_header" ("authorization", "x-api-key", "api-key",
     * "x-goog-api-key"): where this server wants its key, unless the owner's configuration says. At most 16 exchanges
     * are open in a call. */
    daybook_status (*begin)(daybook_call *, daybook_str request_json, daybook_str body, int64_t *exchange, void *to,
                            daybook_sink failure_json);
    /* More of the body; `last` ends it. Waits while the host has enough to send. */
    daybook_status (*send)(daybook_call *, int64_t exchange, daybook_str bytes, int32_t last, void *to,
                           daybook_sink failure_json);
    /* Waits for the answer's head: {"status":200,"url":"…","headers":{"content-type":"text/event-stream"}}, names in lower
     * case, values of one name joined with ", ", cookies left out. */
    daybook_status (*head)(daybook_call *, int64_t exchange, void *to, daybook_sink json);
    /* Waits for some bytes of the answer, at most `max_bytes` (0 = the host's own measure); none = its end. Until they
     * are taken, the host reads no further from the server. */
    daybook_status (*read)(daybook_call *, int64_t exchange, int64_t max_bytes, void *to, daybook_sink bytes);
    /* Ends the exchange; the connection of an unfinished one is closed. */
    daybook_status (*close)(daybook_call *, int64_t exchange);
} daybook_http;

DAYBOOK_END

#endif
