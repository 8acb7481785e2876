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
    /* The whole file. What is read here counts as shown to this turn. */
    daybook_status (*read)(daybook_call *, daybook_str path, void *to, daybook_sink on);
    /* JSON array of {"path","bytes","own"} below a folder ("" = the desk's), sorted by path. */
    daybook_status (*list)(daybook_call *, daybook_str folder, void *to, daybook_sink on);
    /* Adds text at the current end; makes the file when it does not exist. */
    daybook_status (*append)(daybook_call *, daybook_str path, daybook_str base_sha256, daybook_str text, daybook_str reason,
                             void *to, daybook_sink receipt_json);
    /* The whole new content. An empty `base_sha256` means "what was last shown to this turn". */
    daybook_status (*replace)(daybook_call *, daybook_str path, daybook_str base_sha256, daybook_str text,
                              daybook_str reason, void *to, daybook_sink receipt_json);
    /* Exchanges one piece of text that must occur exactly once. */
    daybook_status (*edit)(daybook_call *, daybook_str path, daybook_str base_sha256, daybook_str old_text,
                           daybook_str new_text, daybook_str reason, void *to, daybook_sink receipt_json);
} daybook_desk_files;

DAYBOOK_END

#endif
