// Starts the real runner on a kernel that seems older, or lies: some system calls answer ENOSYS, or
// "done" with nothing done, which is how walls have been believed in that did not stand.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

int main(int /*argc*/, char** argv) {
    // Landlock's calls have no names in this system's headers.
    const std::vector<std::uint32_t> calls{OLD_KERNEL_CALLS};
    std::vector<sock_filter> code{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)}};
    for (const std::uint32_t call : calls) {
        code.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call});
        code.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | OLD_KERNEL_ANSWER});
    }
    code.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
    const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        return 97;
    }
    ::execv(OLD_KERNEL_RUNNER, argv);
    return 98;
}
