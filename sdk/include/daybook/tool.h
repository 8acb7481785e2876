/* A tool: one thing that a model may ask the desk to do. */
#ifndef DAYBOOK_TOOL_H
#define DAYBOOK_TOOL_H

#include <daybook/host.h>

DAYBOOK_BEGIN

enum {
    DAYBOOK_TOOL_IDEMPOTENT = 1u << 0, /* calling twice with the same arguments is calling once */
    DAYBOOK_TOOL_REENTRANT = 1u << 1   /* `call` may run on several threads at once */
};

/* All text is UTF-8, NUL-terminated, static for the life of the library. */
typedef struct daybook_tool {
    uint32_t struct_size, flags;

    const char *name;        /* [a-z][a-z0-9_]{0,63}, unique among the desk's tools */
    const char *description; /* one or two sentences for the model */
    const char *input_schema;  /* JSON Schema of an object; the host has checked the arguments against it before `call` */
    const char *output_schema; /* JSON Schema or NULL */

    /* What a call writes, as JSON, or NULL for a tool that writes nothing:
     *   {"fixed":"notes/{day}.md","ops":["append"]}        one file known beforehand; {day} is the desk's trading day
     *   {"arg":"path","ops":["replace","edit"]}            the file named by that argument
     * The host turns it into the call's leash before the call starts. */
    const char *writes;

    /* Ids of the groups that this tool uses, separated by spaces; NULL = all that the manifest wants. A tool that has
     * none of http, process, journal and triggers has no effect outside the desk. */
    const char *groups;

    uint32_t default_timeout_ms; /* 0 = the host's default */
    uint32_t max_concurrency;    /* 0 or 1 = one at a time */

    /* `args_json` is a JSON object. Ends with exactly one of host->result / host->fail; the status returned is used only
     * when neither was called. [call] */
    daybook_status (*call)(daybook_instance *, daybook_call *, daybook_str args_json);
} daybook_tool;

DAYBOOK_END

#endif
