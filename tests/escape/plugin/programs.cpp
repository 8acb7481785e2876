// Running programs, and what needs a library or the kernel's own storage.
#include <array>
#include <cstdint>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tests/escape/plugin/attempt.hpp"

namespace daybook::escape {
namespace {

/// Becomes that program in a new process, which the host sees living on.
Outcome run_in_child(const char* program, const char* first, const char* second) {
    const long child = ::syscall(SYS_clone, 17UL /* SIGCHLD */, 0UL, 0UL, 0UL, 0UL);
    if (child == 0) {
        const std::array<const char*, 4> words{program, first, second, nullptr};
        ::syscall(SYS_execve, program, words.data(), nullptr);
        ::_exit(127);
    }
    return tried(child);
}

/// Becomes that program itself: the host sees another program under the runner's pid.
Outcome become(const char* program, const char* first, const char* second) {
    const std::array<const char*, 4> words{program, first, second, nullptr};
    return tried(::syscall(SYS_execve, program, words.data(), nullptr));
}

Outcome nameless_program(const Target&) {
    const long fd = ::syscall(SYS_memfd_create, "hostile", 0U);
    if (fd < 0) {
        return {errno, {}};
    }
    const std::array<const char*, 2> words{"hostile", nullptr};
    return tried(::syscall(SYS_execveat, fd, "", words.data(), nullptr, AT_EMPTY_PATH));
}

Outcome database(const Target& target) {
    sqlite3* open = nullptr;
    const std::string file = target.root + "/desk/hostile.db";
    const int opened = sqlite3_open(file.c_str(), &open);
    const int made = opened == SQLITE_OK
                         ? sqlite3_exec(open, "create table t(x)", nullptr, nullptr, nullptr)
                         : opened;
    sqlite3_close(open);
    return {made == SQLITE_OK ? 0 : EIO, {}};
}

Outcome message_queue(const Target&) {
    return tried(::syscall(SYS_mq_open, "daybook-escape", O_RDWR | O_CREAT, 0600U, nullptr));
}

Outcome own_core_limit(const Target&) {
    const rlimit limit{0, RLIM_INFINITY};
    return tried(::syscall(SYS_prlimit64, 0, RLIMIT_CORE, &limit, nullptr));
}

Outcome writable_code(const Target&) {
    void* const at = ::mmap(
        nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return {at == MAP_FAILED ? errno : 0, {}};
}

Outcome shared_memory(const Target&) {
    const long id = ::syscall(SYS_shmget, IPC_PRIVATE, 4096UL, 0600);
    if (id < 0) {
        return {errno, {}};
    }
    ::syscall(SYS_shmctl, id, IPC_RMID, nullptr);
    return {};
}

constexpr Attempt kAttempts[] = {
    {"w24_exec_sh_child",
     "run a shell in a new process",
     [](const Target&) { return run_in_child("/bin/sh", "-c", "sleep 60"); }},
    {"w25_exec_sh",
     "become a shell",
     [](const Target&) { return become("/bin/sh", "-c", "sleep 60"); }},
    {"w26_exec_git",
     "become git",
     [](const Target&) { return become("/usr/bin/git", "status", nullptr); }},
    {"w27_exec_loader",
     "become the loader with a program as its argument",
     [](const Target&) { return become("/lib64/ld-linux-x86-64.so.2", "/bin/sleep", "60"); }},
    {"w28_memfd_execveat", "run a program from an anonymous file", &nameless_program},
    {"w30_sqlite", "make an SQLite database in the desk", &database},
    {"w32_sysv_shm", "make System V shared memory", &shared_memory},
    {"w33_posix_mq", "make a POSIX message queue", &message_queue},
    {"w34_core_limit", "raise the core limit, to leave a core file in the desk", &own_core_limit},
    {"x55_vfork",
     "vfork",
     [](const Target&) {
         return tried_child(::syscall(SYS_clone, 0x4100UL | 17UL, 0UL, 0UL, 0UL, 0UL));
     }},
    {"x56_exec_module",
     "become the plugin's own file",
     [](const Target& t) {
         return become((t.root + "/modules/escape.so").c_str(), nullptr, nullptr);
     }},
    {"x57_exec_runner",
     "become a second runner, without walls",
     [](const Target& t) {
         return become((t.root + "/libexec/daybook-runner").c_str(), "--isolation", "off");
     }},
    {"x58_writable_code", "map memory that is writable and executable", &writable_code},
    {"x59_sysv_queue",
     "make a System V message queue",
     [](const Target&) { return tried(::syscall(SYS_msgget, IPC_PRIVATE, 0600)); }},
};

}  // namespace

std::span<const Attempt> program_attempts() {
    return kAttempts;
}

}  // namespace daybook::escape
