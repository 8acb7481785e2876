#include "host/os/os.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <memory>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

/// Calls again while a signal interrupts it.
template <class Call>
auto retried(Call call) {
    auto outcome = call();
    while (outcome == -1 && errno == EINTR) {
        outcome = call();
    }
    return outcome;
}

Errc code_of_errno(int error) {
    switch (error) {
        case ENOENT:
            return Errc::not_found;
        case EXDEV:
        case ELOOP:
            return Errc::refused;
        case EEXIST:
            return Errc::conflict;
        case ENOSPC:
        case EDQUOT:
            return Errc::full;
        default:
            return Errc::io;
    }
}

std::string reason_of(int error) {
    switch (error) {
        case EXDEV:
            return "leaves the desk's folder";
        case ELOOP:
            return "a symbolic link is in the way";
        default:
            return std::generic_category().message(error);
    }
}

Error failed(std::string_view operation, std::string_view path, int error) {
    return Error(code_of_errno(error),
                 std::string(operation) + " " + printable(path, 255) + ": " + reason_of(error));
}

/// For calls on a descriptor, whose path only the caller knows.
Error failed(std::string_view operation, int error) {
    return Error(code_of_errno(error),
                 std::string(operation) + ": " + std::generic_category().message(error));
}

/// openat2 beneath `dir`. The kernel answers EAGAIN when a rename races with the walk: then again,
/// a bounded number of times.
int open_beneath_raw(int dir, const std::string& path, int flags, unsigned permissions) {
    struct open_how how = {};
    how.flags =
        static_cast<std::uint64_t>(static_cast<unsigned>(flags) | static_cast<unsigned>(O_CLOEXEC));
    how.mode = (flags & O_CREAT) != 0 ? permissions : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    for (int attempt = 0; attempt < 32; ++attempt) {
        const long fd = ::syscall(SYS_openat2, dir, path.c_str(), &how, sizeof how);
        if (fd >= 0) {
            return static_cast<int>(fd);
        }
        if (errno != EINTR && errno != EAGAIN) {
            return -1;
        }
    }
    return -1;
}

/// A path's folder, opened, and its last component: what the *at calls need so that they cannot
/// leave `dir`.
struct Place {
    UniqueFd owned;
    int folder = -1;
    std::string name;
};

Result<Place> place_of(int dir, std::string_view path, std::string_view operation) {
    const std::size_t slash = path.rfind('/');
    Place place;
    place.name = std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
    if (place.name.empty() || place.name == "." || place.name == "..") {
        return Error(Errc::refused,
                     std::string(operation) + " " + printable(path, 255) + ": not a file's name");
    }
    if (slash == std::string_view::npos) {
        place.folder = dir;
        return place;
    }
    place.owned.reset(
        open_beneath_raw(dir, std::string(path.substr(0, slash)), O_RDONLY | O_DIRECTORY, 0));
    if (!place.owned) {
        return failed(operation, path, errno);
    }
    place.folder = place.owned.get();
    return place;
}

Result<> rename_with(int dir,
                     std::string_view from,
                     std::string_view to,
                     unsigned flags,
                     std::string_view operation) {
    auto source = place_of(dir, from, operation);
    if (!source) {
        return source.error();
    }
    auto target = place_of(dir, to, operation);
    if (!target) {
        return target.error();
    }
    const long outcome = retried([&] {
        return ::syscall(SYS_renameat2,
                         source->folder,
                         source->name.c_str(),
                         target->folder,
                         target->name.c_str(),
                         flags);
    });
    if (outcome == 0) {
        return {};
    }
    const int error = errno;
    if (flags != 0 && (error == EINVAL || error == ENOSYS)) {
        return Error(Errc::unsupported,
                     std::string(operation) + " " + printable(to, 255) +
                         ": the file system does not offer it");
    }
    return failed(operation, to, error);
}

DirectoryEntry entry_of(int folder, const struct dirent& found) {
    DirectoryEntry entry;
    entry.name = found.d_name;
    entry.is_directory = found.d_type == DT_DIR;
    entry.is_regular = found.d_type == DT_REG;
    entry.is_symlink = found.d_type == DT_LNK;
    struct stat status = {};
    if (found.d_type == DT_UNKNOWN &&
        ::fstatat(folder, found.d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        entry.is_directory = S_ISDIR(status.st_mode);
        entry.is_regular = S_ISREG(status.st_mode);
        entry.is_symlink = S_ISLNK(status.st_mode);
    }
    return entry;
}

struct CloseDirectory {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

}  // namespace

Result<UniqueFd> LinuxOs::open_root(const std::filesystem::path& path) {
    UniqueFd fd(retried([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!fd) {
        const int error = errno;
        return Error(error == ENOENT ? Errc::not_found : Errc::io,
                     "open folder " + printable(path.string(), 255) + ": " +
                         std::generic_category().message(error));
    }
    return fd;
}

Result<UniqueFd> LinuxOs::open_beneath(int dir,
                                       std::string_view path,
                                       OpenMode mode,
                                       unsigned permissions) {
    int flags = O_NONBLOCK | O_NOCTTY;  // a FIFO or a terminal in a file's place cannot hang us
    switch (mode) {
        case OpenMode::read:
            flags |= O_RDONLY;
            break;
        case OpenMode::append:
            flags |= O_WRONLY | O_APPEND | O_CREAT;
            break;
        case OpenMode::create_new:
            flags |= O_WRONLY | O_CREAT | O_EXCL;
            break;
        case OpenMode::directory:
            flags = O_RDONLY | O_DIRECTORY;
            break;
        case OpenMode::lock:
            flags |= O_RDWR | O_CREAT;
            break;
    }
    UniqueFd fd(open_beneath_raw(dir, path.empty() ? "." : std::string(path), flags, permissions));
    if (!fd) {
        return failed("open", path, errno);
    }
    return fd;
}

Result<struct stat> LinuxOs::stat_of(int fd) {
    struct stat status = {};
    if (retried([&] { return ::fstat(fd, &status); }) != 0) {
        return failed("stat", errno);
    }
    return status;
}

Result<struct stat> LinuxOs::stat_beneath(int dir, std::string_view path) {
    const UniqueFd fd(
        open_beneath_raw(dir, path.empty() ? "." : std::string(path), O_PATH | O_NOFOLLOW, 0));
    struct stat status = {};
    if (!fd || ::fstat(fd.get(), &status) != 0) {
        return failed("stat", path, errno);
    }
    return status;
}

Result<std::string> LinuxOs::read_all(int fd, std::size_t max_bytes) {
    auto status = stat_of(fd);
    if (!status) {
        return status.error().during("read");
    }
    const auto too_long = [&] {
        return Error(Errc::full, "read: more than " + std::to_string(max_bytes) + " bytes");
    };
    if (S_ISREG(status->st_mode) && static_cast<std::uint64_t>(status->st_size) > max_bytes) {
        return too_long();
    }
    // One byte more than the size, so that the end is seen without growing.
    const std::size_t first =
        S_ISREG(status->st_mode) ? static_cast<std::size_t>(status->st_size) + 1 : 4096;
    std::string bytes(first, '\0');
    std::size_t filled = 0;
    while (true) {
        if (filled == bytes.size()) {
            bytes.resize(bytes.size() * 2);
        }
        const ssize_t got = retried([&] {
            return ::pread(
                fd, bytes.data() + filled, bytes.size() - filled, static_cast<off_t>(filled));
        });
        if (got < 0) {
            return failed("read", errno);
        }
        if (got == 0) {
            bytes.resize(filled);
            return bytes;
        }
        filled += static_cast<std::size_t>(got);
        if (filled > max_bytes) {
            return too_long();
        }
    }
}

Result<std::string> LinuxOs::read_at(int fd, std::uint64_t offset, std::size_t max_bytes) {
    std::string bytes(max_bytes, '\0');
    std::size_t filled = 0;
    while (filled < max_bytes) {
        const ssize_t got = retried([&] {
            return ::pread(
                fd, bytes.data() + filled, max_bytes - filled, static_cast<off_t>(offset + filled));
        });
        if (got < 0) {
            return failed("read", errno);
        }
        if (got == 0) {
            break;
        }
        filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
}

Result<> LinuxOs::write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = retried([&] { return ::write(fd, bytes.data(), bytes.size()); });
        if (written < 0) {
            return failed("write", errno);
        }
        if (written == 0) {
            return Error(Errc::io, "write: the system took no bytes");
        }
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Result<> LinuxOs::data_sync(int fd) {
    // EINTR is not an outcome of the disk; every other error is final.
    if (retried([&] { return ::fdatasync(fd); }) != 0) {
        return failed("sync data", errno);
    }
    return {};
}

Result<> LinuxOs::full_sync(int fd) {
    if (retried([&] { return ::fsync(fd); }) != 0) {
        return failed("sync", errno);
    }
    return {};
}

Result<> LinuxOs::truncate(int fd, std::uint64_t bytes) {
    if (retried([&] { return ::ftruncate(fd, static_cast<off_t>(bytes)); }) != 0) {
        return failed("cut", errno);
    }
    return {};
}

Result<> LinuxOs::set_mode(int fd, unsigned permissions) {
    if (retried([&] { return ::fchmod(fd, permissions); }) != 0) {
        return failed("set mode", errno);
    }
    return {};
}

Result<> LinuxOs::exchange(int dir, std::string_view a, std::string_view b) {
    return rename_with(dir, a, b, RENAME_EXCHANGE, "exchange");
}

Result<> LinuxOs::rename_new(int dir, std::string_view from, std::string_view to) {
    return rename_with(dir, from, to, RENAME_NOREPLACE, "rename to");
}

Result<> LinuxOs::rename_over(int dir, std::string_view from, std::string_view to) {
    return rename_with(dir, from, to, 0, "rename to");
}

Result<> LinuxOs::remove(int dir, std::string_view path) {
    auto place = place_of(dir, path, "remove");
    if (!place) {
        return place.error();
    }
    if (retried([&] { return ::unlinkat(place->folder, place->name.c_str(), 0); }) != 0) {
        return failed("remove", path, errno);
    }
    return {};
}

Result<> LinuxOs::make_directory(int dir, std::string_view path, unsigned permissions) {
    auto place = place_of(dir, path, "make folder");
    if (!place) {
        return place.error();
    }
    if (retried([&] { return ::mkdirat(place->folder, place->name.c_str(), permissions); }) != 0) {
        const int error = errno;
        struct stat status = {};
        if (error == EEXIST &&
            ::fstatat(place->folder, place->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
            if (S_ISDIR(status.st_mode)) {
                return {};
            }
            return Error(Errc::refused,
                         "make folder " + printable(path, 255) + ": something else is there");
        }
        return failed("make folder", path, error);
    }
    if (retried([&] { return ::fsync(place->folder); }) != 0) {
        return failed("make folder", path, errno);
    }
    return {};
}

Result<std::vector<DirectoryEntry>> LinuxOs::list(int dir, std::string_view path) {
    UniqueFd fd(
        open_beneath_raw(dir, path.empty() ? "." : std::string(path), O_RDONLY | O_DIRECTORY, 0));
    if (!fd) {
        return failed("list", path, errno);
    }
    const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(fd.get()));
    if (!directory) {
        return failed("list", path, errno);
    }
    const int folder = fd.release();  // closedir closes it
    std::vector<DirectoryEntry> entries;
    while (true) {
        errno = 0;
        const struct dirent* found = ::readdir(directory.get());
        if (found == nullptr) {
            break;
        }
        const std::string_view name = found->d_name;
        if (name != "." && name != "..") {
            entries.push_back(entry_of(folder, *found));
        }
    }
    if (errno != 0) {
        return failed("list", path, errno);
    }
    std::sort(entries.begin(), entries.end(), [](const DirectoryEntry& a, const DirectoryEntry& b) {
        return a.name < b.name;
    });
    return entries;
}

Result<> LinuxOs::lock(int fd) {
    if (retried([&] { return ::flock(fd, LOCK_EX | LOCK_NB); }) != 0) {
        if (errno == EWOULDBLOCK) {
            return Error(Errc::busy, "lock: another process holds it");
        }
        return failed("lock", errno);
    }
    return {};
}

Result<std::uint64_t> LinuxOs::free_bytes(int dir) {
    struct statvfs status = {};
    if (retried([&] { return ::fstatvfs(dir, &status); }) != 0) {
        return failed("read free space", errno);
    }
    return std::uint64_t{status.f_bavail} * std::uint64_t{status.f_frsize};
}

}  // namespace daybook
