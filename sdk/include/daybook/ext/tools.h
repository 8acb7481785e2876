/* "daybook.tools/1": call another tool of the desk, under a leash that can only be narrower than this call's own.
 *
 * The manifest names the tools ("calls", one list for the plugin); no other can be called. At most four calls deep, and
 * sixteen in all below one call of the model; a call into a plugin that is already working on this stack is refused with
 * DAYBOOK_BUSY. What the inner call writes is charged to this call too; its deadline and its cancel are at most this
 * call's. */
#ifndef DAYBOOK_EXT_TOOLS_H
#define DAYBOOK_EXT_TOOLS_H

#include <daybook/host.h>

#define DAYBOOK_EXT_TOOLS "daybook.tools/1"

DAYBOOK_BEGIN

typedef struct daybook_tools {
    uint32_t struct_size, reserved0;
    /* The sink gets the tool's JSON result of at most 4 MiB, or {"error","message"} when the status is not DAYBOOK_OK.
     * [any] while a call runs. */
    daybook_status (*call)(daybook_call *, daybook_str tool, daybook_str args_json, void *to, daybook_sink result_json);
} daybook_tools;

DAYBOOK_END

#endif
