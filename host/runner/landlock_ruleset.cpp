// Debian 12's headers know the interface up to ABI 2 only, so the constants are written here, as
// the kernel's documentation gives them (docs.kernel.org, userspace-api/landlock).
#include "host/runner/landlock_ruleset.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/runner/walls.hpp"

namespace daybook::runner {
namespace {

constexpr long kCreateRuleset = 444;  // the same numbers on every architecture
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;
constexpr std::uint32_t kAskVersion = 1;
constexpr int kRulePathBeneath = 1;
constexpr int kRuleNetPort = 2;

// The rights of a file system by the ABI that brought them: 13 with ABI 1, then refer, truncate,
// ioctl on devices.
constexpr std::uint64_t kFsAbi1 = (std::uint64_t{1} << 13U) - 1;
constexpr std::uint64_t kIoctlDevice = std::uint64_t{1} << 15U;  // ABI 5
constexpr std::uint64_t kConnectTcp = 2;
constexpr std::uint64_t kBindAndConnectTcp = 3;          // ABI 4
constexpr std::uint64_t kAbstractSocketsAndSignals = 3;  // ABI 6
constexpr int kNewestKnownAbi = 7;
/// What may be granted on a file: a right of folders there is refused with EINVAL.
constexpr std::uint64_t kOfFiles =
    rights::kExecute | rights::kWriteFile | rights::kReadFile | rights::kTruncate;

struct RulesetAttributes {
    std::uint64_t handled_fs;
    std::uint64_t handled_net;
    std::uint64_t scoped;
};

struct [[gnu::packed]] PathBeneath {
    std::uint64_t allowed;
    std::int32_t parent_fd;
};

struct NetPort {
    std::uint64_t allowed;
    std::uint64_t port;
};

RulesetAttributes attributes_of(int abi) {
    RulesetAttributes attributes{kFsAbi1, 0, 0};
    attributes.handled_fs |= abi >= 2 ? rights::kRefer : 0;
    attributes.handled_fs |= abi >= 3 ? rights::kTruncate : 0;
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

}  // namespace

Result<LandlockRuleset> LandlockRuleset::create(int cap) {
    const long offered = ::syscall(kCreateRuleset, nullptr, std::size_t{0}, kAskVersion);
    if (offered < 1) {
        return Error(Errc::unsupported, "this kernel offers no Landlock");
    }
    int abi = static_cast<int>(std::min<long>(offered, kNewestKnownAbi));
    if (cap > 0) {
        abi = std::min(abi, cap);
    }
    const RulesetAttributes attributes = attributes_of(abi);
    UniqueFd fd(static_cast<int>(::syscall(kCreateRuleset, &attributes, attribute_bytes(abi), 0U)));
    if (!fd) {
        return system_error("create a Landlock ruleset", errno);
    }
    return LandlockRuleset(abi, attributes.handled_fs, std::move(fd));
}

Result<bool> LandlockRuleset::grant(const std::string& path, std::uint64_t rights, int open_flags) {
    const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC | open_flags));
    if (!fd) {
        if (errno == ENOENT) {
            return false;
        }
        return system_error("grant " + path, errno);
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) {
        return system_error("grant " + path, errno);
    }
    const PathBeneath rule{
        rights & handled_ & (S_ISDIR(status.st_mode) ? ~std::uint64_t{0} : kOfFiles), fd.get()};
    if (::syscall(kAddRule, fd_.get(), kRulePathBeneath, &rule, 0U) != 0) {
        return system_error("grant " + path, errno);
    }
    return true;
}

Result<> LandlockRuleset::grant_connect(std::uint16_t port) {
    const NetPort rule{kConnectTcp, port};
    if (holds_ports() && ::syscall(kAddRule, fd_.get(), kRuleNetPort, &rule, 0U) != 0) {
        return system_error("grant connections to port " + std::to_string(port), errno);
    }
    return {};
}

Result<> LandlockRuleset::enter() {
    if (::syscall(kRestrictSelf, fd_.get(), 0U) != 0) {
        return system_error("enter the Landlock domain", errno);
    }
    return {};
}

}  // namespace daybook::runner
