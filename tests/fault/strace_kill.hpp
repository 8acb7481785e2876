// Kills a running host at the nth system call of one name, with strace: it reaches what libraries
// call too, which no layer of ours can see.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <sys/types.h>

namespace daybook::test {

/// Traces a host from when it is made until it is destroyed (which lets the host go on).
class Strace {
  public:
    /// Kills at the nth `call` that a thread makes from now on. 0 = only counts.
    Strace(pid_t host, const std::string& call, std::uint64_t nth);
    ~Strace();
    Strace(const Strace&) = delete;
    Strace& operator=(const Strace&) = delete;
    Strace(Strace&&) = delete;
    Strace& operator=(Strace&&) = delete;

    /// Empty: it traces; else the reason why this machine does not allow it.
    [[nodiscard]] const std::string& why_not() const { return why_not_; }
    /// Lets the host go on, and returns how often each call was made: the most by one thread.
    std::map<std::string, std::uint64_t> counts();

  private:
    void let_go();

    pid_t pid_ = -1;
    std::filesystem::path output_;
    std::string why_not_;
};

/// Calls that change files, and those that open them: between any two of them a host may die.
inline constexpr const char* kFileCalls =
    "write,pwrite64,writev,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,"
    "mkdir,mkdirat,ftruncate,openat,openat2";

}  // namespace daybook::test
