// process/1 as the plugin sees it.
#include <string>

#include <daybook/ext/process.h>
#include <daybook/json.hpp>

#include "host/runner/stub_parts.hpp"

namespace daybook::runner {
namespace {

void collect(void* to, daybook_str chunk) {
    static_cast<std::string*>(to)->append(view(chunk));
}

void hand_on(std::string_view text, void* to, daybook_sink sink) {
    if (sink != nullptr) {
        sink(to, {text.data(), text.size()});
    }
}

// NOLINTBEGIN(readability-function-size): the parameters of the C interface

daybook_status process_start(daybook_call* call,
                             daybook_str program,
                             daybook_str options,
                             std::int64_t* process,
                             void* to,
                             daybook_sink json) noexcept {
    std::string answer;
    const daybook_status status =
        relay(call, "process/1.start", {view(program), view(options)}, &answer, &collect);
    if (status == DAYBOOK_OK) {
        *process = json::ObjectReader(answer).integer("process", 0);
    }
    hand_on(answer, to, json);
    return status;
}
daybook_status process_send(daybook_call* call,
                            std::int64_t process,
                            daybook_str line,
                            void* to,
                            daybook_sink failure) noexcept {
    return relay(call, "process/1.send", {std::to_string(process), view(line)}, to, failure);
}
daybook_status process_receive(daybook_call* call,
                               std::int64_t process,
                               std::int64_t timeout_ms,
                               std::int32_t* what,
                               void* to,
                               daybook_sink line) noexcept {
    std::string answer;
    const daybook_status status = relay(call,
                                        "process/1.receive",
                                        {std::to_string(process), std::to_string(timeout_ms)},
                                        &answer,
                                        &collect);
    if (status != DAYBOOK_OK || answer.empty()) {
        hand_on(answer, to, line);
        return status;
    }
    *what = answer.front() - '0';
    hand_on(std::string_view(answer).substr(1), to, line);
    return status;
}
daybook_status process_close_input(daybook_call* call,
                                   std::int64_t process,
                                   void* to,
                                   daybook_sink failure) noexcept {
    return relay(call, "process/1.close_input", {std::to_string(process)}, to, failure);
}
daybook_status process_signal(daybook_call* call,
                              std::int64_t process,
                              daybook_str which,
                              void* to,
                              daybook_sink failure) noexcept {
    return relay(call, "process/1.signal", {std::to_string(process), view(which)}, to, failure);
}
daybook_status process_wait(daybook_call* call,
                            std::int64_t process,
                            std::int64_t timeout_ms,
                            void* to,
                            daybook_sink json) noexcept {
    return relay(
        call, "process/1.wait", {std::to_string(process), std::to_string(timeout_ms)}, to, json);
}

// NOLINTEND(readability-function-size)

}  // namespace

const daybook_process kProcess = {sizeof(daybook_process),
                                  0,
                                  &process_start,
                                  &process_send,
                                  &process_receive,
                                  &process_close_input,
                                  &process_signal,
                                  &process_wait};

}  // namespace daybook::runner
