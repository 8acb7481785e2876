// The host's process: its memory, its descriptors, its signals, its limits.
#include <array>
#include <cstdint>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

Outcome write_host_memory(const Target& target) {
    const Outcome opened = tried_open("/proc/" + std::to_string(target.pid) + "/mem", O_RDWR);
    if (opened.error != 0) {
        return opened;
    }
    return tried(::pwrite(std::stoi(opened.text), "X", 1, std::stoll(target.address)));
}

Outcome write_by_process_vm(const Target& target) {
    char byte = 'X';
    iovec local{&byte, 1};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in another process
    iovec remote{reinterpret_cast<void*>(std::stoull(target.address)), 1};
    return tried(::syscall(SYS_process_vm_writev, target.pid, &local, 1UL, &remote, 1UL, 0UL));
}

Outcome host_descriptor(const Target& target) {
    const long process = ::syscall(SYS_pidfd_open, target.pid, 0U);
    return process < 0 ? Outcome{errno, {}} : tried(::syscall(SYS_pidfd_getfd, process, 0, 0U));
}

Outcome signal_by_pidfd(const Target& target) {
    const long process = ::syscall(SYS_pidfd_open, target.pid, 0U);
    return process < 0 ? Outcome{errno, {}}
                       : tried(::syscall(SYS_pidfd_send_signal, process, SIGUSR1, nullptr, 0U));
}

/// Signals by the kernel's hand: whoever owns a descriptor is told when it is readable.
Outcome signal_by_owner(const Target& target) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) {
        return {errno, {}};
    }
    if (const Outcome owned = tried(::fcntl(pipe[0], F_SETOWN, target.pid)); owned.error != 0) {
        return owned;
    }
    ::fcntl(pipe[0], F_SETFL, O_ASYNC | O_NONBLOCK);
    return tried(::write(pipe[1], "x", 1));
}

Outcome queue_signal(const Target& target) {
    siginfo_t information{};
    information.si_code = SI_QUEUE;
    return tried(::syscall(SYS_rt_sigqueueinfo, target.pid, SIGUSR1, &information));
}

Outcome host_limit(const Target& target) {
    const rlimit limit{250, 250};
    return tried(::syscall(SYS_prlimit64, target.pid, RLIMIT_NOFILE, &limit, nullptr));
}

Outcome host_affinity(const Target& target) {
    unsigned long mask = 1;
    return tried(::syscall(SYS_sched_setaffinity, target.pid, sizeof mask, &mask));
}

Outcome host_scheduler(const Target& target) {
    const sched_param none{};
    return tried(::syscall(SYS_sched_setscheduler, target.pid, SCHED_BATCH, &none));
}

Outcome host_advice(const Target& target) {
    const long process = ::syscall(SYS_pidfd_open, target.pid, 0U);
    if (process < 0) {
        return {errno, {}};
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in another process
    iovec page{reinterpret_cast<void*>(std::stoull(target.address) & ~4095ULL), 4096};
    return tried(::syscall(440L /* process_madvise */, process, &page, 1UL, 20 /* cold */, 0U));
}

constexpr Attempt kAttempts[] = {
    {"p01_host_mem", "write the host's memory through /proc", &write_host_memory},
    {"p02_ptrace",
     "attach to the host",
     [](const Target& t) { return tried(::syscall(SYS_ptrace, PTRACE_SEIZE, t.pid, 0L, 0L)); }},
    {"p03_process_vm_writev", "write the host's memory by process_vm_writev", &write_by_process_vm},
    {"p04_pidfd_getfd", "take a descriptor from the host", &host_descriptor},
    {"p05_kill", "signal the host", [](const Target& t) { return tried(::kill(t.pid, SIGUSR1)); }},
    {"p06_tgkill",
     "signal a thread of the host",
     [](const Target& t) { return tried(::syscall(SYS_tgkill, t.pid, t.pid, SIGUSR1)); }},
    {"p07_pidfd_send_signal", "signal the host by a pidfd", &signal_by_pidfd},
    {"p08_sigio", "signal the host as the owner of a descriptor", &signal_by_owner},
    {"p09_prlimit", "change the host's limits", &host_limit},
    {"p10_setpriority",
     "change the host's priority",
     [](const Target& t) {
         return tried(::setpriority(PRIO_PROCESS, static_cast<id_t>(t.pid), 19));
     }},
    {"p11_sched_affinity", "tie the host to one processor", &host_affinity},
    {"p12_clear_pdeathsig",
     "live on when the host ends",
     [](const Target&) { return tried(::prctl(PR_SET_PDEATHSIG, 0UL, 0UL, 0UL, 0UL)); }},
    {"p13_set_dumpable",
     "become readable for other processes",
     [](const Target&) { return tried(::prctl(PR_SET_DUMPABLE, 1UL, 0UL, 0UL, 0UL)); }},
    {"x60_sigqueue", "queue a signal to the host", &queue_signal},
    {"x61_tkill",
     "tkill the host",
     [](const Target& t) { return tried(::syscall(SYS_tkill, t.pid, SIGUSR1)); }},
    {"x62_kill_everything",
     "probe every process with kill(-1)",
     [](const Target&) { return tried(::kill(-1, 0)); }},
    {"x63_sched_setscheduler", "change the host's scheduling class", &host_scheduler},
    {"x64_ioprio",
     "change the host's disk priority",
     [](const Target& t) { return tried(::syscall(SYS_ioprio_set, 1, t.pid, 3 << 13)); }},
    {"x65_process_madvise", "push the host's memory out", &host_advice},
    {"x66_kcmp",
     "compare kernel objects with the host",
     [](const Target& t) {
         return tried(::syscall(SYS_kcmp, ::getpid(), t.pid, 1 /* memory */, 0UL, 0UL));
     }},
    {"x67_setsid", "leave the session", [](const Target&) { return tried(::setsid()); }},
    {"x68_setpgid",
     "join the host's process group",
     [](const Target& t) { return tried(::setpgid(0, t.pid)); }},
    {"x69_migrate_pages",
     "move the host's memory to another node",
     [](const Target& t) {
         unsigned long nodes = 1;
         return tried(::syscall(SYS_migrate_pages, t.pid, 2UL, &nodes, &nodes));
     }},
};

}  // namespace

std::span<const Attempt> process_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
