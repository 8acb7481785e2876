#include "host/runner/child_walls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <daybook/json.hpp>

#include "host/os/unique_fd.hpp"
#include "host/runner/child_filter.hpp"
#include "host/runner/landlock_ruleset.hpp"
#include "host/runner/seccomp_filter.hpp"
#include "host/runner/walls.hpp"

namespace daybook::runner {
namespace {

constexpr std::uint64_t kRead = rights::kReadFile | rights::kReadDir;
constexpr rlim_t kMiB = rlim_t{1024} * 1024;

struct Limit {
    __rlimit_resource_t resource;
    rlim_t most;
    const char* name;
};

constexpr const char* kSystemReads[] = {"/usr",
                                        "/lib",
                                        "/lib64",
                                        "/bin",
                                        "/etc/ld.so.cache",
                                        "/etc/localtime",
                                        "/etc/ssl",
                                        "/etc/ca-certificates",
                                        "/etc/hosts",
                                        "/etc/nsswitch.conf",
                                        "/etc/resolv.conf",
                                        "/dev/urandom",
                                        "/dev/random",
                                        "/dev/zero"};
// What the kernel itself runs when it starts a program with shared libraries.
constexpr const char* kLoaders[] = {"/lib64/ld-linux-x86-64.so.2",
                                    "/lib/ld-linux-aarch64.so.1",
                                    "/lib/ld-linux-riscv64-lp64d.so.1"};

Result<> grant_optional(LandlockRuleset& ruleset,
                        const std::string& path,
                        std::uint64_t rights,
                        std::vector<std::string>* missing) {
    const auto granted = ruleset.grant(path, rights);
    if (!granted) {
        return granted.error();
    }
    if (!*granted && missing != nullptr) {
        missing->push_back(path);
    }
    return {};
}

Result<> grant_places(LandlockRuleset& ruleset,
                      const ChildOptions& options,
                      std::vector<std::string>& missing) {
    Result<> outcome;
    const auto also =
        [&](const std::string& path, std::uint64_t rights, std::vector<std::string>* absent) {
            if (outcome) {
                outcome = grant_optional(ruleset, path, rights, absent);
            }
        };
    for (const char* path : kSystemReads) {
        also(path, kRead, nullptr);
    }
    for (const char* path : kLoaders) {
        also(path, kRead | rights::kExecute, nullptr);
    }
    also("/dev/null", rights::kReadFile | rights::kWriteFile, nullptr);
    for (const std::string& path : options.reads) {
        also(path, kRead, &missing);
    }
    for (const std::string& path : options.runs) {
        also(path, kRead | rights::kExecute, &missing);
    }
    if (!outcome) {
        return outcome;
    }
    const auto program =
        ruleset.grant(options.command.front(), rights::kReadFile | rights::kExecute);
    if (!program || !*program) {
        return program ? Error(Errc::not_found, options.command.front() + ": no such program")
                       : program.error();
    }
    const auto state = ruleset.grant(options.state_dir,
                                     kRead | rights::kChange | rights::kTruncate | rights::kRefer,
                                     O_DIRECTORY | O_NOFOLLOW);
    if (!state || !*state) {
        return state ? Error(Errc::io, options.state_dir + ": no such folder") : state.error();
    }
    return {};
}

/// The act must fail with that error. `act` returns below 0 and sets errno, as system calls do.
template <class Act>
Result<> must_fail(const std::string& what, int wanted, const Act& act) {
    const bool succeeded = act() >= 0;
    const int error = errno;
    if (!succeeded && error == wanted) {
        return {};
    }
    return Error(Errc::refused,
                 what + (succeeded ? " succeeded: the walls do not stand"
                                   : " failed for another reason than the walls (errno " +
                                         std::to_string(error) + ")"));
}

Result<> probe_open(const std::string& what, const std::string& path, int flags) {
    return must_fail(what, EACCES, [&] {
        const UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0600));
        if (fd && (flags & O_CREAT) != 0) {
            ::unlink(path.c_str());
        }
        return fd.get();
    });
}

Result<> probe_socket(int family, int type) {
    return must_fail("making a socket", EPERM, [&] {
        const UniqueFd fd(::socket(family, type | SOCK_CLOEXEC, 0));
        return fd.get();
    });
}

/// A port that was not granted, on loopback, where nobody need listen: the wall answers first.
Result<> probe_connect(const ChildOptions& options) {
    std::uint16_t port = 1;
    while (std::find(options.ports.begin(), options.ports.end(), port) != options.ports.end()) {
        ++port;
    }
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd) {
        return system_error("make the socket that was granted", errno);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return must_fail("connecting to a port that was not granted", EACCES, [&] {
        return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    });
}

}  // namespace

Result<> limit_child(const ChildOptions& options) {
    if (std::signal(SIGXFSZ, SIG_IGN) == SIG_ERR) {  // a file at its bound is an error, not the end
        return system_error("ignore SIGXFSZ", errno);
    }
    const std::array<Limit, 7> limits{{{RLIMIT_CORE, 0, "core"},
                                       {RLIMIT_FSIZE, options.file_max, "fsize"},
                                       {RLIMIT_NOFILE, 4096, "nofile"},
                                       {RLIMIT_NPROC, 1024, "nproc"},
                                       {RLIMIT_MEMLOCK, 8 * kMiB, "memlock"},
                                       {RLIMIT_MSGQUEUE, 0, "msgqueue"},
                                       {RLIMIT_DATA, 4096 * kMiB, "data"}}};
    for (const Limit& limit : limits) {
        rlimit now{};
        if (::getrlimit(limit.resource, &now) != 0) {
            return system_error(std::string("read limit ") + limit.name, errno);
        }
        const rlim_t most = std::min(now.rlim_max, limit.most);
        const rlimit wanted{most, most};
        if (::setrlimit(limit.resource, &wanted) != 0) {
            return system_error(std::string("set limit ") + limit.name, errno);
        }
    }
    return {};
}

Result<> confine_child_files(const ChildOptions& options, ChildWalls& walls) {
    auto ruleset = LandlockRuleset::create(options.landlock_cap);
    if (!ruleset) {
        return ruleset.error().code() == Errc::unsupported
                   ? Error(Errc::unsupported,
                           "this kernel offers no Landlock, and without it nothing would hold what "
                           "the program reads and writes: use a kernel from 5.13 with "
                           "lsm=landlock")
                   : ruleset.error();
    }
    walls.has_network = !options.ports.empty();
    if (walls.has_network && !ruleset->holds_ports() && !options.unconfined_network) {
        return Error(Errc::unsupported,
                     "this kernel's Landlock (ABI " + std::to_string(ruleset->abi()) +
                         ") cannot hold connections to ports: the program could connect anywhere; "
                         "use a kernel from 6.7, or say unconfined_network = true for it on your "
                         "own word");
    }
    if (auto granted = grant_places(*ruleset, options, walls.missing); !granted) {
        return granted;
    }
    for (const std::uint16_t port : options.ports) {
        if (auto granted = ruleset->grant_connect(port); !granted) {
            return granted;
        }
    }
    walls.landlock = ruleset->abi();
    return ruleset->enter();
}

Result<> confine_child_calls(pid_t group, ChildWalls& walls) {
    constexpr int kScopesSignals = 6;
    auto installed = install_filter(make_child_filter(
        {walls.has_network, walls.landlock >= kScopesSignals, ::getpid(), group}));
    walls.seccomp = static_cast<bool>(installed);
    return installed;
}

Result<int> probe_child_walls(const ChildOptions& options, const ChildWalls& walls, pid_t host) {
    int refused = 0;
    Result<> outcome;
    const auto probe = [&](const auto& act) {
        if (outcome && (outcome = act())) {
            ++refused;
        }
    };
    const std::string& file = options.probe_file;
    probe([&] { return probe_open("opening " + file + " for writing", file, O_WRONLY); });
    probe([&] { return probe_open("reading " + file, file, O_RDONLY); });
    probe([] { return probe_open("reading the root folder", "/", O_RDONLY | O_DIRECTORY); });
    probe([&] {
        return probe_open("making a file beside its folder",
                          options.state_dir + ".probe",
                          O_WRONLY | O_CREAT | O_EXCL);
    });
    probe([] { return probe_socket(AF_UNIX, SOCK_STREAM); });
    probe([] { return probe_socket(AF_INET, SOCK_DGRAM); });
    if (!walls.has_network) {
        probe([] { return probe_socket(AF_INET, SOCK_STREAM); });
    } else if (walls.landlock >= 4) {
        probe([&] { return probe_connect(options); });
    }
    probe([&] { return must_fail("signalling the host", EPERM, [&] { return ::kill(host, 0); }); });
    probe([] { return must_fail("leaving its group", EPERM, [] { return ::setpgid(0, 0); }); });
    probe([] {
        return must_fail("making a namespace", EPERM, [] { return ::unshare(CLONE_NEWUSER); });
    });
    return outcome ? Result<int>(refused) : Result<int>(outcome.error());
}

std::string child_walls_json(const ChildWalls& walls, const ChildOptions& options) {
    json::ArrayWriter missing;
    for (const std::string& path : walls.missing) {
        missing.add(path);
    }
    const bool is_open =
        options.isolation == Isolation::off || (walls.has_network && walls.landlock < 4);
    return json::ObjectWriter()
        .add("landlock", walls.landlock)
        .add("seccomp", walls.seccomp ? 1 : 0)
        .add("profile", "child")
        .add("isolation", name_of(options.isolation))
        .add("network",
             is_open             ? "any"
             : walls.has_network ? "ports"
                                 : "none")
        .add("probes", walls.probes)
        .add_raw("missing_reads", missing.str())
        .str();
}

}  // namespace daybook::runner
