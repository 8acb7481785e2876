/* The descriptor: what a plugin is and offers. */
#ifndef DAYBOOK_PLUGIN_H
#define DAYBOOK_PLUGIN_H

#include <daybook/host.h>
#include <daybook/tool.h>

DAYBOOK_BEGIN

struct daybook_model; /* ext/draft/model.h */
struct daybook_skill; /* ext/draft/skill.h */

/* Static for the life of the library. Arrays of pointers, so that the elements may grow. */
typedef struct daybook_plugin {
    uint32_t struct_size, abi_major, abi_minor, min_host_minor;
    const char *name;     /* [a-z][a-z0-9_-]{0,63} */
    const char *version;  /* semantic version */
    const char *build_id; /* free text or NULL */

    const daybook_tool *const *tools;
    size_t tool_count;
    const struct daybook_model *const *models;
    size_t model_count;
    const struct daybook_skill *const *skills;
    size_t skill_count;

    /* Makes the instance. `config_json` is an object, checked against the manifest's config_schema. On failure writes a
     * NUL-terminated sentence into `error` (at most `error_capacity` bytes). NULL = no instance needed. Never overlaps
     * any other function on the same instance. */
    daybook_status (*open)(const daybook_host *, daybook_str config_json, daybook_instance **, char *error,
                           size_t error_capacity);
    void (*drain)(daybook_instance *); /* no new calls follow; finish or give up; may be NULL */
    void (*close)(daybook_instance *); /* join own threads, free; may be NULL */
    const void *(*get_extension)(const char *id); /* optional interfaces of the plugin; may be NULL */
} daybook_plugin;

DAYBOOK_END

#endif
