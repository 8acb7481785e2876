/* "daybook.desk-files/1": the desk's own files. Every path is relative to the desk's folder.
 *
 * The last three are requests. The host checks the call's leash and the content rules, makes a checkpoint durable, writes,
 * journals, and only then answers DAYBOOK_OK with a receipt: {"path","checkpoint","sha256","bytes"}. Other answers:
 * REFUSED (the message names file, rule and what was allowed), CONFLICT (the file is not what was last shown to this turn;
 * both versions are kept), NO_CHECKPOINT, IO, FULL, NOT_FOUND. Text of the failure goes to the same sink as JSON
 * {"error","message",...}. [call] and the plugin's own threads while the call runs. */
#ifndef DAYBOOK_EXT_DESK_FILES_H
#define DAYBOOK_EXT_DESK_FILES_H

#include <daybook/host.h>

#define DAYBOOK_EXT_DESK_FILES "daybook.desk-files/1"

DAYBOOK_BEGIN

typedef struct daybook_desk_files {
    uint32_t struct_size, reserved0;
    /* The whole file. What is read here counts as shown to this turn, as a whole; in a call that may write the file it is
     * for the call's own use and counts for that call alone. */
    daybook_status (*read)(daybook_call *, daybook_str path, void *to, daybook_sink on);
    /* JSON array of {"path","bytes","own"} below a folder ("" = the desk's), sorted by path. */
    daybook_status (*list)(daybook_call *, daybook_str folder, void *to, daybook_sink on);
    /* Adds text at the current end; makes the file when it does not exist. */
    daybook_status (*append)(daybook_call *, daybook_str path, daybook_str base_sha256, daybook_str text, daybook_str reason,
                             void *to, daybook_sink receipt_json);
    /* The whole new content. An empty `base_sha256` means "what was last shown to this turn"; another hash than that is a
     * CONFLICT, except in a call by the owner. */
    daybook_status (*replace)(daybook_call *, daybook_str path, daybook_str base_sha256, daybook_str text,
                              daybook_str reason, void *to, daybook_sink receipt_json);
    /* Exchanges one piece of text that must occur exactly once. */
    daybook_status (*edit)(daybook_call *, daybook_str path, daybook_str base_sha256, daybook_str old_text,
                           daybook_str new_text, daybook_str reason, void *to, daybook_sink receipt_json);
    /* Whole lines from `first_line` (from 1), at most `max_lines` and `max_bytes` (0 = no limit), as JSON
     * {"text","first_line","lines","total_lines","bytes","sha256","whole","cut_in_line"}: `lines` are in `text`, the two
     * totals and the hash are of the file, `whole` says that `text` is all of it, and `cut_in_line` that the only line
     * was cut between two characters because it is longer than `max_bytes`. Only these lines count as shown to this turn;
     * `replace` wants all of them shown, `edit` is content with some. Use it for what a model is given. */
    daybook_status (*read_lines)(daybook_call *, daybook_str path, int64_t first_line, int64_t max_lines, int64_t max_bytes,
                                 void *to, daybook_sink json);
} daybook_desk_files;

DAYBOOK_END

#endif
