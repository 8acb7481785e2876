// Landlock: what the process may read, and for profile scratch where it may write. Debian 12's
// headers know the interface up to ABI 2 only, so the constants are written here, as the kernel's
// documentation gives them (docs.kernel.org, userspace-api/landlock).
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/os/unique_fd.hpp"
#include "host/runner/walls.hpp"

namespace daybook::runner {
namespace {

constexpr long kCreateRuleset = 444;  // the same numbers on every architecture
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr std::uint32_t kAskVersion = 1;
constexpr int kRulePathBeneath = 1;

constexpr std::uint64_t kReadFile = std::uint64_t{1} << 2U;
constexpr std::uint64_t kReadDir = std::uint64_t{1} << 3U;
// Write file, remove folder and file, make folder and file: what an index needs. No link, device,
// socket or fifo, and no move between folders.
constexpr std::uint64_t kChange = std::uint64_t{1} << 1U | std::uint64_t{1} << 4U |
                                  std::uint64_t{1} << 5U | std::uint64_t{1} << 7U |
                                  std::uint64_t{1} << 8U;
// The rights of a file system by the ABI that brought them: 13 with ABI 1, then refer, truncate,
// ioctl on devices.
constexpr std::uint64_t kFsAbi1 = (std::uint64_t{1} << 13U) - 1;
constexpr std::uint64_t kRefer = std::uint64_t{1} << 13U;        // ABI 2
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14U;     // ABI 3
constexpr std::uint64_t kIoctlDevice = std::uint64_t{1} << 15U;  // ABI 5
constexpr std::uint64_t kBindAndConnectTcp = 3;                  // ABI 4
constexpr std::uint64_t kAbstractSocketsAndSignals = 3;          // ABI 6
constexpr int kNewestKnownAbi = 7;

struct RulesetAttributes {
    std::uint64_t handled_fs;
    std::uint64_t handled_net;
    std::uint64_t scoped;
};

struct [[gnu::packed]] PathBeneath {
    std::uint64_t allowed;
    std::int32_t parent_fd;
};

// Libraries, time zones, locales, random bytes: what a plugin needs to be loaded and to compute.
constexpr const char* kSystemReads[] = {"/usr/lib",
                                        "/lib",
                                        "/lib64",
                                        "/etc/ld.so.cache",
                                        "/etc/localtime",
                                        "/usr/share/zoneinfo",
                                        "/usr/lib/locale",
                                        "/dev/urandom"};

RulesetAttributes attributes_of(int abi) {
    RulesetAttributes attributes{kFsAbi1, 0, 0};
    attributes.handled_fs |= abi >= 2 ? kRefer : 0;
    attributes.handled_fs |= abi >= 3 ? kTruncate : 0;
    attributes.handled_net = abi >= 4 ? kBindAndConnectTcp : 0;
    attributes.handled_fs |= abi >= 5 ? kIoctlDevice : 0;
    attributes.scoped = abi >= 6 ? kAbstractSocketsAndSignals : 0;
    return attributes;
}

std::size_t attribute_bytes(int abi) {
    return abi >= 6   ? sizeof(RulesetAttributes)
           : abi >= 4 ? 2 * sizeof(std::uint64_t)
                      : sizeof(std::uint64_t);
}

/// Lets `path` be read. False = there is no such path.
Result<bool> grant_read(int ruleset, const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!fd) {
        if (errno == ENOENT) {
            return false;
        }
        return system_error("grant reading of " + path, errno);
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) {
        return system_error("grant reading of " + path, errno);
    }
    // A directory's right on a file is refused with EINVAL.
    const PathBeneath rule{S_ISDIR(status.st_mode) ? kReadFile | kReadDir : kReadFile, fd.get()};
    if (::syscall(kAddRule, ruleset, kRulePathBeneath, &rule, 0U) != 0) {
        return system_error("grant reading of " + path, errno);
    }
    return true;
}

/// Lets the profile's scratch folder be changed. The host has made it; a link in its place is
/// refused.
Result<> grant_scratch(int ruleset, const Options& options, std::uint64_t handled) {
    const std::string what = "grant writing below " + options.scratch_dir;
    const UniqueFd fd(
        ::open(options.scratch_dir.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) {
        return system_error(what, errno);
    }
    const PathBeneath rule{(kReadFile | kReadDir | kChange | kTruncate) & handled, fd.get()};
    if (::syscall(kAddRule, ruleset, kRulePathBeneath, &rule, 0U) != 0) {
        return system_error(what, errno);
    }
    return {};
}

Result<> grant_all(int ruleset, const Options& options, std::vector<std::string>& missing_reads) {
    for (const char* path : kSystemReads) {  // not every system has each of them
        if (auto granted = grant_read(ruleset, path); !granted) {
            return granted.error();
        }
    }
    const std::string module_dir = std::filesystem::path(options.module).parent_path().string();
    for (const std::string& path : {module_dir, options.desk_dir}) {
        auto granted = grant_read(ruleset, path);
        if (!granted) {
            return granted.error();
        }
        if (!*granted) {
            return Error(Errc::io, "grant reading of " + path + ": no such folder");
        }
    }
    for (const std::string& path : options.reads) {
        auto granted = grant_read(ruleset, path);
        if (!granted) {
            return granted.error();
        }
        if (!*granted) {
            missing_reads.push_back(path);
        }
    }
    return {};
}

}  // namespace

Result<int> apply_landlock(const Options& options, std::vector<std::string>& missing_reads) {
    const long offered = ::syscall(kCreateRuleset, nullptr, std::size_t{0}, kAskVersion);
    if (offered < 1) {
        if (options.is_scratch()) {
            return Error(Errc::unsupported,
                         "this kernel offers no Landlock, and without it profile scratch would "
                         "write anywhere: use a kernel from 5.13 with lsm=landlock");
        }
        if (options.isolation == Isolation::seccomp_only) {
            return 0;
        }
        return Error(Errc::unsupported,
                     "this kernel offers no Landlock, so reading cannot be confined: use a kernel "
                     "from 5.13 with "
                     "lsm=landlock, or set isolation = \"seccomp-only\" on your own word");
    }
    int abi = static_cast<int>(std::min<long>(offered, kNewestKnownAbi));
    if (options.landlock_cap > 0) {
        abi = std::min(abi, options.landlock_cap);
    }
    const RulesetAttributes attributes = attributes_of(abi);
    const UniqueFd ruleset(
        static_cast<int>(::syscall(kCreateRuleset, &attributes, attribute_bytes(abi), 0U)));
    if (!ruleset) {
        return system_error("create a Landlock ruleset", errno);
    }
    if (auto granted = grant_all(ruleset.get(), options, missing_reads); !granted) {
        return granted.error();
    }
    if (options.is_scratch()) {
        if (auto granted = grant_scratch(ruleset.get(), options, attributes.handled_fs); !granted) {
            return granted.error();
        }
    }
    if (::syscall(kRestrictSelf, ruleset.get(), 0U) != 0) {
        return system_error("enter the Landlock domain", errno);
    }
    return abi;
}

}  // namespace daybook::runner
