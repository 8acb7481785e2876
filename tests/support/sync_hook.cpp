#include "tests/support/sync_hook.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

std::atomic<std::uint64_t> syncs{0};
thread_local std::uint64_t syncs_here = 0;
std::atomic<const char*> failing{""};

bool is_to_fail(int fd) {
    const std::string_view ending = failing.load();
    if (ending.empty()) {
        return false;
    }
    std::array<char, 4096> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
    return length > 0 &&
           std::string_view(path.data(), static_cast<std::size_t>(length)).ends_with(ending);
}

int sync(int fd, long call) {
    ++syncs;
    ++syncs_here;
    if (is_to_fail(fd)) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(::syscall(call, fd));
}

}  // namespace

extern "C" {

// In place of the C library's, for the shared libraries as well.
int fsync(int fd) {
    return sync(fd, SYS_fsync);
}

int fdatasync(int fd) {
    return sync(fd, SYS_fdatasync);
}

}  // extern "C"

namespace daybook::test {

std::uint64_t syncs_of_process() noexcept {
    return syncs.load();
}

std::uint64_t syncs_of_this_thread() noexcept {
    return syncs_here;
}

void fail_syncs_of(const char* ending) noexcept {
    failing = ending;
}

}  // namespace daybook::test
