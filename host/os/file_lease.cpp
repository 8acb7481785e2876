#include "host/os/file_lease.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>

namespace daybook {

FileLease FileLease::take(int fd) noexcept {
    // The kernel tells the holder when somebody waits. By default with SIGIO, which ends a process
    // that does not expect it; SIGURG is ignored by one that does not.
    if (::fcntl(fd, F_SETSIG, SIGURG) != 0) {
        return {fd, State::unknown};
    }
    if (::fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
        return {fd, State::held};
    }
    return {fd, errno == EAGAIN ? State::open_for_writing : State::unknown};
}

FileLease::FileLease(FileLease&& other) noexcept : fd_(other.fd_), state_(other.state_) {
    other.state_ = State::unknown;
}

FileLease::~FileLease() {
    if (state_ == State::held) {
        ::fcntl(fd_, F_SETLEASE, F_UNLCK);
    }
}

}  // namespace daybook
