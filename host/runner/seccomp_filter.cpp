// seccomp: an allow-list, because a deny-list ages. What is not named here fails with EPERM;
// numbers newer than this list fail with ENOSYS, so that the C library falls back to calls it has
// always had. An open for writing fails with EROFS. Another architecture's calls (32-bit, x32) kill
// the process: their numbers mean other things.
#include "host/runner/seccomp_filter.hpp"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <initializer_list>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/runner/filter_program.hpp"
#include "host/runner/walls.hpp"

namespace daybook::runner {
namespace {

constexpr std::uint32_t kWritingFlags =
    O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | kTmpFileBit;

// Calls that need no look at their arguments. The most frequent ones stand first: the list is
// searched in order.
constexpr long kAllowed[] = {
    // the channel and other descriptors that exist already
    __NR_recvfrom,
    __NR_sendto,
    __NR_futex,
    __NR_read,
    __NR_write,
    __NR_recvmsg,
    __NR_sendmsg,
    __NR_readv,
    __NR_writev,
    __NR_pread64,
    __NR_preadv,
    __NR_lseek,
    __NR_close,
    __NR_close_range,
    __NR_dup,
    __NR_dup3,
    __NR_pipe2,
    __NR_ppoll,
    __NR_pselect6,
    __NR_epoll_create1,
    __NR_epoll_ctl,
    __NR_epoll_pwait,
    __NR_eventfd2,
    __NR_timerfd_create,
    __NR_timerfd_settime,
    __NR_timerfd_gettime,
    __NR_shutdown,
    __NR_getsockopt,
    __NR_setsockopt,
    __NR_getsockname,
    __NR_getpeername,
    // looking at files
    __NR_fstat,
    __NR_statx,
    __NR_statfs,
    __NR_fstatfs,
    __NR_faccessat,
    __NR_readlinkat,
    __NR_getdents64,
    __NR_getcwd,
    __NR_fadvise64,
    // memory
    __NR_mmap,
    __NR_munmap,
    __NR_mprotect,
    __NR_mremap,
    __NR_madvise,
    __NR_brk,
    __NR_msync,
    // threads, signals to itself, time
    __NR_set_robust_list,
    __NR_rseq,
    __NR_membarrier,
    __NR_sched_yield,
    __NR_sched_getaffinity,
    __NR_getcpu,
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_rt_sigpending,
    __NR_rt_sigsuspend,
    __NR_rt_sigtimedwait,
    __NR_sigaltstack,
    __NR_clock_gettime,
    __NR_clock_getres,
    __NR_clock_nanosleep,
    __NR_nanosleep,
    __NR_gettimeofday,
    __NR_times,
    __NR_getrusage,
    __NR_sysinfo,
    __NR_uname,
    __NR_getrandom,
    __NR_getuid,
    __NR_geteuid,
    __NR_getgid,
    __NR_getegid,
    __NR_getgroups,
    __NR_getresuid,
    __NR_getresgid,
    __NR_getpid,
    __NR_getppid,
    __NR_gettid,
    __NR_getpgid,
    __NR_getsid,
    __NR_exit,
    __NR_exit_group,
    __NR_set_tid_address,
    __NR_restart_syscall,
#ifdef __NR_faccessat2
    __NR_faccessat2,
#endif
#ifdef __NR_epoll_pwait2
    __NR_epoll_pwait2,
#endif
#ifdef __NR_futex_waitv
    __NR_futex_waitv,
#endif
// Only some architectures have these.
#ifdef __NR_newfstatat
    __NR_newfstatat,
#endif
#ifdef __NR_stat
    __NR_stat,
    __NR_lstat,
    __NR_access,
    __NR_readlink,
    __NR_getdents,
    __NR_pipe,
    __NR_poll,
    __NR_select,
    __NR_epoll_create,
    __NR_epoll_wait,
    __NR_eventfd,
    __NR_dup2,
    __NR_time,
    __NR_pause,
    __NR_getpgrp,
#endif
#ifdef __NR_arch_prctl
    __NR_arch_prctl,
#endif
#ifdef __NR_getrlimit
    __NR_getrlimit,
#endif
};

void check_opens(FilterProgram& program) {
    const auto read_only = [&](std::size_t flags_argument) {
        program.load_low(flags_argument);
        program.answer_if_any_bit(kWritingFlags, kReadOnly);
        program.answer(SECCOMP_RET_ALLOW);
    };
    program.when(__NR_openat, [&] { read_only(2); });
#ifdef __NR_open
    program.when(__NR_open, [&] { read_only(1); });
    program.when(__NR_creat, [&] { program.answer(kReadOnly); });
#endif
}

// Profile scratch: descriptors and names below its own folder may change. Modes, owners, times,
// attributes and links stay out of the list, and so does fallocate, which grows past RLIMIT_FSIZE.
constexpr long kScratchCalls[] = {
    __NR_pwrite64,
    __NR_pwritev,
    __NR_ftruncate,
    __NR_fsync,
    __NR_fdatasync,
    __NR_unlinkat,
#ifdef __NR_renameat
    __NR_renameat,
#endif
    __NR_renameat2,
#ifdef __NR_unlink
    __NR_unlink,
    __NR_rmdir,
    __NR_rename,
#endif
};

/// No file without a name, no special mode bits; O_TRUNC only together with the right to write,
/// which Landlock asks for before the truncation: below ABI 3 nothing else would stand against it.
void check_scratch_opens(FilterProgram& program) {
    constexpr std::uint32_t kSpecialModes = 07000;
    const auto refuse_special_modes = [&](std::size_t mode_argument) {
        program.load_low(mode_argument);
        program.answer_if_any_bit(kSpecialModes, kRefuse);
    };
    const auto open_call = [&](std::size_t flags_argument) {
        program.load_low(flags_argument);
        program.answer_if_any_bit(kTmpFileBit, kReadOnly);
        program.when_any_bit(O_TRUNC, [&] {
            program.keep_bits(O_ACCMODE);
            program.answer_if_equal(O_RDONLY, kReadOnly);
            program.answer_if_equal(O_ACCMODE, kReadOnly);
            program.load_low(flags_argument);
        });
        program.when_any_bit(O_CREAT, [&] { refuse_special_modes(flags_argument + 1); });
        program.answer(SECCOMP_RET_ALLOW);
    };
    const auto make_folder = [&](std::size_t mode_argument) {
        refuse_special_modes(mode_argument);
        program.answer(SECCOMP_RET_ALLOW);
    };
    program.when(__NR_openat, [&] { open_call(2); });
    program.when(__NR_mkdirat, [&] { make_folder(2); });
#ifdef __NR_open
    program.when(__NR_open, [&] { open_call(1); });
    program.when(__NR_creat, [&] { program.answer(kReadOnly); });
    program.when(__NR_mkdir, [&] { make_folder(1); });
#endif
}

void check_threads(FilterProgram& program, pid_t own_pid) {
    program.when(__NR_clone, [&] {  // threads, never processes
        program.load_low(0);
        program.answer_unless_any_bit(CLONE_THREAD, kRefuse);
        program.answer_if_any_bit(kNewNamespaces, kRefuse);
        program.answer(SECCOMP_RET_ALLOW);
    });
    program.when(__NR_tgkill, [&] {  // abort() and raise() need it
        program.load_low(0);
        program.answer_unless_equal(static_cast<std::uint32_t>(own_pid), kRefuse);
        program.answer(SECCOMP_RET_ALLOW);
    });
    program.when(__NR_prctl, [&] {
        program.load_low(0);
        program.answer_if_equal(PR_SET_NAME, SECCOMP_RET_ALLOW);
        program.answer_if_equal(PR_GET_NAME, SECCOMP_RET_ALLOW);
        program.answer(kRefuse);
    });
    program.when(__NR_prlimit64, [&] {  // reading its own limits
        program.load_low(0);
        program.answer_unless_equal(0, kRefuse);
        program.load_low(2);
        program.answer_unless_equal(0, kRefuse);
        program.load_high(2);
        program.answer_unless_equal(0, kRefuse);
        program.answer(SECCOMP_RET_ALLOW);
    });
}

void check_descriptors(FilterProgram& program) {
    const auto allow_any_of = [&](std::initializer_list<std::uint32_t> values) {
        for (const std::uint32_t value : values) {
            program.answer_if_equal(value, SECCOMP_RET_ALLOW);
        }
    };
    program.when(__NR_fcntl, [&] {
        program.load_low(1);
        allow_any_of({F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_GETLK, F_SETLK});
        program.answer_unless_equal(F_SETFL, kRefuse);
        program.load_low(2);
        program.answer_if_any_bit(O_ASYNC, kRefuse);
        program.answer(SECCOMP_RET_ALLOW);
    });
    program.when(__NR_ioctl, [&] {
        program.load_low(1);
        allow_any_of({TCGETS, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX});
        program.answer(kRefuse);
    });
}

}  // namespace

std::vector<sock_filter> make_filter(FilterProfile profile, pid_t own_pid) {
    FilterProgram program;
    check_architecture(program);
    for (const long number : kAllowed) {
        program.answer_if_equal(static_cast<std::uint32_t>(number), SECCOMP_RET_ALLOW);
    }
    if (profile == FilterProfile::scratch) {
        for (const long number : kScratchCalls) {
            program.answer_if_equal(static_cast<std::uint32_t>(number), SECCOMP_RET_ALLOW);
        }
        check_scratch_opens(program);
    } else {
        check_opens(program);
    }
    check_threads(program, own_pid);
    check_descriptors(program);
    program.answer(kRefuse);
    return program.take();
}

Result<> install_filter(std::vector<sock_filter> code) {
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    const long outcome =
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (outcome > 0) {
        return Error(Errc::io,
                     "install the system call filter: thread " + std::to_string(outcome) +
                         " could not take it");
    }
    if (outcome < 0 && (errno == ENOSYS || errno == EINVAL)) {
        return Error(
            Errc::unsupported,
            "this kernel offers no system call filter (seccomp): use a kernel that has it");
    }
    if (outcome < 0) {
        return system_error("install the system call filter", errno);
    }
    return {};
}

Result<> apply_seccomp(const Options& options) {
    return install_filter(make_filter(
        options.is_scratch() ? FilterProfile::scratch : FilterProfile::pure, ::getpid()));
}

}  // namespace daybook::runner
