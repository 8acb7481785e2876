/* Everything stable: what a plugin in C includes. */
#ifndef DAYBOOK_H
#define DAYBOOK_H

#include <daybook/entry.h>
#include <daybook/export.h>
#include <daybook/ext/clock.h>
#include <daybook/ext/desk_files.h>
#include <daybook/ext/history.h>
#include <daybook/ext/http.h>
#include <daybook/ext/journal.h>
#include <daybook/ext/maintenance.h>
#include <daybook/ext/scratch.h>
#include <daybook/ext/tools.h>
#include <daybook/ext/triggers.h>
#include <daybook/host.h>
#include <daybook/plugin.h>
#include <daybook/status.h>
#include <daybook/text.h>
#include <daybook/tool.h>
#include <daybook/version.h>

#endif
