/* Everything stable: what a plugin in C includes. */
#ifndef DAYBOOK_H
#define DAYBOOK_H

#include <daybook/entry.h>
#include <daybook/export.h>
#include <daybook/ext/clock.h>
#include <daybook/ext/desk_files.h>
#include <daybook/host.h>
#include <daybook/plugin.h>
#include <daybook/status.h>
#include <daybook/text.h>
#include <daybook/tool.h>
#include <daybook/version.h>

#endif
