// seccomp around a walled child: a deny-list, since a program such as node starts threads and
// processes and makes calls that no short list holds. A deny-list ages, so every number above the
// newest known one is answered ENOSYS. The wall around files is Landlock's; here stands what
// Landlock does not hold: modes, owners, times, attributes, links, sockets that are no TCP, other
// processes, namespaces, and leaving the process group, by which the host ends everything.
#include "host/runner/child_filter.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <initializer_list>
#include <linux/fs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "host/runner/filter_program.hpp"

namespace daybook::runner {
namespace {

// Numbers that are the same on every architecture and not in Debian 12's headers.
constexpr long kOpenTree = 428;
constexpr long kMoveMount = 429;
constexpr long kFsopen = 430;
constexpr long kFsconfig = 431;
constexpr long kFsmount = 432;
constexpr long kFspick = 433;
constexpr long kPidfdGetfd = 438;
constexpr long kProcessMadvise = 440;
constexpr long kMountSetattr = 442;
constexpr long kQuotactlFd = 443;
constexpr long kProcessMrelease = 448;
constexpr long kFchmodat2 = 452;

constexpr long kRefused[] = {
    // mounts and namespaces
    __NR_mount,
    __NR_umount2,
    __NR_pivot_root,
    __NR_chroot,
    __NR_unshare,
    __NR_setns,
    kOpenTree,
    kMoveMount,
    kFsopen,
    kFsconfig,
    kFsmount,
    kFspick,
    kMountSetattr,
    // other processes
    __NR_ptrace,
    __NR_process_vm_readv,
    __NR_process_vm_writev,
    __NR_kcmp,
    __NR_get_robust_list,
    __NR_migrate_pages,
    __NR_move_pages,
    __NR_ioprio_set,
    kPidfdGetfd,
    kProcessMadvise,
    kProcessMrelease,
    // out of the group
    __NR_setsid,
    __NR_setpgid,
    // the kernel
    __NR_bpf,
    __NR_perf_event_open,
    __NR_keyctl,
    __NR_add_key,
    __NR_request_key,
    __NR_userfaultfd,
    __NR_kexec_load,
    __NR_kexec_file_load,
    __NR_init_module,
    __NR_finit_module,
    __NR_delete_module,
    __NR_quotactl,
    kQuotactlFd,
    __NR_swapon,
    __NR_swapoff,
    __NR_reboot,
    __NR_acct,
    __NR_settimeofday,
    __NR_clock_settime,
    __NR_clock_adjtime,
    __NR_adjtimex,
    __NR_sethostname,
    __NR_setdomainname,
    __NR_syslog,
    __NR_vhangup,
    __NR_fanotify_init,
    __NR_fanotify_mark,
    __NR_open_by_handle_at,
    __NR_name_to_handle_at,
    // memory and queues shared by name
    __NR_shmget,
    __NR_shmat,
    __NR_shmctl,
    __NR_shmdt,
    __NR_msgget,
    __NR_msgsnd,
    __NR_msgrcv,
    __NR_msgctl,
    __NR_semget,
    __NR_semop,
    __NR_semtimedop,
    __NR_semctl,
    __NR_mq_open,
    __NR_mq_unlink,
    // who it is
    __NR_setuid,
    __NR_setgid,
    __NR_setreuid,
    __NR_setregid,
    __NR_setresuid,
    __NR_setresgid,
    __NR_setfsuid,
    __NR_setfsgid,
    __NR_setgroups,
    __NR_capset,
    // what Landlock does not hold of a file
    __NR_fchmod,
    __NR_fchmodat,
    kFchmodat2,
    __NR_fchown,
    __NR_fchownat,
    __NR_utimensat,
    __NR_setxattr,
    __NR_lsetxattr,
    __NR_fsetxattr,
    __NR_removexattr,
    __NR_lremovexattr,
    __NR_fremovexattr,
    __NR_truncate,
    __NR_mknodat,
    __NR_linkat,
    __NR_symlinkat,
    // being reached
    __NR_listen,
    __NR_bind,
    __NR_accept,
    __NR_accept4,
// Only some architectures have these.
#ifdef __NR_chmod
    __NR_chmod,
    __NR_chown,
    __NR_lchown,
    __NR_utime,
    __NR_utimes,
    __NR_futimesat,
    __NR_mknod,
    __NR_link,
    __NR_symlink,
#endif
#ifdef __NR_iopl
    __NR_iopl,
    __NR_ioperm,
    __NR_modify_ldt,
#endif
};

// Programs fall back from these when the kernel does not have them.
constexpr long kMissing[] = {
    425,  // io_uring_setup
    426,  // io_uring_enter
    427,  // io_uring_register
};

/// Refused as a busy or smaller system would: programs meet these answers and go on.
void check_by_their_own_words(FilterProgram& program) {
    // A watch tells the names in any folder that file permissions open, a desk's too.
    program.when(__NR_inotify_add_watch, [&] { program.answer(SECCOMP_RET_ERRNO | ENOSPC); });
    // It grows a file past RLIMIT_FSIZE.
    program.when(__NR_fallocate, [&] { program.answer(SECCOMP_RET_ERRNO | EOPNOTSUPP); });
}

void allow_only_equal(FilterProgram& program, std::uint32_t value) {
    program.answer_unless_equal(value, kRefuse);
    program.answer(SECCOMP_RET_ALLOW);
}

void refuse_special_modes(FilterProgram& program, std::size_t mode_argument) {
    constexpr std::uint32_t kSpecialModes = 07000;
    program.load_low(mode_argument);
    program.answer_if_any_bit(kSpecialModes, kRefuse);
}

/// O_TRUNC only together with the right to write, which Landlock asks for before the truncation:
/// below ABI 3 nothing else would stand against it. No file without a name, no special mode bits.
void check_opens(FilterProgram& program) {
    const auto open_call = [&](std::size_t flags_argument) {
        program.load_low(flags_argument);
        program.answer_if_any_bit(kTmpFileBit, SECCOMP_RET_ERRNO | EOPNOTSUPP);
        program.when_any_bit(O_TRUNC, [&] {
            program.keep_bits(O_ACCMODE);
            program.answer_if_equal(O_RDONLY, kReadOnly);
            program.answer_if_equal(O_ACCMODE, kReadOnly);
            program.load_low(flags_argument);
        });
        program.when_any_bit(O_CREAT, [&] { refuse_special_modes(program, flags_argument + 1); });
        program.answer(SECCOMP_RET_ALLOW);
    };
    const auto make_call = [&](std::size_t mode_argument) {
        refuse_special_modes(program, mode_argument);
        program.answer(SECCOMP_RET_ALLOW);
    };
    program.when(__NR_openat, [&] { open_call(2); });
    program.when(__NR_mkdirat, [&] { make_call(2); });
#ifdef __NR_open
    program.when(__NR_open, [&] { open_call(1); });
    program.when(__NR_creat, [&] { make_call(1); });
    program.when(__NR_mkdir, [&] { make_call(1); });
#endif
}

void check_descriptors(FilterProgram& program) {
    const auto refuse_any_of = [&](std::size_t argument,
                                   std::initializer_list<std::uint32_t> values) {
        program.load_low(argument);
        for (const std::uint32_t value : values) {
            program.answer_if_equal(value, kRefuse);
        }
    };
    constexpr std::uint32_t kSetFileAttributes =
        0x401c5820;  // FS_IOC_FSSETXATTR, not in every header
    program.when(__NR_ioctl, [&] {
        refuse_any_of(1,
                      {TIOCSTI,
                       TIOCLINUX,
                       static_cast<std::uint32_t>(FS_IOC_SETFLAGS),
                       kSetFileAttributes,
                       FIOSETOWN,
                       SIOCSPGRP});
        program.answer(SECCOMP_RET_ALLOW);
    });
    program.when(__NR_fcntl, [&] {
        constexpr std::uint32_t kSetOwnEx = 15;
        refuse_any_of(1, {F_SETOWN, kSetOwnEx, F_SETLEASE, F_NOTIFY, F_SETSIG});
        program.answer_unless_equal(F_SETFL, SECCOMP_RET_ALLOW);
        program.load_low(2);
        program.answer_if_any_bit(O_ASYNC, kRefuse);
        program.answer(SECCOMP_RET_ALLOW);
    });
}

void check_sockets(FilterProgram& program, bool has_network) {
    constexpr std::uint32_t kTypeBits = 0xF;
    program.when(__NR_socket, [&] {
        if (has_network) {
            program.load_low(1);
            program.keep_bits(kTypeBits);
            program.answer_unless_equal(SOCK_STREAM, kRefuse);
            program.load_low(2);
            program.keep_bits(~static_cast<std::uint32_t>(IPPROTO_TCP));  // 0 or TCP
            program.answer_unless_equal(0, kRefuse);
            // Protocols 2 and 4 pass that too and are no stream: the kernel refuses them.
            program.load_low(0);
            program.answer_if_equal(AF_INET, SECCOMP_RET_ALLOW);
            program.answer_if_equal(AF_INET6, SECCOMP_RET_ALLOW);
        }
        program.answer(kRefuse);
    });
    // A datagram of a pair may be sent to any socket by its path; a stream stays in the pair.
    program.when(__NR_socketpair, [&] {
        program.load_low(1);
        program.keep_bits(kTypeBits);
        program.answer_if_equal(SOCK_STREAM, SECCOMP_RET_ALLOW);
        program.answer_if_equal(SOCK_SEQPACKET, SECCOMP_RET_ALLOW);
        program.answer(kRefuse);
    });
    // MSG_FASTOPEN connects past Landlock's ports.
    const auto no_fast_open = [&](std::size_t flags_argument) {
        program.load_low(flags_argument);
        program.answer_if_any_bit(MSG_FASTOPEN, kRefuse);
        program.answer(SECCOMP_RET_ALLOW);
    };
    program.when(__NR_sendto, [&] { no_fast_open(3); });
    program.when(__NR_sendmsg, [&] { no_fast_open(2); });
    program.when(__NR_sendmmsg, [&] { no_fast_open(3); });
    program.when(__NR_setsockopt, [&] {
        program.load_low(1);
        program.answer_unless_equal(IPPROTO_TCP, SECCOMP_RET_ALLOW);
        program.load_low(2);
        program.answer_if_equal(TCP_FASTOPEN, kRefuse);
        program.answer_if_equal(TCP_FASTOPEN_CONNECT, kRefuse);
        program.answer(SECCOMP_RET_ALLOW);
    });
}

void check_processes(FilterProgram& program, const ChildFilter& filter) {
    const auto own = static_cast<std::uint32_t>(filter.own_pid);
    program.when(__NR_clone, [&] {
        program.load_low(0);
        program.answer_if_any_bit(kNewNamespaces, kRefuse);
        program.answer(SECCOMP_RET_ALLOW);
    });
    program.when(__NR_prctl, [&] {
        program.load_low(0);
        program.answer_if_equal(PR_SET_PDEATHSIG, kRefuse);
        program.answer(SECCOMP_RET_ALLOW);
    });
    program.when(__NR_personality, [&] {  // asking is not changing
        program.load_low(0);
        allow_only_equal(program, 0xFFFFFFFFU);
    });
    program.when(__NR_setpriority, [&] {
        program.load_low(0);
        program.answer_unless_equal(0, kRefuse);  // PRIO_PROCESS
        program.load_low(1);
        allow_only_equal(program, 0);
    });
    for (const long call : {__NR_prlimit64,
                            __NR_sched_setaffinity,
                            __NR_sched_setscheduler,
                            __NR_sched_setparam,
                            __NR_sched_setattr}) {
        program.when(call, [&] {
            program.load_low(0);
            program.answer_if_equal(0, SECCOMP_RET_ALLOW);
            allow_only_equal(program, own);
        });
    }
}

/// Below ABI 6 Landlock lets signals out: then only itself and its own group, which may not be
/// stopped, since who ends it belongs to it.
void check_signals(FilterProgram& program, const ChildFilter& filter) {
    const auto own = static_cast<std::uint32_t>(filter.own_pid);
    program.when(__NR_kill, [&] {
        program.load_low(0);
        program.answer_if_equal(own, SECCOMP_RET_ALLOW);
        program.load_low(1);
        program.answer_if_equal(SIGSTOP, kRefuse);
        program.load_low(0);
        program.answer_if_equal(0, SECCOMP_RET_ALLOW);
        allow_only_equal(program, static_cast<std::uint32_t>(-filter.own_group));
    });
    program.when(__NR_tgkill, [&] {
        program.load_low(0);
        allow_only_equal(program, own);
    });
    constexpr long kPidfdSendSignal = 424;
    for (const long call : {long{__NR_tkill},
                            long{__NR_rt_sigqueueinfo},
                            long{__NR_rt_tgsigqueueinfo},
                            kPidfdSendSignal}) {
        program.when(call, [&] { program.answer(kRefuse); });
    }
}

}  // namespace

std::vector<sock_filter> make_child_filter(const ChildFilter& filter) {
    FilterProgram program;
    check_architecture(program);
    check_opens(program);
    check_by_their_own_words(program);
    check_descriptors(program);
    check_sockets(program, filter.has_network);
    check_processes(program, filter);
    if (!filter.scopes_signals) {
        check_signals(program, filter);
    }
    for (const long number : kRefused) {
        program.answer_if_equal(static_cast<std::uint32_t>(number), kRefuse);
    }
    for (const long number : kMissing) {
        program.answer_if_equal(static_cast<std::uint32_t>(number), kUnknown);
    }
    program.answer(SECCOMP_RET_ALLOW);
    return program.take();
}

}  // namespace daybook::runner
