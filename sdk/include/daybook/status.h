/* The one error table: what an interface function returns, what the host calls it, how a model backend classes it, and
 * the exit code of the command line. docs/formats.md prints it; a test compares the two.
 *
 * The set is open: a receiver treats a number it does not know as DAYBOOK_INTERNAL. Numbers are never reused. */
#ifndef DAYBOOK_STATUS_H
#define DAYBOOK_STATUS_H

#include <stdint.h>

typedef int32_t daybook_status;

/* X(NAME, number, retryable, exit code, meaning).
 * Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by a rule, 4 not found, 5 not reachable, 6 conflict or busy. */
#define DAYBOOK_STATUS_TABLE(X)                                                                              \
    X(OK, 0, 0, 0, "done")                                                                                   \
    X(INVALID, 1, 0, 2, "the input is malformed or breaks its schema")                                       \
    X(NOT_FOUND, 2, 0, 4, "the named thing does not exist")                                                  \
    X(REFUSED, 3, 0, 3, "a rule forbids it: leash, content rule, gate or limit")                             \
    X(DEADLINE, 4, 1, 1, "the deadline passed first")                                                        \
    X(CANCELLED, 5, 0, 1, "the caller cancelled it")                                                         \
    X(UNAVAILABLE, 6, 1, 5, "the other side is not there or not ready")                                      \
    X(RATE_LIMITED, 7, 1, 1, "the other side asks to wait")                                                  \
    X(CONTEXT_FULL, 8, 0, 1, "the conversation does not fit the model's window")                             \
    X(AUTH, 9, 0, 3, "the credential is missing or was refused")                                             \
    X(UNSUPPORTED, 10, 0, 2, "this version does not offer it")                                               \
    X(CONFLICT, 11, 0, 6, "the file changed since it was last shown")                                        \
    X(BUSY, 12, 1, 6, "it is in use; nothing was done")                                                      \
    X(NO_CHECKPOINT, 13, 1, 1, "no durable checkpoint could be taken, so nothing was written")               \
    X(IO, 14, 1, 1, "the operating system refused: disk, permission or file")                                \
    X(CORRUPT, 15, 0, 1, "a file of record is damaged")                                                      \
    X(FULL, 16, 1, 1, "a bound was reached: disk space, queue or size")                                      \
    X(PLUGIN_CRASHED, 17, 1, 1, "the plugin's process ended during the call")                                \
    X(PLUGIN_PROTOCOL, 18, 0, 1, "the plugin broke the protocol and was stopped")                            \
    X(MODEL_FAULT, 19, 1, 1, "the model's answer was unusable")                                              \
    X(TRUNCATED, 20, 0, 1, "the model's answer was cut by its token limit")                                  \
    X(LOST_CONNECTION, 21, 1, 1, "the connection ended in the middle of an answer")                          \
    X(NO_ANSWER, 22, 1, 1, "the model ended without an answer")                                              \
    X(INTERNAL, 100, 0, 1, "a fault of the program itself")

#define DAYBOOK_STATUS_ENUMERATOR(name, number, retryable, exit_code, meaning) DAYBOOK_##name = (number),
enum { DAYBOOK_STATUS_TABLE(DAYBOOK_STATUS_ENUMERATOR) DAYBOOK_STATUS_END_ = 0x7fffffff };
#undef DAYBOOK_STATUS_ENUMERATOR

#endif
