// Proves the walls by trying what they forbid. A sandbox that reports success while nothing is
// enforced is worse than none: the runner believes only what it has seen fail.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/os/unique_fd.hpp"
#include "host/runner/walls.hpp"

namespace daybook::runner {
namespace {

Error stands_open(const std::string& act, int error) {
    return Error(Errc::refused,
                 act + (error == 0 ? " succeeded: the walls do not stand"
                                   : " failed for another reason than the walls (errno " +
                                         std::to_string(error) + ")"));
}

Result<> probe_write(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd || (errno != EROFS && errno != EACCES)) {
        return stands_open("opening " + path + " for writing", fd ? 0 : errno);
    }
    return {};
}

Result<> probe_socket() {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd || errno != EPERM) {
        return stands_open("making a socket", fd ? 0 : errno);
    }
    return {};
}

Result<> probe_child() {
    const long child =
        ::syscall(SYS_clone, static_cast<unsigned long>(SIGCHLD), 0UL, 0UL, 0UL, 0UL);
    if (child == 0) {
        ::_exit(0);
    }
    if (child > 0 || errno != EPERM) {
        return stands_open("starting a child", child > 0 ? 0 : errno);
    }
    return {};
}

Result<> probe_signal() {
    const bool sent = ::kill(::getppid(), 0) == 0;
    if (sent || errno != EPERM) {
        return stands_open("signalling the host", sent ? 0 : errno);
    }
    return {};
}

/// Landlock's own wall: the root folder is granted to nobody, unless the owner grants all of it.
Result<> probe_read() {
    const UniqueFd fd(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd || errno != EACCES) {
        return stands_open("reading the root folder", fd ? 0 : errno);
    }
    return {};
}

/// The folder's own wall: what lies beside it is another plugin's or another desk's.
Result<> probe_beside(const std::string& scratch_dir) {
    const std::string path = scratch_dir + ".probe";
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd || errno != EACCES) {
        const int error = fd ? 0 : errno;
        if (fd) {
            ::unlink(path.c_str());
        }
        return stands_open("making a file beside the scratch folder", error);
    }
    return {};
}

}  // namespace

Result<int> probe_walls(const Options& options, int landlock) {
    int refused = 0;
    const auto tried = [&](Result<> outcome) {
        refused += outcome ? 1 : 0;
        return outcome;
    };
    if (auto one =
            tried(probe_write(options.probe_file.empty() ? options.module : options.probe_file));
        !one) {
        return one.error();
    }
    if (auto one = tried(probe_socket()); !one) {
        return one.error();
    }
    if (auto one = tried(probe_child()); !one) {
        return one.error();
    }
    if (auto one = tried(probe_signal()); !one) {
        return one.error();
    }
    const bool all_granted =
        std::find(options.reads.begin(), options.reads.end(), "/") != options.reads.end();
    if (landlock > 0 && !all_granted) {
        if (auto one = tried(probe_read()); !one) {
            return one.error();
        }
    }
    if (options.is_scratch()) {
        if (auto one = tried(probe_beside(options.scratch_dir)); !one) {
            return one.error();
        }
    }
    return refused;
}

}  // namespace daybook::runner
