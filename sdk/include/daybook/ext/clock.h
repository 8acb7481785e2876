/* "daybook.clock/1": the desk's time. On a replayed day it is the replay's. [any] while a call runs. */
#ifndef DAYBOOK_EXT_CLOCK_H
#define DAYBOOK_EXT_CLOCK_H

#include <daybook/host.h>

#define DAYBOOK_EXT_CLOCK "daybook.clock/1"

DAYBOOK_BEGIN

typedef struct daybook_clock {
    uint32_t struct_size, reserved0;
    /* Nanoseconds since 1970-01-01T00:00:00Z. */
    daybook_status (*now_ns)(daybook_call *, int64_t *out);
    /* {"now":"2019-01-02T10:15:00+05:30","day":"2019-01-02","zone":"Asia/Kolkata","market":"open",
     *  "sessions":[{"open":"09:15","close":"15:30"}],"next_open":"…"}; market is open, closed or unknown; sessions are
     * those of `day` in the desk's zone. */
    daybook_status (*describe)(daybook_call *, void *to, daybook_sink json);
    /* The sessions of any date "YYYY-MM-DD": {"day","trading_day":bool,"known":bool,"sessions":[…]}. */
    daybook_status (*sessions)(daybook_call *, daybook_str day, void *to, daybook_sink json);
} daybook_clock;

DAYBOOK_END

#endif
