/* "daybook.process/1" (draft): a program that the owner approved, in a walled child of the host, lines in and out.
 *
 * Approved are the programs of the plugin's configuration ([plugin.NAME.programs.PROGRAM]: path, arguments, environment,
 * what it may read and reach). The child reads the system's libraries and what was granted, writes its own folder
 * (its working directory, HOME and TMPDIR), and sees no desk's file and no key. It belongs to the host, by plugin, desk and
 * program: a call attaches to the one that runs, also after a crash or a change of the plugin; it ends when it is idle.
 *
 * Failures: INVALID, REFUSED (not approved, or the walls do not stand: the reason), NOT_FOUND (no such process in this
 * call), FULL (over a bound), UNAVAILABLE (it has ended), DEADLINE, CANCELLED. Their text goes to the sink as JSON
 * {"error","message"}. [call] and the plugin's own threads while the call runs; each function waits for what it asks. */
#ifndef DAYBOOK_EXT_PROCESS_H
#define DAYBOOK_EXT_PROCESS_H

#include <daybook/host.h>

#define DAYBOOK_EXT_PROCESS "daybook.process/1"

DAYBOOK_BEGIN

/* What `receive` found. */
#define DAYBOOK_PROCESS_NOTHING 0 /* no line in time */
#define DAYBOOK_PROCESS_LINE 1    /* a line, without its end */
#define DAYBOOK_PROCESS_CUT 2     /* the first 4 MiB of a longer line; its rest is dropped */
#define DAYBOOK_PROCESS_REST 3    /* what stood behind the last line end when the output ended */
#define DAYBOOK_PROCESS_ENDED 4   /* no more comes */

typedef struct daybook_process {
    uint32_t struct_size, reserved0;
    /* Attaches to the program that runs, or starts it, and waits until its walls stand. `options_json`:
     *   {"args":["--resume","…"],"env":{"NAME":"text"},"fresh":true,"own":true,"on_cancel":"interrupt"}, each optional. `args`
     * stand behind the owner's; the owner's environment stands over `env`. "fresh": ends the one that runs first. "own":
     * one of this call alone, ended with it. "on_cancel": what the program gets when the call is cancelled or past its
     * deadline: "keep" (nothing), "interrupt" (SIGINT) or "end". Of a program that runs already, args and env stay as they were.
     * The sink gets {"process":1,"fresh":true,"pid":4711,"generation":3}; the generation grows with each start. */
    daybook_status (*start)(daybook_call *, daybook_str program, daybook_str options_json, int64_t *process, void *to,
                            daybook_sink json);
    /* A line for its input, without the line end; at most 4 MiB. Waits while the host has enough (1 MiB) to write. */
    daybook_status (*send)(daybook_call *, int64_t process, daybook_str line, void *to, daybook_sink failure_json);
    /* The next line of its output; waits at most `timeout_ms` (below 0: as long as the call). Until lines are taken, the
     * host reads no further than 4 MiB, and the program waits. */
    daybook_status (*receive)(daybook_call *, int64_t process, int64_t timeout_ms, int32_t *what, void *to,
                              daybook_sink line);
    /* The end of its input, when what was sent is written. */
    daybook_status (*close_input)(daybook_call *, int64_t process, void *to, daybook_sink failure_json);
    /* "interrupt", "terminate" or "kill"; the last one for everything that it started too. */
    daybook_status (*signal)(daybook_call *, int64_t process, daybook_str which, void *to, daybook_sink failure_json);
    /* Waits for its end, at most `timeout_ms` (below 0: as long as the call): {"state":"ended","code":0,"signal":0,
     * "errors":["the last lines of its error output"]}, or "running" without code and signal. */
    daybook_status (*wait)(daybook_call *, int64_t process, int64_t timeout_ms, void *to, daybook_sink json);
} daybook_process;

DAYBOOK_END

#endif
