/* DRAFT. "daybook.journal/1": append a record of an effect to the desk's journal. Durable before it returns. */
#ifndef DAYBOOK_EXT_DRAFT_JOURNAL_H
#define DAYBOOK_EXT_DRAFT_JOURNAL_H

#include <daybook/host.h>

#define DAYBOOK_EXT_JOURNAL "daybook.journal/1"

DAYBOOK_BEGIN

typedef struct daybook_journal {
    uint32_t struct_size, reserved0;
    /* `type` is order, refusal, fill or cancel; `key` makes a repeat a no-op; `data_json` is an object of that type
     * (docs/formats.md, "Journal"). The sink gets {"id":"main-20261019-000118"}. [call] */
    daybook_status (*append)(daybook_call *, daybook_str type, daybook_str key, daybook_str order, daybook_str data_json,
                             void *to, daybook_sink receipt_json);
} daybook_journal;

DAYBOOK_END

#endif
