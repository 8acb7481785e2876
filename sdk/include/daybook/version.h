/* Version numbers of the SDK and of the interface it describes. The one place they are written.
 *
 * ABI: a plugin built for major 1 loads in every host that serves major 1 and whose minor is at least the plugin's
 * `min_host_minor`. A minor only ever appends: members at the end of tables, new optional groups.
 * DAYBOOK_ABI_TARGET hides members newer than the target, so that a plugin cannot use by accident what an older host lacks. */
#ifndef DAYBOOK_VERSION_H
#define DAYBOOK_VERSION_H

#define DAYBOOK_VERSION_STRING "0.1.0"

#define DAYBOOK_ABI_MAJOR 1u
#define DAYBOOK_ABI_MINOR 0u

/* The newest minor whose members are visible: major * 1000 + minor. */
#ifndef DAYBOOK_ABI_TARGET
#define DAYBOOK_ABI_TARGET 1000
#endif

#endif
