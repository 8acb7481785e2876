// The host's function tables as the plugin sees them: each function turns its arguments into a
// message to the host.
//
// Verbs are named "<group>/<revision>.<function>", e.g. "desk-files/1.read"; the fields of the
// request are the function's text arguments in the order of its C signature. The answer's body is
// what the plugin's sink gets; for clock/1.now_ns it is a decimal number.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <daybook/daybook.h>
#include <daybook/ext/draft/model.h>

#include "host/runner/call_table.hpp"
#include "host/runner/host_link.hpp"

namespace daybook::runner {

/// What the tables work on. Borrowed; outlives the plugin.
struct StubContext {
    HostLink& link;
    CallTable& calls;
    std::vector<std::string> wants;  ///< groups that the manifest names; no other is given
    std::string host_version;
    daybook_host table{};                       ///< filled by install_host_tables
    std::atomic<channel::CallId> running = 0;   ///< the call that the worker is in, for log lines
    std::atomic<std::uint64_t> misbehaved = 0;  ///< second results and calls used after their end
};

/// Makes the tables work on `context` and returns the core table, which is in it. Once in the
/// process: the C functions that take a call alone have no other way to find what it belongs to.
const daybook_host* install_host_tables(StubContext& context);

/// The stream of a model's turn in that call. Valid as long as the process.
[[nodiscard]] daybook_stream stream_of(channel::CallId call);

}  // namespace daybook::runner
