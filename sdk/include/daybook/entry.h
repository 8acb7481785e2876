/* The one exported symbol, and the manifest that is read without running anything.
 *
 * The major is in the symbol's name: a host that serves ABI 1 looks for daybook_plugin_v1 and nothing else.
 * The manifest is JSON (docs/formats.md, "Manifest") in an ELF note, section .note.daybook, owner "daybook", type 1.
 * The C++ layer (plugin.hpp) writes it from the descriptors; C authors write the text and use DAYBOOK_MANIFEST. The host
 * refuses a plugin whose descriptor differs from its note. */
#ifndef DAYBOOK_ENTRY_H
#define DAYBOOK_ENTRY_H

#include <daybook/plugin.h>
#include <daybook/version.h>

DAYBOOK_BEGIN

/* The host says what it serves; the plugin returns its descriptor, or NULL when it cannot work with that host. */
DAYBOOK_EXPORT const daybook_plugin *daybook_plugin_v1(uint32_t host_major, uint32_t host_minor);

DAYBOOK_END

#define DAYBOOK_NOTE_SECTION ".note.daybook"
#define DAYBOOK_NOTE_OWNER "daybook"
#define DAYBOOK_NOTE_MANIFEST 1u

/* For plugins in C, once, at file scope: DAYBOOK_MANIFEST("{\"manifest\":1,...}"). One string literal. */
#ifndef __cplusplus
#define DAYBOOK_MANIFEST(json)                                                                                        \
    __attribute__((section(DAYBOOK_NOTE_SECTION), used, aligned(4))) static const struct {                            \
        uint32_t owner_bytes, text_bytes, type;                                                                       \
        char owner[8];                                                                                                \
        char text[(sizeof(json) - 1 + 3) / 4 * 4]; /* a note's text is padded to four bytes, without a final NUL */   \
    } daybook_manifest_note = {sizeof(DAYBOOK_NOTE_OWNER), sizeof(json) - 1, DAYBOOK_NOTE_MANIFEST,                   \
                               DAYBOOK_NOTE_OWNER, json}
#endif

#endif
