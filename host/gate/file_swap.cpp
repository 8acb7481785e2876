#include "host/gate/file_swap.hpp"

#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "host/format/sha256.hpp"

namespace daybook {
namespace {

constexpr unsigned kFolderMode = 0770;      // the umask takes away what it must
constexpr unsigned kUnfinishedMode = 0200;  // says after a crash that the content is not whole
constexpr std::size_t kMaxRead = 8UL * 1024 * 1024;
constexpr std::size_t kMaxName = 255;
constexpr std::string_view kEnding = ".daybook~";
constexpr int kMaxExchanges = 1000;  // an owner that saves faster than this is not a person

std::string doing(const DeskPath& path) {
    return "write " + path.str();
}

Error owner_was_there(const DeskPath& path) {
    return Error(Errc::conflict,
                 doing(path) + ": the file was saved by somebody else at the same moment");
}

}  // namespace

std::string FileSwap::temporary_name(const DeskPath& path) {
    std::string name(path.name());
    if (name.size() + kEnding.size() + 1 > kMaxName) {
        constexpr std::size_t kKept = 200;
        constexpr std::size_t kHash = 16;
        name = name.substr(0, kKept) + "." + sha256_hex(name).substr(0, kHash);
    }
    const std::string folder(path.folder());
    return (folder.empty() ? "" : folder + "/") + "." + name + std::string(kEnding);
}

Result<> FileSwap::sync(int fd) {
    auto synced = os_.full_sync(fd);
    if (!synced) {
        sync_failure_ = synced.error().message();
    }
    return synced;
}

Result<> FileSwap::sync_folder(const DeskPath& path) {
    auto folder = os_.open_beneath(desk_dir_, path.folder(), OpenMode::directory);
    if (!folder) {
        sync_failure_ =
            folder.error().message();  // what was renamed may not be durable, and cannot be made so
        return folder.error();
    }
    return sync(folder->get());
}

/// After a rename that went as planned.
Result<> FileSwap::finish_rename(const DeskPath& path) {
    return syncs_folder_ ? sync_folder(path) : Result<>();
}

Result<std::optional<struct stat>> FileSwap::target_status(const DeskPath& path) {
    auto status = os_.stat_beneath(desk_dir_, path.str());
    if (!status) {
        return status.error().code() == Errc::not_found
                   ? Result<std::optional<struct stat>>(std::nullopt)
                   : status.error();
    }
    if (!S_ISREG(status->st_mode)) {
        return Error(Errc::refused, doing(path) + ": not a regular file");
    }
    if (status->st_nlink == 0) {
        return owner_was_there(path);  // replaced while we looked
    }
    if (status->st_nlink != 1) {
        return Error(Errc::refused, doing(path) + ": the file has more than one hard link");
    }
    return std::optional<struct stat>(*status);
}

/// The exchange puts another inode in the file's place: it gets the old one's mode and owner; a new
/// file gets those of its folder, without the right to run.
Result<FileSwap::Look> FileSwap::look_of(const DeskPath& path,
                                         const std::optional<struct stat>& target) {
    if (target) {
        return Look{target->st_mode & 0777U, target->st_uid, target->st_gid};
    }
    auto folder = os_.open_beneath(desk_dir_, path.folder(), OpenMode::directory);
    auto status = folder ? os_.stat_of(folder->get()) : Result<struct stat>(folder.error());
    if (!status) {
        return status.error();
    }
    return Look{(status->st_mode & 0666U) | 0600U, status->st_uid, status->st_gid};
}

Result<> FileSwap::fill(int fd, const Look& look, std::string_view content) {
    if (auto written = os_.write_all(fd, content); !written) {
        return written;
    }
    // Only root may give files away; others may set a group of their own. What is not allowed stays
    // as it is.
    if (::fchown(fd, look.owner, look.group) != 0) {
        [[maybe_unused]] const int ignored = ::fchown(fd, static_cast<uid_t>(-1), look.group);
    }
    if (auto set = os_.set_mode(fd, look.mode); !set) {
        return set;
    }
    auto synced = os_.full_sync(fd);
    if (!synced && synced.error().code() != Errc::full) {
        sync_failure_ =
            synced.error()
                .message();  // no space: the file is thrown away whole, and the next one is another
    }
    return synced;
}

Result<FileSwap::Written> FileSwap::write_temporary(const DeskPath& path,
                                                    const std::optional<struct stat>& target,
                                                    std::string_view content) {
    const std::string name = temporary_name(path);
    auto look = look_of(path, target);
    if (!look) {
        return look.error().during(doing(path));
    }
    auto fd = os_.open_beneath(desk_dir_, name, OpenMode::create_new, kUnfinishedMode);
    if (!fd) {
        return fd.error().during(doing(path));
    }
    Result<> done = fill(fd->get(), *look, content);
    auto status = done ? os_.stat_of(fd->get()) : Result<struct stat>(done.error());
    if (!status) {
        const Result<> ignored = os_.remove(desk_dir_, name);
        return status.error().during(doing(path));
    }
    return Written{std::move(*fd), {status->st_dev, status->st_ino}};
}

Result<FileSwap::CameOut> FileSwap::look_at_temporary(const DeskPath& path) {
    const std::string name = temporary_name(path);
    CameOut out;
    auto status = os_.stat_beneath(desk_dir_, name);
    if (!status) {
        return status.error();
    }
    out.identity = {status->st_dev, status->st_ino};
    if (!S_ISREG(status->st_mode)) {
        return out;
    }
    auto fd = os_.open_beneath(desk_dir_, name, OpenMode::read);
    if (!fd) {
        return fd.error();
    }
    out.fd = std::move(*fd);
    auto content = os_.read_all(out.fd.get(), kMaxRead);
    if (content) {
        out.content = std::move(*content);
    } else if (content.error().code() != Errc::full) {
        return content.error();
    }
    return out;
}

/// `theirs` is under the temporary name, `ours` in the file's place, unless the owner has saved
/// again.
Result<> FileSwap::swap_back(const DeskPath& path,
                             Written ours,
                             std::string_view content,
                             CameOut theirs,
                             std::string_view checkpoint) {
    const std::string name = temporary_name(path);
    Identity in_place = ours.identity;
    std::vector<CameOut>
        held;  // open descriptors: no inode number of theirs is used twice while we compare
    held.push_back(std::move(theirs));
    for (int count = 0; count < kMaxExchanges; ++count) {
        const Identity moving = held.back().identity;
        auto exchanged = os_.exchange(desk_dir_, name, path.str());
        if (!exchanged && exchanged.error().code() == Errc::not_found) {
            exchanged = os_.rename_new(desk_dir_, name, path.str());  // the owner removed ours
            return exchanged ? sync_folder(path) : exchanged.error().during(doing(path));
        }
        if (!exchanged) {
            return exchanged.error().during(doing(path));
        }
        auto out = look_at_temporary(path);
        if (!out) {
            return out.error().during(doing(path));
        }
        if (out->identity == in_place) {
            const bool is_ours = count == 0 && out->content == std::optional<std::string>(content);
            if (!is_ours && out->content) {
                superseded_.push_back(
                    *out->content);  // an earlier version of the owner's, or ours edited in place
            }
            if (!is_ours && !out->content) {
                return Error(Errc::io,
                             doing(path) + ": a version of the file stays beside it as " + name);
            }
            // It was in the file's place for a moment: an editor may have opened it then, and save
            // to it later. The trash watches it for that.
            const std::string& last = is_ours ? std::string(content) : *out->content;
            retire(path, sha256_hex(last), last.size(), checkpoint, true);
            return sync_folder(path);
        }
        in_place = moving;
        held.push_back(std::move(*out));
    }
    return Error(
        Errc::io,
        doing(path) + ": the file is saved again and again; a version stays beside it as " + name);
}

/// Whoever opens the file for writing now waits until this is over, and then writes to the old one,
/// which the trash watches. Where the system offers no leases nobody is held.
Result<std::optional<FileSwap::Held>> FileSwap::hold(const DeskPath& path) {
    constexpr int kAttempts = 50;
    if (trash_ == nullptr) {
        return std::optional<Held>();
    }
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        auto fd = os_.open_beneath(desk_dir_, path.str(), OpenMode::read);
        if (!fd) {
            return fd.error().code() == Errc::not_found
                       ? Result<std::optional<Held>>(owner_was_there(path))
                       : fd.error().during(doing(path));
        }
        FileLease lease = FileLease::take(fd->get());
        if (lease.state() != FileLease::State::open_for_writing) {
            return std::optional<Held>(Held{std::move(*fd), std::move(lease)});
        }
        std::this_thread::yield();  // a save takes an instant
    }
    return Error(Errc::busy,
                 doing(path) +
                     ": somebody has the file open for writing; close it there, or try "
                     "again");
}

void FileSwap::retire(const DeskPath& path,
                      std::string_view sha256,
                      std::size_t bytes,
                      std::string_view checkpoint,
                      bool replaced) {
    const std::string name = temporary_name(path);
    if (trash_ != nullptr) {
        TrashEntry entry;
        entry.kind = replaced ? TrashEntry::Kind::replaced : TrashEntry::Kind::removed;
        entry.path = path.str();
        entry.checkpoint = std::string(checkpoint);
        entry.sha256 = std::string(sha256);
        entry.bytes = bytes;
        if (trash_->take_in(desk_ + "/" + name, std::move(entry))) {
            return;
        }
    }
    // What stays behind when this fails is what the checkpoint holds; the next write or start
    // removes it.
    const Result<> ignored = os_.remove(desk_dir_, name);
}

Result<> FileSwap::replace(const DeskPath& path,
                           std::string_view expected,
                           std::string_view content,
                           std::string_view checkpoint) {
    auto target = target_status(path);
    if (!target) {
        return target.error();
    }
    if (target->has_value() == expected.empty()) {
        return owner_was_there(path);
    }
    if (!*target && !path.folder().empty()) {
        if (auto made = make_directories(os_, desk_dir_, path.folder(), kFolderMode); !made) {
            return made.error().during(doing(path));
        }
    }
    auto ours = write_temporary(path, *target, content);
    if (!ours) {
        return ours.error();
    }
    const std::string name = temporary_name(path);
    auto base = expected.empty() ? Result<std::optional<Held>>(std::nullopt) : hold(path);
    if (!base) {
        const Result<> ignored = os_.remove(desk_dir_, name);
        return base.error();
    }
    const Result<> moved = expected.empty() ? os_.rename_new(desk_dir_, name, path.str())
                                            : os_.exchange(desk_dir_, name, path.str());
    if (!moved) {
        const Result<> ignored = os_.remove(desk_dir_, name);
        const Errc code = moved.error().code();
        return code == Errc::conflict || code == Errc::not_found
                   ? owner_was_there(path)
                   : moved.error().during(doing(path));
    }
    if (expected.empty()) {
        auto synced = finish_rename(path);
        return synced ? synced : synced.error().during(doing(path));
    }
    auto out = look_at_temporary(path);
    if (!out) {
        return out.error().during(doing(path));
    }
    if (!out->content || sha256_hex(*out->content) != expected) {
        auto back = swap_back(path, std::move(*ours), content, std::move(*out), checkpoint);
        return back ? Result<>(owner_was_there(path)) : back;
    }
    retire(path, expected, out->content->size(), checkpoint, true);
    auto synced = finish_rename(path);
    return synced ? synced : synced.error().during(doing(path));
}

Result<> FileSwap::remove(const DeskPath& path,
                          std::string_view expected,
                          std::string_view checkpoint) {
    auto target = target_status(path);
    if (!target) {
        return target.error();
    }
    if (!*target) {
        return Error(Errc::not_found, "remove " + path.str() + ": there is no such file");
    }
    const std::string name = temporary_name(path);
    if (auto moved = os_.rename_new(desk_dir_, path.str(), name); !moved) {
        return moved.error().code() == Errc::not_found
                   ? owner_was_there(path)
                   : moved.error().during("remove " + path.str());
    }
    auto out = look_at_temporary(path);
    if (!out) {
        return out.error().during("remove " + path.str());
    }
    if (!out->content || sha256_hex(*out->content) != expected) {
        auto back = os_.rename_new(desk_dir_, name, path.str());
        if (!back && back.error().code() == Errc::conflict && out->content) {
            superseded_.push_back(*out->content);  // saved twice: the newer one stands
            back = os_.remove(desk_dir_, name);
        }
        return back ? Result<>(owner_was_there(path)) : back.error().during("remove " + path.str());
    }
    retire(path, expected, out->content->size(), checkpoint, false);
    auto synced = finish_rename(path);
    return synced ? synced : synced.error().during("remove " + path.str());
}

Result<std::optional<FileSwap::Leftover>> FileSwap::find_leftover(const DeskPath& path) {
    const std::string name = temporary_name(path);
    auto status = os_.stat_beneath(desk_dir_, name);
    if (!status) {
        return status.error().code() == Errc::not_found
                   ? Result<std::optional<Leftover>>(std::nullopt)
                   : status.error();
    }
    Leftover found;
    found.status = *status;
    if (!S_ISREG(status->st_mode)) {
        return std::optional<Leftover>(std::move(found));
    }
    found.is_unfinished = (status->st_mode & 0777U) == kUnfinishedMode;
    if (found.is_unfinished) {
        return std::optional<Leftover>(std::move(found));
    }
    auto out = look_at_temporary(path);
    if (!out) {
        return out.error();
    }
    found.is_plain = out->content.has_value();
    found.content = std::move(out->content).value_or("");
    return std::optional<Leftover>(std::move(found));
}

Result<> FileSwap::exchange_with_leftover(const DeskPath& path) {
    const std::string name = temporary_name(path);
    auto moved = os_.exchange(desk_dir_, name, path.str());
    if (!moved && moved.error().code() == Errc::not_found) {
        moved = os_.rename_new(desk_dir_, name, path.str());
    }
    return moved ? sync_folder(path) : moved;
}

Result<> FileSwap::remove_leftover(const DeskPath& path) {
    auto gone = os_.remove(desk_dir_, temporary_name(path));
    return gone || gone.error().code() == Errc::not_found ? Result<>() : gone;
}

}  // namespace daybook
