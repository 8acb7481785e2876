#include "host/runner/walls.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include <daybook/json.hpp>

namespace daybook::runner {
namespace {

constexpr unsigned kFirstForeignFd = 4;  // 0-2 are the host's pipes, 3 is the channel

struct Limit {
    __rlimit_resource_t resource;
    rlim_t most;
    const char* name;
};

constexpr rlim_t kMiB = rlim_t{1024} * 1024;
constexpr Limit kLimits[] = {
    {RLIMIT_CORE, 0, "core"},
    {RLIMIT_FSIZE, 0, "fsize"},
    {RLIMIT_NOFILE, 64, "nofile"},
    {RLIMIT_MEMLOCK, 0, "memlock"},
    {RLIMIT_MSGQUEUE, 0, "msgqueue"},
#ifndef DAYBOOK_UNDER_SANITIZER  // a sanitizer reserves terabytes of address space
    // The address space also bounds shared mappings, which the data limit does not count.
    {RLIMIT_AS, 1024 * kMiB, "as"},
    {RLIMIT_DATA, 256 * kMiB, "data"},
#endif
};

Result<> set_prctl(const char* name, int option, unsigned long value) {
    if (::prctl(option, value, 0UL, 0UL, 0UL) != 0) {
        return system_error(name, errno);
    }
    return {};
}

Result<> clear_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
    if (::syscall(SYS_capset, &header, sets) != 0) {
        return system_error("drop capabilities", errno);
    }
    header = {_LINUX_CAPABILITY_VERSION_3, 0};
    if (::syscall(SYS_capget, &header, sets) != 0) {
        return system_error("read capabilities", errno);
    }
    for (const auto& set : sets) {
        if (set.effective != 0 || set.permitted != 0 || set.inheritable != 0) {
            return Error(Errc::io, "drop capabilities: some are left");
        }
    }
    return {};
}

}  // namespace

Error system_error(const std::string& operation, int error) {
    return Error(Errc::io, operation + ": " + std::generic_category().message(error));
}

Result<> leave_host() {
    const pid_t parent = ::getppid();
    if (::syscall(SYS_close_range, kFirstForeignFd, ~0U, 0U) != 0) {
        return system_error("close inherited descriptors", errno);
    }
    if (auto set = set_prctl("die with the host", PR_SET_PDEATHSIG, SIGKILL); !set) {
        return set;
    }
    // The parent may have died before the line above; then nobody would send the signal.
    if (::getppid() != parent) {
        return Error(Errc::unavailable, "the host ended during the start");
    }
    // EPERM: the host made this process a group leader; then it leads a session already.
    if (::setsid() < 0 && errno != EPERM) {
        return system_error("start a session", errno);
    }
    return {};
}

Result<> limit_resources(const Options& options) {
    // A file at its bound is an error for whoever writes (EFBIG), not the end of the process.
    if (std::signal(SIGXFSZ, SIG_IGN) == SIG_ERR) {
        return system_error("ignore SIGXFSZ", errno);
    }
    for (const Limit& limit : kLimits) {
        rlimit now{};
        if (::getrlimit(limit.resource, &now) != 0) {
            return system_error(std::string("read limit ") + limit.name, errno);
        }
        const bool is_file = limit.resource == RLIMIT_FSIZE && options.is_scratch();
        const rlim_t most = std::min(now.rlim_max, is_file ? options.scratch_max : limit.most);
        const rlimit wanted{most, most};
        if (::setrlimit(limit.resource, &wanted) != 0) {
            return system_error(std::string("set limit ") + limit.name, errno);
        }
    }
    return {};
}

Result<> drop_privileges() {
    // The bounding set and the secure bits need CAP_SETPCAP; without it there is nothing in them to
    // drop.
    for (unsigned long capability = 0; capability <= 63; ++capability) {
        if (::prctl(PR_CAPBSET_READ, capability, 0UL, 0UL, 0UL) != 1) {
            continue;
        }
        if (::prctl(PR_CAPBSET_DROP, capability, 0UL, 0UL, 0UL) != 0 && errno != EPERM) {
            return system_error("drop capability bound", errno);
        }
    }
    constexpr unsigned long kBits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                    SECBIT_NO_CAP_AMBIENT_RAISE |
                                    SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    if (::prctl(PR_SET_SECUREBITS, kBits, 0UL, 0UL, 0UL) != 0 && errno != EPERM) {
        return system_error("set secure bits", errno);
    }
    if (::prctl(
            PR_CAP_AMBIENT, static_cast<unsigned long>(PR_CAP_AMBIENT_CLEAR_ALL), 0UL, 0UL, 0UL) !=
        0) {
        return system_error("clear ambient capabilities", errno);
    }
    if (auto cleared = clear_capabilities(); !cleared) {
        return cleared;
    }
    if (auto set = set_prctl("forbid new privileges", PR_SET_NO_NEW_PRIVS, 1); !set) {
        return set;
    }
    return set_prctl("hide from other processes", PR_SET_DUMPABLE, 0);
}

std::string walls_json(const Walls& walls, const Options& options) {
    json::ArrayWriter missing;
    for (const std::string& path : walls.missing_reads) {
        missing.add(path);
    }
    return json::ObjectWriter()
        .add("landlock", walls.landlock)
        .add("seccomp", walls.seccomp ? 1 : 0)
        .add("profile", options.profile)
        .add("isolation", name_of(options.isolation))
        .add("probes", walls.probes)
        .add_raw("missing_reads", missing.str())
        .str();
}

}  // namespace daybook::runner
