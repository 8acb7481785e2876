// The optional groups as the plugin sees them: one function a verb, each a request to the host.
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include <daybook/daybook.h>

#include "host/runner/stub_parts.hpp"

namespace daybook::runner {
namespace {

// --- desk-files/1 ---
// NOLINTBEGIN(readability-function-size): the parameters of the C interface

daybook_status files_read(daybook_call* call,
                          daybook_str path,
                          void* to,
                          daybook_sink on) noexcept {
    return relay(call, "desk-files/1.read", {view(path)}, to, on);
}
daybook_status files_list(daybook_call* call,
                          daybook_str folder,
                          void* to,
                          daybook_sink on) noexcept {
    return relay(call, "desk-files/1.list", {view(folder)}, to, on);
}
daybook_status files_append(daybook_call* call,
                            daybook_str path,
                            daybook_str base,
                            daybook_str text,
                            daybook_str reason,
                            void* to,
                            daybook_sink receipt) noexcept {
    return relay(call,
                 "desk-files/1.append",
                 {view(path), view(base), view(text), view(reason)},
                 to,
                 receipt);
}
daybook_status files_replace(daybook_call* call,
                             daybook_str path,
                             daybook_str base,
                             daybook_str text,
                             daybook_str reason,
                             void* to,
                             daybook_sink receipt) noexcept {
    return relay(call,
                 "desk-files/1.replace",
                 {view(path), view(base), view(text), view(reason)},
                 to,
                 receipt);
}
daybook_status files_edit(daybook_call* call,
                          daybook_str path,
                          daybook_str base,
                          daybook_str old_text,
                          daybook_str new_text,
                          daybook_str reason,
                          void* to,
                          daybook_sink receipt) noexcept {
    return relay(call,
                 "desk-files/1.edit",
                 {view(path), view(base), view(old_text), view(new_text), view(reason)},
                 to,
                 receipt);
}
daybook_status files_read_lines(daybook_call* call,
                                daybook_str path,
                                std::int64_t first_line,
                                std::int64_t max_lines,
                                std::int64_t max_bytes,
                                void* to,
                                daybook_sink on) noexcept {
    return relay(call,
                 "desk-files/1.read_lines",
                 {view(path),
                  std::to_string(first_line),
                  std::to_string(max_lines),
                  std::to_string(max_bytes)},
                 to,
                 on);
}
constexpr daybook_desk_files kDeskFiles = {sizeof(daybook_desk_files),
                                           0,
                                           &files_read,
                                           &files_list,
                                           &files_append,
                                           &files_replace,
                                           &files_edit,
                                           &files_read_lines};

// --- clock/1 ---

daybook_status clock_now_ns(daybook_call* call, std::int64_t* out) noexcept {
    std::string text;
    const auto collect = [](void* to, daybook_str chunk) {
        static_cast<std::string*>(to)->append(view(chunk));
    };
    const daybook_status status = relay(call, "clock/1.now_ns", {}, &text, collect);
    if (status != DAYBOOK_OK) {
        return status;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
    return error == std::errc() && end == text.data() + text.size() ? DAYBOOK_OK : DAYBOOK_INTERNAL;
}
daybook_status clock_describe(daybook_call* call, void* to, daybook_sink json) noexcept {
    return relay(call, "clock/1.describe", {}, to, json);
}
daybook_status clock_sessions(daybook_call* call,
                              daybook_str day,
                              void* to,
                              daybook_sink json) noexcept {
    return relay(call, "clock/1.sessions", {view(day)}, to, json);
}
constexpr daybook_clock kClock = {
    sizeof(daybook_clock), 0, &clock_now_ns, &clock_describe, &clock_sessions};

// --- tools/1, journal/1 ---

daybook_status tools_call(daybook_call* call,
                          daybook_str tool,
                          daybook_str args,
                          void* to,
                          daybook_sink result) noexcept {
    return relay(call, "tools/1.call", {view(tool), view(args)}, to, result);
}
constexpr daybook_tools kTools = {sizeof(daybook_tools), 0, &tools_call};

daybook_status journal_append(daybook_call* call,
                              daybook_str type,
                              daybook_str key,
                              daybook_str order,
                              daybook_str data,
                              void* to,
                              daybook_sink receipt) noexcept {
    return relay(
        call, "journal/1.append", {view(type), view(key), view(order), view(data)}, to, receipt);
}
constexpr daybook_journal kJournal = {sizeof(daybook_journal), 0, &journal_append};

// --- history/1, scratch/1, triggers/1 ---

daybook_status history_read(daybook_call* call,
                            daybook_str cursor,
                            std::int64_t max_records,
                            std::int64_t max_bytes,
                            void* to,
                            daybook_sink json) noexcept {
    return relay(call,
                 "history/1.read",
                 {view(cursor), std::to_string(max_records), std::to_string(max_bytes)},
                 to,
                 json);
}
constexpr daybook_history kHistory = {sizeof(daybook_history), 0, &history_read};

daybook_status scratch_folder(daybook_call* call, void* to, daybook_sink json) noexcept {
    return relay(call, "scratch/1.folder", {}, to, json);
}
constexpr daybook_scratch kScratch = {sizeof(daybook_scratch), 0, &scratch_folder};

daybook_status triggers_hand_over(daybook_call* call,
                                  daybook_str kind,
                                  daybook_str key,
                                  daybook_str name,
                                  daybook_str text,
                                  void* to,
                                  daybook_sink receipt) noexcept {
    return relay(
        call, "triggers/1.hand_over", {view(kind), view(key), view(name), view(text)}, to, receipt);
}
constexpr daybook_triggers kTriggers = {sizeof(daybook_triggers), 0, &triggers_hand_over};

// NOLINTEND(readability-function-size)

constexpr std::array<std::pair<std::string_view, const void*>, 9> kTables{{
    {DAYBOOK_EXT_DESK_FILES, &kDeskFiles},
    {DAYBOOK_EXT_CLOCK, &kClock},
    {DAYBOOK_EXT_TOOLS, &kTools},
    {DAYBOOK_EXT_JOURNAL, &kJournal},
    {DAYBOOK_EXT_HISTORY, &kHistory},
    {DAYBOOK_EXT_SCRATCH, &kScratch},
    {DAYBOOK_EXT_TRIGGERS, &kTriggers},
    {DAYBOOK_EXT_HTTP, &kHttp},
    {DAYBOOK_EXT_PROCESS, &kProcess},
}};

}  // namespace

const void* group_table(std::string_view id) noexcept {
    for (const auto& [name, table] : kTables) {
        if (name == id) {
            return table;
        }
    }
    return nullptr;
}

}  // namespace daybook::runner
