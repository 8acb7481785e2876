// The commands, a function each: returns the exit code.
#pragma once

namespace daybook::cli {

struct Options;
class Output;

// commands_host.cpp
int show_status(const Options& options, Output& output);
int show_doctor(const Options& options, Output& output);
int show_version(const Options& options, Output& output);
int show_clock(const Options& options, Output& output);
int advance_clock(const Options& options, Output& output);
// host_control.cpp
int start_host(const Options& options, Output& output);
int stop_host(const Options& options, Output& output);
int check_config(const Options& options, Output& output);
int show_config_path(const Options& options, Output& output);
// commands_turn.cpp
int say(const Options& options, Output& output);
int send_trigger(const Options& options, Output& output);
int call_tool(const Options& options, Output& output);
int list_tools(const Options& options, Output& output);
// commands_desk.cpp
int list_desks(const Options& options, Output& output);
int show_desk(const Options& options, Output& output);
int interrupt_desk(const Options& options, Output& output);
int pause_desk(const Options& options, Output& output);
int resume_desk(const Options& options, Output& output);
int list_sessions(const Options& options, Output& output);
int show_session(const Options& options, Output& output);
int show_memory(const Options& options, Output& output);
int show_notes(const Options& options, Output& output);
// commands_record.cpp
int list_checkpoints(const Options& options, Output& output);
int show_checkpoint(const Options& options, Output& output);
int diff_checkpoint(const Options& options, Output& output);
int take_checkpoint(const Options& options, Output& output);
int show_journal(const Options& options, Output& output);
int tail_journal(const Options& options, Output& output);
// commands_restore.cpp
int restore_checkpoint(const Options& options, Output& output);
int undo_restore(const Options& options, Output& output);
int list_trash(const Options& options, Output& output);
int empty_trash(const Options& options, Output& output);
int edit_file(const Options& options, Output& output);
// commands_plugin.cpp
int list_plugins(const Options& options, Output& output);
int show_plugin(const Options& options, Output& output);
int retry_plugin(const Options& options, Output& output);
int list_models(const Options& options, Output& output);
// commands_check.cpp
int check_plugin(const Options& options, Output& output);
// commands_trust.cpp
int trust_plugin(const Options& options, Output& output);
// commands_plugin_control.cpp
int load_plugin(const Options& options, Output& output);
int reload_plugin(const Options& options, Output& output);
int roll_back_plugin(const Options& options, Output& output);
int unload_plugin(const Options& options, Output& output);
int disable_plugin(const Options& options, Output& output);
int enable_plugin(const Options& options, Output& output);
int explain_plugin(const Options& options, Output& output);
// commands_calendar.cpp
int calendar_today(const Options& options, Output& output);
int calendar_next(const Options& options, Output& output);
int calendar_show(const Options& options, Output& output);
int calendar_check(const Options& options, Output& output);
// commands_forget.cpp
int forget_text(const Options& options, Output& output);
// commands_vault.cpp
int verify_checkpoints(const Options& options, Output& output);
int back_up_home(const Options& options, Output& output);
int restore_home(const Options& options, Output& output);
int show_usage(const Options& options, Output& output);
// commands_verify.cpp
int verify_journal(const Options& options, Output& output);
// commands_key.cpp
int set_key(const Options& options, Output& output);
int list_keys(const Options& options, Output& output);
int remove_key(const Options& options, Output& output);
// init.cpp, demo.cpp
int make_home(const Options& options, Output& output);
int run_demo(const Options& options, Output& output);

}  // namespace daybook::cli
