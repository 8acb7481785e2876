#include "host/runner/confine.hpp"

#include "host/runner/exit_codes.hpp"
#include "host/runner/start_report.hpp"

namespace daybook::runner {

Walls confine(HostLink& link, const Options& options) {
    need(link, "descriptors", kExitConfine, leave_host());
    need(link, "limits", kExitConfine, limit_resources(options));
    need(link, "privileges", kExitConfine, drop_privileges());
    Walls walls;
    if (options.isolation == Isolation::off) {
        return walls;
    }
    walls.landlock =
        need(link, "landlock", kExitLandlock, apply_landlock(options, walls.missing_reads));
    need(link, "seccomp", kExitSeccomp, apply_seccomp(options));
    walls.seccomp = true;
    walls.probes = need(link, "probe", kExitProbe, probe_walls(options, walls.landlock));
    return walls;
}

}  // namespace daybook::runner
