#include "host/surface/state_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFormatFile = "format";
constexpr std::string_view kLockFile = "run/host.lock";
constexpr std::size_t kMaxSmallFile = 4096;

std::string trimmed(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
        text.pop_back();
    }
    return text;
}

/// Whether the folder holds nothing but what a start that was cut short leaves.
Result<bool> is_fresh(Os& os, int dir) {
    auto entries = os.list(dir, ".");
    if (!entries) {
        return entries.error();
    }
    return std::all_of(entries->begin(), entries->end(), [](const DirectoryEntry& entry) {
        return entry.name == "run" || entry.name == "log" || entry.name.ends_with(".daybook~");
    });
}

Result<bool> has_format(Os& os, int dir, const fs::path& path) {
    auto text = read_file(os, dir, kFormatFile, kMaxSmallFile);
    if (!text && text.error().code() == Errc::not_found) {
        auto fresh = is_fresh(os, dir);
        if (!fresh) {
            return fresh.error();
        }
        if (!*fresh) {
            return Error(
                Errc::corrupt,
                "open " + path.string() +
                    ": it holds files but no `format` number, so it is no daybook home or a "
                    "damaged one; name another folder, or put the file back with the number of the "
                    "format (1)");
        }
        return false;
    }
    if (!text) {
        return text.error();
    }
    const std::string word = trimmed(*text);
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number < 1) {
        return Error(Errc::corrupt,
                     "open " + path.string() + ": its `format` file holds \"" +
                         printable(word, 40) +
                         "\", wanted a number; put it back (this version writes 1)");
    }
    if (number > kStateFormat) {
        return Error(Errc::unsupported,
                     "open " + path.string() + ": it is of format " + std::to_string(number) +
                         " and this version serves up to " + std::to_string(kStateFormat) +
                         "; start it with the newer daybook that made it");
    }
    return true;
}

/// The lock of a host that was killed goes with the last of its threads, an instant after its
/// process is seen to end: so a held lock is looked at again for a moment.
Result<> lock_soon(Os& os, int fd) {
    constexpr int kLooks = 20;
    constexpr std::chrono::milliseconds kPause{25};
    for (int look = 1;; ++look) {
        auto locked = os.lock(fd);
        if (locked || locked.error().code() != Errc::busy || look == kLooks) {
            return locked;
        }
        std::this_thread::sleep_for(kPause);
    }
}

Result<UniqueFd> take_lock(Os& os, int dir, const fs::path& path) {
    auto file = os.open_beneath(dir, kLockFile, OpenMode::lock, 0600);
    if (!file) {
        return file.error().during("lock " + path.string());
    }
    if (auto locked = lock_soon(os, file->get()); !locked) {
        if (locked.error().code() != Errc::busy) {
            return locked.error().during("lock " + path.string());
        }
        auto holder = os.read_at(file->get(), 0, kMaxSmallFile);
        const std::string pid = holder ? trimmed(*holder) : std::string();
        return Error(Errc::busy,
                     "open " + path.string() + ": another daybookd holds it" +
                         (pid.empty() ? std::string() : " (process " + printable(pid, 20) + ")") +
                         "; use that one, or stop it first");
    }
    auto written = os.truncate(file->get(), 0);
    if (written) {
        written = os.write_all(file->get(), std::to_string(::getpid()) + "\n");
    }
    if (!written) {
        return written.error().during("lock " + path.string());
    }
    return file;
}

/// The workspace is the owner's to edit, also when a service's user holds it: its group may write,
/// whatever the umask.
Result<> make_workspace(Os& os, int dir) {
    if (auto found = os.stat_beneath(dir, "workspace"); found) {
        return {};
    }
    if (auto made = os.make_directory(dir, "workspace", 0770); !made) {
        return made;
    }
    auto folder = os.open_beneath(dir, "workspace", OpenMode::directory, 0);
    return folder ? os.set_mode(folder->get(), 0770) : Result<>(folder.error());
}

}  // namespace

Result<> make_private_folders(const fs::path& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        return {};
    }
    if (path.has_parent_path() && path.parent_path() != path) {
        if (auto made = make_private_folders(path.parent_path()); !made) {
            return made;
        }
    }
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        return Error(
            errno == ENOSPC ? Errc::full : Errc::io,
            "make folder " + path.string() + ": " + std::generic_category().message(errno));
    }
    if (!fs::is_directory(path, error)) {
        return Error(Errc::io, "make folder " + path.string() + ": something else has that name");
    }
    return {};
}

Result<> prepare_socket_folder(const fs::path& folder) {
    if (auto made = make_private_folders(folder); !made) {
        return made;
    }
    struct stat found = {};
    if (::lstat(folder.c_str(), &found) != 0) {
        return Error(Errc::io,
                     "look at " + folder.string() + ": " + std::generic_category().message(errno));
    }
    const bool ours = found.st_uid == ::geteuid() || found.st_uid == 0;
    if (!S_ISDIR(found.st_mode) || !ours || (found.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return Error(
            Errc::refused,
            "use " + folder.string() +
                " for the control socket: another user owns it or may write it; remove it, or "
                "name a place with --socket");
    }
    return {};
}

Result<StateFolder> StateFolder::open(Os& os, const fs::path& path) {
    if (auto made = make_private_folders(path); !made) {
        return made.error();
    }
    auto dir = os.open_root(path);
    if (!dir) {
        return dir.error();
    }
    // Looked at before anything is made: a newer home stays as it is.
    auto numbered = has_format(os, dir->get(), path);
    if (!numbered) {
        return numbered.error();
    }
    if (auto made = os.make_directory(dir->get(), "run", 0700); !made) {
        return made.error();
    }
    auto lock = take_lock(os, dir->get(), path);
    if (!lock) {
        return lock.error();
    }
    if (!*numbered) {
        auto written = write_file_durably(
            os, dir->get(), kFormatFile, std::to_string(kStateFormat) + "\n", 0600);
        if (!written) {
            return written.error();
        }
    }
    for (const std::string_view name : {"journal", "sessions", "scratch", "modules", "keys"}) {
        if (auto made = os.make_directory(dir->get(), name, 0700); !made) {
            return made.error();
        }
    }
    if (auto made = make_workspace(os, dir->get()); !made) {
        return made.error();
    }
    return StateFolder(path, std::move(*dir), std::move(*lock));
}

}  // namespace daybook
