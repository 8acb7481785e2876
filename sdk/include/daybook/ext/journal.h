/* "daybook.journal/1": put an effect on the desk's record. An external group: no quiet turn has it. */
#ifndef DAYBOOK_EXT_JOURNAL_H
#define DAYBOOK_EXT_JOURNAL_H

#include <daybook/host.h>

#define DAYBOOK_EXT_JOURNAL "daybook.journal/1"

DAYBOOK_BEGIN

typedef struct daybook_journal {
    uint32_t struct_size, reserved0;
    /* `type` is order, refusal, fill or cancel; `key` (1 to 200 bytes) makes a repeat a no-op, whose receipt is the first
     * one's; `order` is the order's own id; `data_json` is an object of that type (docs/formats.md, "Orders"): prices and
     * money are decimal text, quantities whole numbers. Durable when it returns: {"id":"main-20261019-000118"}. INVALID
     * names the member. [any] while a call runs. */
    daybook_status (*append)(daybook_call *, daybook_str type, daybook_str key, daybook_str order, daybook_str data_json,
                             void *to, daybook_sink receipt_json);
} daybook_journal;

DAYBOOK_END

#endif
