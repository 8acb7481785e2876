/* Text that crosses the interface: UTF-8, a pointer and a length in bytes, no terminating NUL promised. */
#ifndef DAYBOOK_TEXT_H
#define DAYBOOK_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Valid until the function it was given to returns, unless a comment says otherwise. `ptr` may be null when `len` is 0. */
typedef struct daybook_str {
    const char *ptr;
    size_t len;
} daybook_str;

/* Receives a text in one or more pieces; `chunk` is valid until the sink returns. */
typedef void (*daybook_sink)(void *to, daybook_str chunk);

#endif
