// Modes, owners, times, attributes, locks: what Landlock does not look at.
#include <array>
#include <cstdint>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

constexpr long kFchmodat2 = 452;
constexpr long kFileSetattr = 469;

Outcome set_flags(const Target& target) {
    return with_reader(target.memory, [](int fd) {
        int flags = FS_NODUMP_FL;
        return tried(::ioctl(fd, FS_IOC_SETFLAGS, &flags));
    });
}

Outcome set_extended_flags(const Target& target) {
    return with_reader(target.memory, [](int fd) {
        fsxattr attributes{};
        attributes.fsx_xflags = FS_XFLAG_NODUMP;
        return tried(::ioctl(fd, FS_IOC_FSSETXATTR, &attributes));
    });
}

Outcome file_setattr(const Target& target) {
    const std::array<std::uint64_t, 3> attributes{FS_XFLAG_NODUMP, 0, 0};
    return tried(::syscall(
        kFileSetattr, AT_FDCWD, target.memory.c_str(), attributes.data(), sizeof attributes, 0U));
}

Outcome record_lock(const Target& target, short kind) {
    return with_reader(target.memory, [&](int fd) {
        struct flock range {};
        range.l_type = kind;
        range.l_whence = SEEK_SET;
        return tried(::fcntl(fd, F_SETLK, &range));
    });
}

constexpr Attempt kAttempts[] = {
    {"w13_chmod",
     "chmod Memory.md",
     [](const Target& t) { return tried(::chmod(t.memory.c_str(), 0600)); }},
    {"w14_chown",
     "chown Memory.md",
     [](const Target& t) { return tried(::chown(t.memory.c_str(), ::getuid(), ::getgid())); }},
    {"w15_utimensat",
     "set the times of Memory.md",
     [](const Target& t) { return tried(::utimensat(AT_FDCWD, t.memory.c_str(), nullptr, 0)); }},
    {"w16_setxattr",
     "set an extended attribute of Memory.md",
     [](const Target& t) {
         return tried(::syscall(SYS_setxattr, t.memory.c_str(), "user.x", "1", 1UL, 0));
     }},
    {"w19_reader_chattr", "chattr Memory.md through a read-only descriptor", &set_flags},
    {"w20_reader_fchmod",
     "fchmod a read-only descriptor of Memory.md",
     [](const Target& t) {
         return with_reader(t.memory, [](int fd) { return tried(::fchmod(fd, 0600)); });
     }},
    {"w38_flock",
     "hold a lock on Memory.md that the host would wait for",
     [](const Target& t) {
         return with_reader(t.memory, [](int fd) { return tried(::flock(fd, LOCK_EX | LOCK_NB)); });
     }},
    {"w39_lease",
     "take a lease on Memory.md",
     [](const Target& t) {
         return with_reader(t.memory,
                            [](int fd) { return tried(::fcntl(fd, F_SETLEASE, F_RDLCK)); });
     }},
    {"x30_file_setattr", "file_setattr(2) Memory.md (Linux 6.17)", &file_setattr},
    {"x31_fssetxattr", "FS_IOC_FSSETXATTR through a read-only descriptor", &set_extended_flags},
    {"x32_fchown_reader",
     "fchown a read-only descriptor of Memory.md",
     [](const Target& t) {
         return with_reader(t.memory,
                            [](int fd) { return tried(::fchown(fd, ::getuid(), ::getgid())); });
     }},
    {"x33_futimens_reader",
     "set the times through a read-only descriptor",
     [](const Target& t) {
         return with_reader(t.memory, [](int fd) { return tried(::futimens(fd, nullptr)); });
     }},
    {"x34_fsetxattr_reader",
     "set an extended attribute through a read-only descriptor",
     [](const Target& t) {
         return with_reader(t.memory, [](int fd) {
             return tried(::syscall(SYS_fsetxattr, fd, "user.x", "1", 1UL, 0));
         });
     }},
    {"x35_removexattr",
     "remove an extended attribute of Memory.md",
     [](const Target& t) {
         return tried(::syscall(SYS_removexattr, t.memory.c_str(), "user.kept"));
     }},
    {"x36_fchmodat2",
     "fchmodat2 Memory.md (Linux 6.6)",
     [](const Target& t) {
         return tried(::syscall(kFchmodat2, AT_FDCWD, t.memory.c_str(), 0600U, 0U));
     }},
    {"x37_write_lock",
     "take a write lock (fcntl) on Memory.md",
     [](const Target& t) { return record_lock(t, F_WRLCK); }},
    {"x38_read_lock",
     "take a read lock (fcntl) on Memory.md",
     [](const Target& t) { return record_lock(t, F_RDLCK); }},
    {"x39_chmod_folder",
     "chmod the desk's folder",
     [](const Target& t) { return tried(::chmod((t.root + "/desk").c_str(), 0700)); }},
};

}  // namespace

std::span<const Attempt> metadata_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
