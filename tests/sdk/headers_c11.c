/* Every C header, in C11 without extensions, and the layout that is frozen with 1.0: members may follow, none may move. */
#include <stddef.h>

#include <daybook/daybook.h>
#include <daybook/ext/draft/model.h>
#include <daybook/ext/draft/skill.h>

#define AT(type, member, offset) \
    _Static_assert(offsetof(type, member) == (offset), #type "." #member " has moved")
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has changed its size")

SIZE(daybook_status, 4);
SIZE(daybook_str, 16);
AT(daybook_str, len, 8);

AT(daybook_host, struct_size, 0);
AT(daybook_host, abi_major, 4);
AT(daybook_host, abi_minor, 8);
AT(daybook_host, host_version, 16);
AT(daybook_host, ctx, 24);
AT(daybook_host, log, 32);
AT(daybook_host, get_extension, 40);
AT(daybook_host, deadline_ns, 48);
AT(daybook_host, cancelled, 56);
AT(daybook_host, progress, 64);
AT(daybook_host, result, 72);
AT(daybook_host, fail, 80);
AT(daybook_host, idempotency_key, 88);
SIZE(daybook_host, 96);

AT(daybook_tool, struct_size, 0);
AT(daybook_tool, flags, 4);
AT(daybook_tool, name, 8);
AT(daybook_tool, description, 16);
AT(daybook_tool, input_schema, 24);
AT(daybook_tool, output_schema, 32);
AT(daybook_tool, writes, 40);
AT(daybook_tool, groups, 48);
AT(daybook_tool, default_timeout_ms, 56);
AT(daybook_tool, max_concurrency, 60);
AT(daybook_tool, call, 64);
SIZE(daybook_tool, 72);

AT(daybook_plugin, struct_size, 0);
AT(daybook_plugin, abi_major, 4);
AT(daybook_plugin, abi_minor, 8);
AT(daybook_plugin, min_host_minor, 12);
AT(daybook_plugin, name, 16);
AT(daybook_plugin, version, 24);
AT(daybook_plugin, build_id, 32);
AT(daybook_plugin, tools, 40);
AT(daybook_plugin, tool_count, 48);
AT(daybook_plugin, models, 56);
AT(daybook_plugin, model_count, 64);
AT(daybook_plugin, skills, 72);
AT(daybook_plugin, skill_count, 80);
AT(daybook_plugin, open, 88);
AT(daybook_plugin, drain, 96);
AT(daybook_plugin, close, 104);
AT(daybook_plugin, get_extension, 112);
SIZE(daybook_plugin, 120);

AT(daybook_desk_files, read, 8);
AT(daybook_desk_files, list, 16);
AT(daybook_desk_files, append, 24);
AT(daybook_desk_files, replace, 32);
AT(daybook_desk_files, edit, 40);
AT(daybook_desk_files, read_lines, 48);
SIZE(daybook_desk_files, 56);

AT(daybook_clock, now_ns, 8);
AT(daybook_clock, describe, 16);
AT(daybook_clock, sessions, 24);
SIZE(daybook_clock, 32);

AT(daybook_history, read, 8);
SIZE(daybook_history, 16);
AT(daybook_scratch, folder, 8);
SIZE(daybook_scratch, 16);
AT(daybook_tools, call, 8);
SIZE(daybook_tools, 16);
AT(daybook_journal, append, 8);
SIZE(daybook_journal, 16);
AT(daybook_triggers, hand_over, 8);
SIZE(daybook_triggers, 16);
AT(daybook_maintenance, maintain, 8);
AT(daybook_maintenance, health, 16);
SIZE(daybook_maintenance, 24);

_Static_assert(DAYBOOK_OK == 0 && DAYBOOK_REFUSED == 3 && DAYBOOK_CONFLICT == 11 && DAYBOOK_INTERNAL == 100,
               "a status has changed its number");
_Static_assert(DAYBOOK_TOOL_IDEMPOTENT == 1 && DAYBOOK_TOOL_REENTRANT == 2, "a flag has changed its bit");

/* A plugin's test for a member that an older host lacks, at every length a table can have. */
int sdk_headers_has_key(const daybook_host *host);
int sdk_headers_has_key(const daybook_host *host) { return DAYBOOK_HAS(daybook_host, host, idempotency_key); }
