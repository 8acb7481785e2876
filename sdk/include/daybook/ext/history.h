/* "daybook.history/1": what the desk has said, noted and done, as a feed. Only the plugin's own desk, only lines that are
 * on the disk.
 *
 * A reader keeps a cursor, an opaque text of at most 64 KiB, and asks again and again until `more` is false; later it goes
 * on from there. The records of a batch and the batch's cursor belong into one transaction. A cursor outlives the host,
 * the plugin and the growth of the files.
 *
 * {"restart":false,"more":true,"cursor":"…","records":[{"kind":"exchange","id":"2019-01-02-1:12","group":"session/2019-01-02-1",
 *  "day":"2019-01-02","at":"2019-01-02T04:01:00.000000000Z","source":"owner","part":"trigger","turn":"t-1","text":"…"}]}
 *
 * kind      exchange (a line of a session), journal (a record), summary, note, memory, or clear
 * id        stands for the same record for ever; a note's or a memory's is file and line, as long as the file is not changed
 * group     what is replaced together. A `clear` record says: forget every record of this group; what the group holds now
 *           follows. The files of a session or a day's journal only grow; notes, Memory.md and summaries are changed
 * source    whose words these are, and so how far they may be trusted: owner desk job fill tool alert page host
 * part      of an exchange trigger, tool_call, tool_result, answer, opening, interrupted or compress; of a journal record
 *           its type; of a note, memory or summary the file's path
 * text      at most 32 KiB; longer text is cut and the record has "cut":true. A journal record's text is its data as JSON
 *
 * Order: exchanges, then journal, then documents, each oldest first; what was given once comes again only after a `clear`
 * or a restart. "restart":true answers a cursor that this host cannot go on from (another desk, files that were rewritten by
 * a forget or put back from a backup): throw everything away; the batch already begins anew. */
#ifndef DAYBOOK_EXT_HISTORY_H
#define DAYBOOK_EXT_HISTORY_H

#include <daybook/host.h>

#define DAYBOOK_EXT_HISTORY "daybook.history/1"

DAYBOOK_BEGIN

typedef struct daybook_history {
    uint32_t struct_size, reserved0;
    /* The records behind the cursor ("" = from the beginning), oldest first, at most `max_records` (0 = 500, at most 5000)
     * and about `max_bytes` of text (0 = 1 MiB, at most 4 MiB). [any] while a call runs. */
    daybook_status (*read)(daybook_call *, daybook_str cursor, int64_t max_records, int64_t max_bytes, void *to,
                           daybook_sink json);
} daybook_history;

DAYBOOK_END

#endif
