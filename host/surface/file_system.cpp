#include "host/surface/file_system.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <sys/vfs.h>
#include <system_error>

namespace daybook {
namespace {

struct Known {
    std::uint32_t magic;
    std::string_view name;
    FileSystem::Fit fit;
};

/// Numbers of linux/magic.h. ext2 and ext3 have ext4's.
constexpr std::array<Known, 11> kKnown = {{
    {0xEF53, "ext4", FileSystem::Fit::yes},
    {0x58465342, "xfs", FileSystem::Fit::yes},
    {0x9123683E, "btrfs", FileSystem::Fit::yes},
    {0x01021994, "tmpfs", FileSystem::Fit::no_disk},
    {0x858458F6, "ramfs", FileSystem::Fit::no_disk},
    {0x6969, "nfs", FileSystem::Fit::unsure},
    {0xFF534D42, "cifs", FileSystem::Fit::unsure},
    {0xFE534D42, "smb2", FileSystem::Fit::unsure},
    {0x65735546, "fuse", FileSystem::Fit::unsure},
    {0x4D44, "vfat", FileSystem::Fit::unsure},
    {0x794C7630, "overlayfs", FileSystem::Fit::unsure},
}};

}  // namespace

FileSystem file_system_of(long magic) {
    constexpr std::string_view kHex = "0123456789abcdef";
    const auto number = static_cast<std::uint32_t>(magic);
    const auto found = std::find_if(
        kKnown.begin(), kKnown.end(), [&](const Known& each) { return each.magic == number; });
    if (found != kKnown.end()) {
        return {std::string(found->name), found->fit};
    }
    std::string digits;
    for (int shift = 28; shift >= 0; shift -= 4) {
        digits += kHex[(number >> static_cast<unsigned>(shift)) & 0xFU];
    }
    return {"unknown (0x" + digits + ")", FileSystem::Fit::unsure};
}

Result<FileSystem> file_system_at(int fd) {
    struct statfs status {};
    if (::fstatfs(fd, &status) != 0) {
        const int reason = errno;
        return Error(Errc::io,
                     "look at the file system: " + std::generic_category().message(reason));
    }
    return file_system_of(status.f_type);
}

}  // namespace daybook
