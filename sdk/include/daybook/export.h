/* Linkage of the interface: C names, visible entry point. */
#ifndef DAYBOOK_EXPORT_H
#define DAYBOOK_EXPORT_H

#ifdef __cplusplus
#define DAYBOOK_BEGIN extern "C" {
#define DAYBOOK_END }
#else
#define DAYBOOK_BEGIN
#define DAYBOOK_END
#endif

#define DAYBOOK_EXPORT __attribute__((visibility("default")))

/* True when the other side's table is long enough to hold member `m` and has filled it. */
#define DAYBOOK_HAS(type, table, m) \
    ((table) != 0 && (table)->struct_size >= offsetof(type, m) + sizeof((table)->m) && (table)->m != 0)

#endif
