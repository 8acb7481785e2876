/* "daybook.triggers/1": hand the plugin's own desk something that it should act on. An external group: no quiet turn has it. */
#ifndef DAYBOOK_EXT_TRIGGERS_H
#define DAYBOOK_EXT_TRIGGERS_H

#include <daybook/host.h>

#define DAYBOOK_EXT_TRIGGERS "daybook.triggers/1"

DAYBOOK_BEGIN

typedef struct daybook_triggers {
    uint32_t struct_size, reserved0;
    /* `kind` is fill, alert or job, never message: words of the owner come from the owner. `key` (1 to 200 bytes) makes a
     * repeat a no-op; `name` may be empty; `text` is what the desk is told. Durable when it returns:
     * {"trigger":"main-20261019-000118","duplicate":false}. The trigger runs after the turn that is going on. INVALID,
     * REFUSED (more than the call's leash allows), FULL (the desk's queue; try later). [any] while a call runs. */
    daybook_status (*hand_over)(daybook_call *, daybook_str kind, daybook_str key, daybook_str name, daybook_str text,
                                void *to, daybook_sink receipt_json);
} daybook_triggers;

DAYBOOK_END

#endif
