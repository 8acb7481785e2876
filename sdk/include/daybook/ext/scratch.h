/* "daybook.scratch/1": a private folder of the plugin for one desk, for an index and nothing else.
 *
 * The manifest's profile must be "scratch" (the C++ layer says so by itself): the process may then write below this folder
 * and nowhere else. SQLite works there (WAL, shared memory, fsync, locks). Files and folders can be made, written, renamed
 * within one folder and removed; links, modes, times and moves between folders are refused. The host deletes the folder
 * when it pleases, and when it has grown over `max_bytes`: keep nothing in it that cannot be made again. */
#ifndef DAYBOOK_EXT_SCRATCH_H
#define DAYBOOK_EXT_SCRATCH_H

#include <daybook/host.h>

#define DAYBOOK_EXT_SCRATCH "daybook.scratch/1"

DAYBOOK_BEGIN

typedef struct daybook_scratch {
    uint32_t struct_size, reserved0;
    /* {"path":"/…/scratch/search/main","bytes":81920,"max_bytes":2147483648}: an absolute path, which exists. FULL when
     * the folder is over its bound; a call that makes it grow over the bound is ended. [any] while a call runs. */
    daybook_status (*folder)(daybook_call *, void *to, daybook_sink json);
} daybook_scratch;

DAYBOOK_END

#endif
