#include "bench/flush_count.hpp"

#include <atomic>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<std::uint64_t> flushes{0};

}  // namespace

extern "C" {

// In place of the C library's, for the shared libraries as well.
int fsync(int fd) {
    ++flushes;
    return static_cast<int>(::syscall(SYS_fsync, fd));
}

int fdatasync(int fd) {
    ++flushes;
    return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

}  // extern "C"

namespace daybook::bench {

std::uint64_t process_flushes() noexcept {
    return flushes.load();
}

}  // namespace daybook::bench
