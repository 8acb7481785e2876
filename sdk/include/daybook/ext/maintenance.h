/* "daybook.maintenance/1": two calls that the host makes outside of turns. An interface of the plugin: its descriptor's
 * `get_extension` returns it, and its manifest says "offers":["maintain","health"], or one of the two.
 *
 * This release makes `health` when a new file of the plugin is to be put in force, and `maintain` not yet.
 *
 * Such a call has the groups history, scratch and clock, writes no desk file and has no effect outside. */
#ifndef DAYBOOK_EXT_MAINTENANCE_H
#define DAYBOOK_EXT_MAINTENANCE_H

#include <daybook/host.h>

#define DAYBOOK_EXT_MAINTENANCE "daybook.maintenance/1"

DAYBOOK_BEGIN

typedef struct daybook_maintenance {
    uint32_t struct_size, reserved0;
    /* When the desk is idle: catch up with an index, throw old data away. At most 10 s a call; cancelled as soon as a
     * trigger arrives, so leave everything whole at every step and look at host->cancelled often. result = {"more":true}
     * when there is more to do: the host calls again soon. NULL = not offered. [call] */
    daybook_status (*maintain)(daybook_instance *, daybook_call *);
    /* Is all well? At most 2 s, changes nothing. result = {"state":"ok"} or {"state":"degraded","text":"one sentence"},
     * or fail with the reason. NULL = not offered. [call] */
    daybook_status (*health)(daybook_instance *, daybook_call *);
} daybook_maintenance;

DAYBOOK_END

#endif
