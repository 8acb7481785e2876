// Building a program for the kernel's system call filter: what the filters of a plugin's process
// and of a walled child share. Internal to host/runner.
//
// Arguments are 64 bits wide and a filter loads 32 at a time. An `int` argument is compared by its
// low half, which is all that the kernel looks at; a pointer is compared by both.
#pragma once

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <utility>
#include <vector>

namespace daybook::runner {

static_assert(std::endian::native == std::endian::little,
              "the halves of an argument are laid out for little-endian");

#if defined(__x86_64__)
inline constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
inline constexpr std::uint32_t kArchitecture = AUDIT_ARCH_RISCV64;
#else
#error "no seccomp filter for this architecture"
#endif

inline constexpr std::uint32_t kX32Bit = 0x40000000U;
// Numbers from here on are newer than this list (Linux 6.10 ends at 462); they are the same on
// every architecture.
inline constexpr std::uint32_t kFirstUnknown = 463;
inline constexpr std::uint32_t kClone3 = 435;
inline constexpr std::uint32_t kOpenat2 = 437;

inline constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
inline constexpr std::uint32_t kReadOnly = SECCOMP_RET_ERRNO | EROFS;
inline constexpr std::uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;

// O_TMPFILE holds the bit of O_DIRECTORY, which reading needs; its own bit alone is tested.
inline constexpr std::uint32_t kTmpFileBit = O_TMPFILE & ~O_DIRECTORY;
inline constexpr std::uint32_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                                CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                                CLONE_NEWNET;

class FilterProgram {
  public:
    void load(std::size_t offset) {
        statement(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
    }
    void load_low(std::size_t argument) {
        load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t));
    }
    void load_high(std::size_t argument) {
        load(offsetof(seccomp_data, args) + argument * sizeof(std::uint64_t) +
             sizeof(std::uint32_t));
    }
    void answer(std::uint32_t action) { statement(BPF_RET | BPF_K, action); }
    /// Answers when the loaded word is equal; goes on otherwise.
    void answer_if_equal(std::uint32_t value, std::uint32_t action) {
        jump(BPF_JEQ, value, 0, 1);
        answer(action);
    }
    void answer_unless_equal(std::uint32_t value, std::uint32_t action) {
        jump(BPF_JEQ, value, 1, 0);
        answer(action);
    }
    void answer_if_any_bit(std::uint32_t bits, std::uint32_t action) {
        jump(BPF_JSET, bits, 0, 1);
        answer(action);
    }
    void answer_unless_any_bit(std::uint32_t bits, std::uint32_t action) {
        jump(BPF_JSET, bits, 1, 0);
        answer(action);
    }
    /// The loaded word becomes its bits of `bits`.
    void keep_bits(std::uint32_t bits) { statement(BPF_ALU | BPF_AND, bits); }
    void answer_from(std::uint32_t first, std::uint32_t action) {
        jump(BPF_JGE, first, 0, 1);
        answer(action);
    }
    /// For the system call `number`: the instructions of `body`, which must end in an answer.
    template <class Body>
    void when(long number, const Body& body) {
        const std::size_t at = code_.size();
        jump(BPF_JEQ, static_cast<std::uint32_t>(number), 0, 0);
        body();
        code_[at].jf = static_cast<std::uint8_t>(code_.size() - at - 1);
    }
    /// Runs `body` when the loaded word has any of the bits; goes on behind it either way.
    template <class Body>
    void when_any_bit(std::uint32_t bits, const Body& body) {
        const std::size_t at = code_.size();
        jump(BPF_JSET, bits, 0, 0);
        body();
        code_[at].jf = static_cast<std::uint8_t>(code_.size() - at - 1);
    }
    [[nodiscard]] std::vector<sock_filter> take() { return std::move(code_); }

  private:
    void statement(int code, std::uint32_t value) {
        code_.push_back({static_cast<std::uint16_t>(code), 0, 0, value});
    }
    void jump(int test, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
        code_.push_back(
            {static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), if_true, if_false, value});
    }

    std::vector<sock_filter> code_;
};

/// Another architecture ends the process; what is newer than the list, clone3 and openat2 are
/// unknown. Leaves the call's number loaded.
inline void check_architecture(FilterProgram& program) {
    program.load(offsetof(seccomp_data, arch));
    program.answer_unless_equal(kArchitecture, SECCOMP_RET_KILL_PROCESS);
    program.load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    program.answer_from(kX32Bit, SECCOMP_RET_KILL_PROCESS);
#endif
    program.answer_from(kFirstUnknown, kUnknown);
    program.answer_if_equal(kClone3, kUnknown);
    program.answer_if_equal(kOpenat2, kUnknown);
}

}  // namespace daybook::runner
