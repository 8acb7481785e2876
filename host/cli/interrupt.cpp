#include "host/cli/interrupt.hpp"

#include <atomic>
#include <csignal>

namespace daybook::cli {
namespace {

// The one thing that a signal handler may touch; it belongs to the process like the signal itself.
std::atomic<bool> noted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void note(int number) {
    noted.store(true);
    std::signal(number, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
    for (const int number : {SIGINT, SIGTERM}) {
        struct sigaction action = {};
        action.sa_handler = note;  // without SA_RESTART: a wait ends with EINTR
        ::sigaction(number, &action, nullptr);
    }
}

bool interrupted() noexcept {
    return noted.load();
}

}  // namespace daybook::cli
