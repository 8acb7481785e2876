/* DRAFT: a skill: instructions for the model, the tools it brings (in the plugin's list of tools), the triggers it
 * handles and the jobs it schedules. */
#ifndef DAYBOOK_EXT_DRAFT_SKILL_H
#define DAYBOOK_EXT_DRAFT_SKILL_H

#include <daybook/host.h>

DAYBOOK_BEGIN

typedef struct daybook_skill {
    uint32_t struct_size, flags;
    const char *name;         /* [a-z][a-z0-9_-]{0,63} */
    const char *description;  /* one sentence: when the model should use it */
    const char *instructions; /* Markdown for the model, given when the skill is on; may be NULL */
    const char *jobs;         /* JSON array of {"name","at":"HH:MM","trading_days_only":bool,"text"}; may be NULL */
    const char *trigger_kinds; /* separated by spaces: message job alert fill; NULL = all */
} daybook_skill;

DAYBOOK_END

#endif
