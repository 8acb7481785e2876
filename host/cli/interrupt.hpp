// Ctrl-C: noticed where a command waits, so that it can end cleanly with 130.
#pragma once

namespace daybook::cli {

/// From now on SIGINT and SIGTERM are only noted; a second one ends the process as usual.
void watch_interrupts();
[[nodiscard]] bool interrupted() noexcept;

}  // namespace daybook::cli
