// A Landlock ruleset: every right that the kernel knows is handled, and what is granted is named.
// Internal to host/runner.
#pragma once

#include <cstdint>
#include <string>

#include <daybook/result.hpp>

#include "host/os/unique_fd.hpp"

namespace daybook::runner {

/// Rights below a path.
namespace rights {
inline constexpr std::uint64_t kExecute = std::uint64_t{1} << 0U;
inline constexpr std::uint64_t kWriteFile = std::uint64_t{1} << 1U;
inline constexpr std::uint64_t kReadFile = std::uint64_t{1} << 2U;
inline constexpr std::uint64_t kReadDir = std::uint64_t{1} << 3U;
/// Write file, remove folder and file, make folder and file: what an index needs. No link, device,
/// socket or fifo, and no move between folders.
inline constexpr std::uint64_t kChange = kWriteFile | std::uint64_t{1} << 4U |
                                         std::uint64_t{1} << 5U | std::uint64_t{1} << 7U |
                                         std::uint64_t{1} << 8U;
inline constexpr std::uint64_t kRefer = std::uint64_t{1} << 13U;  ///< ABI 2: moves between folders
inline constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14U;  ///< ABI 3
}  // namespace rights

class LandlockRuleset {
  public:
    /// Uses no newer ABI than `cap` (0 = the newest known). Errors: unsupported (no Landlock), io.
    static Result<LandlockRuleset> create(int cap);

    [[nodiscard]] int abi() const noexcept { return abi_; }
    /// Whether connections are confined to ports.
    [[nodiscard]] bool holds_ports() const noexcept { return abi_ >= 4; }
    /// Grants what this ABI knows of `rights`; on a file those of a file only. False = there is no
    /// such path. Errors: io.
    Result<bool> grant(const std::string& path, std::uint64_t rights, int open_flags = 0);
    /// Lets connections to the TCP port pass, at whatever address. Errors: io.
    Result<> grant_connect(std::uint16_t port);
    /// From here on it holds, for ever. Errors: io.
    Result<> enter();

  private:
    LandlockRuleset(int abi, std::uint64_t handled, UniqueFd fd)
        : abi_(abi), handled_(handled), fd_(std::move(fd)) {}

    int abi_;
    std::uint64_t handled_;
    UniqueFd fd_;
};

}  // namespace daybook::runner
