// The kernel itself: namespaces, mounts, keys, programs in the kernel, foreign call tables.
#include <cstdint>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

constexpr long kOpenTree = 428;
constexpr long kFsopen = 430;

Outcome mount_and_swap(const Target& target) {
    const std::string folder = target.root + "/desk/empty";
    return tried(::syscall(SYS_mount, "none", folder.c_str(), "tmpfs", 0UL, nullptr));
}

Outcome set_user(const Target&) {
    return tried(::syscall(SYS_setuid, 1234));
}

/// 32-bit system calls have other numbers: 5 is open there, fstat here.
Outcome call_as_32_bit(const Target&) {
#if defined(__x86_64__)
    long outcome = 20;  // getpid
    asm volatile("int $0x80" : "+a"(outcome) : : "memory", "r8", "r9", "r10", "r11");
    return {outcome > 0 ? 0 : static_cast<int>(-outcome), {}};
#else
    return {ENOSYS, {}};
#endif
}

Outcome call_as_x32(const Target&) {
#if defined(__x86_64__)
    return tried(::syscall(0x40000000L + SYS_getpid));
#else
    return {ENOSYS, {}};
#endif
}

Outcome clone3_child(const Target&) {
    struct {
        std::uint64_t flags = 0, pidfd = 0, child_tid = 0, parent_tid = 0, exit_signal = SIGCHLD,
                      stack = 0, stack_size = 0, tls = 0;
    } arguments;
    return tried_child(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

Outcome raise_capabilities(const Target&) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
    sets[0].effective = sets[0].permitted = 1U << CAP_SYS_ADMIN;
    return tried(::syscall(SYS_capset, &header, sets));
}

constexpr Attempt kAttempts[] = {
    {"p14_keyctl",
     "use the kernel's key rings",
     [](const Target&) { return tried(::syscall(SYS_keyctl, 0, -3, 1)); }},
    {"p15_bpf",
     "load a program into the kernel",
     [](const Target&) {
         std::uint64_t attributes[8] = {2, 0, 0, 0, 0, 0, 0, 0};
         return tried(::syscall(SYS_bpf, 0, attributes, sizeof attributes));
     }},
    {"p16_perf_event",
     "measure the machine",
     [](const Target&) {
         std::uint32_t attributes[32] = {1, 128};
         return tried(::syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0UL));
     }},
    {"p17_userfaultfd",
     "serve its own page faults",
     [](const Target&) { return tried(::syscall(SYS_userfaultfd, 1 /* user mode only */)); }},
    {"p18_setuid", "become another user", &set_user},
    {"w36_mount", "mount over a folder of the desk", &mount_and_swap},
    {"w37_user_namespace",
     "make a user namespace",
     [](const Target&) { return tried(::unshare(CLONE_NEWUSER)); }},
    {"x70_clone3", "start a process by clone3", &clone3_child},
    {"x71_clone_new_user",
     "clone into a new user namespace",
     [](const Target&) {
         return tried_child(::syscall(
             SYS_clone, static_cast<unsigned long>(CLONE_NEWUSER) | 17UL, 0UL, 0UL, 0UL, 0UL));
     }},
    {"x72_setns",
     "enter a namespace of the host",
     [](const Target& t) {
         const Outcome opened = tried_open("/proc/" + std::to_string(t.pid) + "/ns/user", O_RDONLY);
         return opened.error != 0 ? opened : tried(::setns(std::stoi(opened.text), 0));
     }},
    {"x73_chroot",
     "change the root folder",
     [](const Target& t) { return tried(::chroot(t.root.c_str())); }},
    {"x74_open_tree",
     "clone the mount tree",
     [](const Target& t) {
         return tried(::syscall(kOpenTree, AT_FDCWD, t.root.c_str(), 1U /* clone */));
     }},
    {"x75_fsopen",
     "open a file system",
     [](const Target&) { return tried(::syscall(kFsopen, "tmpfs", 0U)); }},
    {"x76_capset", "raise a capability", &raise_capabilities},
    {"x77_seccomp",
     "install a filter of its own",
     [](const Target&) { return tried(::prctl(PR_SET_SECCOMP, 1UL, 0UL, 0UL, 0UL)); }},
    {"x78_personality",
     "switch address randomisation off",
     [](const Target&) { return tried(::syscall(SYS_personality, 0x0040000UL)); }},
    {"x79_type_ahead",
     "push input into a terminal (TIOCSTI)",
     [](const Target&) { return tried(::ioctl(0, TIOCSTI, "x")); }},
    {"x80_fanotify",
     "watch a whole mount",
     [](const Target&) { return tried(::syscall(SYS_fanotify_init, 0U, 0U)); }},
    {"x81_unknown_call",
     "a system call newer than the filter",
     [](const Target&) { return tried(::syscall(467L, 0, 0, 0, 0, 0)); }},
    {"x82_int80", "a 32-bit system call", &call_as_32_bit},
    {"x83_x32", "an x32 system call", &call_as_x32},
};

}  // namespace

std::span<const Attempt> kernel_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
