// The runner's order of walls with one of them left out and no probe: the escape suite links it to
// show that it notices the gap. DAYBOOK_ESCAPE_GAP names the wall: descriptors, limits, landlock,
// seccomp, or all of these.
#include <cstdlib>
#include <string_view>

#include "host/runner/confine.hpp"
#include "host/runner/exit_codes.hpp"
#include "host/runner/start_report.hpp"

namespace daybook::runner {

Walls confine(HostLink& link, const Options& options) {
    const char* const named = std::getenv("DAYBOOK_ESCAPE_GAP");
    const auto stands = [&](std::string_view wall) {
        return named == nullptr || (named != wall && named != std::string_view("all"));
    };
    if (stands("descriptors")) {
        need(link, "descriptors", kExitConfine, leave_host());
    }
    if (stands("limits")) {
        need(link, "limits", kExitConfine, limit_resources(options));
    }
    need(link, "privileges", kExitConfine, drop_privileges());
    Walls walls;
    if (stands("landlock")) {
        walls.landlock =
            need(link, "landlock", kExitLandlock, apply_landlock(options, walls.missing_reads));
    }
    if (stands("seccomp")) {
        need(link, "seccomp", kExitSeccomp, apply_seccomp(options));
    }
    return walls;
}

}  // namespace daybook::runner
