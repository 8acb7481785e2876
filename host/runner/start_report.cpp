#include "host/runner/start_report.hpp"

#include <cstdint>
#include <cstdio>
#include <string>

namespace daybook::runner {

void report_start_failure(HostLink& link, std::string_view step, const Error& error) {
    std::fprintf(
        stderr, "daybook-runner: %s: %s\n", std::string(step).c_str(), error.message().c_str());
    channel::FieldWriter fields;
    fields.add(step).add_number(static_cast<std::int64_t>(error.code())).add(error.message());
    // When the channel does not stand either, the exit code must do.
    static_cast<void>(link.send({channel::MessageType::start_failed, 0, fields.take()}));
}

}  // namespace daybook::runner
