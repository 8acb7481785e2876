#include "host/cli/commands.hpp"

#include "host/cli/options.hpp"

namespace daybook::cli {
namespace {

constexpr std::size_t kMany = 1000;

constexpr Command kCommands[] = {
    {"demo",
     "",
     0,
     0,
     "a home of its own, the clerk, four real days on a replayed clock",
     run_demo},
    {"init", "[DIR]", 0, 1, "make a home: configuration, state folder, token", make_home},
    {"status", "", 0, 0, "host, desks, plugins, next rollovers", show_status},
    {"doctor", "", 0, 0, "look at all that a host stands on; 1 when something is bad", show_doctor},
    {"say", "DESK TEXT...", 1, kMany, "say something to a desk and see its turn", say},
    {"trigger",
     "DESK KIND [TEXT...]",
     1,
     kMany,
     "hand over a message, job, alert or fill",
     send_trigger},
    {"desk list", "", 0, 0, "the desks", list_desks},
    {"desk show", "[DESK]", 0, 1, "one desk", show_desk},
    {"desk interrupt", "[DESK]", 0, 1, "cancel the turn that runs", interrupt_desk},
    {"desk pause", "[DESK]", 0, 1, "let triggers wait; the running turn ends", pause_desk},
    {"desk resume", "[DESK]", 0, 1, "go on with what waits", resume_desk},
    {"session list", "[DESK]", 0, 1, "a desk's sessions", list_sessions},
    {"session show",
     "[DESK] [SESSION]",
     0,
     2,
     "a conversation; the newest unless named",
     show_session},
    {"memory show",
     "[DESK] [FILE]",
     0,
     2,
     "Memory.md, or another file of the desk's own",
     show_memory},
    {"memory notes", "[DESK]", 0, 1, "the day's notes", show_notes},
    {"checkpoint list", "[DESK]", 0, 1, "newest first", list_checkpoints},
    {"checkpoint show", "[DESK] CHECKPOINT", 1, 2, "one checkpoint and its files", show_checkpoint},
    {"checkpoint diff", "[DESK] CHECKPOINT", 1, 2, "what its write changed", diff_checkpoint},
    {"checkpoint restore", "[DESK] CHECKPOINT FILE", 2, 3, "put one file back", restore_checkpoint},
    {"checkpoint take", "[DESK]", 0, 1, "take one now", take_checkpoint},
    {"checkpoint verify",
     "[DESK]",
     0,
     1,
     "look at every object, pack and file; also without a host",
     verify_checkpoints},
    {"journal show", "[DESK]", 0, 1, "a day of the record; DESK may be _host", show_journal},
    {"journal tail", "[DESK]", 0, 1, "the newest lines; -f goes on", tail_journal},
    {"tool list", "[DESK]", 0, 1, "the desk's tools and what each writes", list_tools},
    {"tool call", "[DESK] TOOL [JSON]", 1, 3, "call a tool yourself", call_tool},
    {"plugin list", "", 0, 0, "plugins, their walls and their state", list_plugins},
    {"plugin show", "PLUGIN", 1, 1, "one plugin, its manifest and its runners", show_plugin},
    {"plugin retry", "PLUGIN", 1, 1, "start a plugin again that was given up", retry_plugin},
    {"model list", "", 0, 0, "models of the configuration", list_models},
    {"calendar today", "[DESK]", 0, 1, "is today a trading day, and when", calendar_today},
    {"calendar next", "[DESK]", 0, 1, "the next trading day", calendar_next},
    {"calendar show", "[DESK]", 0, 1, "holidays and special days from --day on", calendar_show},
    {"calendar check",
     "[CALENDAR or FILE.json]",
     0,
     1,
     "read calendars and say what is wrong",
     calendar_check},
    {"clock show", "", 0, 0, "the host's clock and each desk's day", show_clock},
    {"clock advance",
     "TIME",
     1,
     1,
     "move a replayed clock on, such as 2019-01-02T16:00:00+05:30",
     advance_clock},
    {"du", "[DESK]", 0, 1, "how much room each part takes", show_usage},
    {"config check", "[FILE]", 0, 1, "read the configuration and say what is wrong", check_config},
    {"config path", "", 0, 0, "where configuration, state, socket and log are", show_config_path},
    {"host start", "", 0, 0, "start daybookd in the background", start_host},
    {"host stop", "", 0, 0, "let running turns end, then stop daybookd", stop_host},
    {"version", "", 0, 0, "version of this program and of the host", show_version},
};

}  // namespace

std::span<const Command> commands() {
    return kCommands;
}

}  // namespace daybook::cli
