// What the stub's files share: the context behind the C functions, and the way a verb goes to the
// host. Internal to host/runner.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>

#include <daybook/ext/http.h>
#include <daybook/ext/process.h>

#include "host/runner/host_stub.hpp"

namespace daybook::runner {

/// The context that install_host_tables() was given.
[[nodiscard]] StubContext& stub_context() noexcept;

[[nodiscard]] std::string_view view(daybook_str text, std::size_t most = SIZE_MAX);
/// The call behind a plugin's handle; null, and counted as misbehaviour, when it is over.
[[nodiscard]] std::shared_ptr<LiveCall> live(daybook_call* handle);
/// Asks the host and hands its answer to the sink.
daybook_status relay(daybook_call* handle,
                     std::string_view verb,
                     std::initializer_list<std::string_view> arguments,
                     void* to,
                     daybook_sink sink);

extern const daybook_http kHttp;        ///< http_table.cpp
extern const daybook_process kProcess;  ///< process_table.cpp

/// The table of an optional group, or null for an id that the host does not serve.
[[nodiscard]] const void* group_table(std::string_view id) noexcept;

}  // namespace daybook::runner
