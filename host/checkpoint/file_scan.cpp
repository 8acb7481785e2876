#include "host/checkpoint/file_scan.hpp"

#include <array>
#include <cerrno>
#include <sys/stat.h>
#include <system_error>
#include <tuple>
#include <unistd.h>

#include <climits>

#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/git_names.hpp"
#include "host/format/sha256.hpp"
#include "host/os/clock.hpp"

namespace daybook {
namespace {

constexpr int kReadAttempts = 4;
constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxHashedFile =
    64UL * 1024 * 1024;  // larger ones are reported by size alone
/// git's fsck refuses a `.gitattributes` with a longer line.
constexpr std::size_t kMaxAttributesLine = 2048;
/// Two ticks of the slowest kernel clock: a file changed later than this before a scan may change
/// again unseen.
constexpr std::int64_t kTickNanoseconds = 20'000'000;

std::string text_of_errno(int error) {
    return std::generic_category().message(error);
}

bool is_same(const struct stat& a, const struct stat& b) {
    const auto key = [](const struct stat& s) {
        return std::tuple(s.st_ino,
                          s.st_size,
                          s.st_mtim.tv_sec,
                          s.st_mtim.tv_nsec,
                          s.st_ctim.tv_sec,
                          s.st_ctim.tv_nsec);
    };
    return key(a) == key(b);
}

struct StableRead {
    std::string content;
    struct stat status {};
};

/// Reads a regular file until its stat is the same before and after.
/// Errors: not_found, refused (not a regular file), full (over max_bytes), busy (it keeps
/// changing), io.
Result<StableRead> read_stable(Os& os, int dir, std::string_view path, std::size_t max_bytes) {
    for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
        auto fd = os.open_beneath(dir, path, OpenMode::read);
        if (!fd) {
            return fd.error();
        }
        auto before = os.stat_of(fd->get());
        if (!before) {
            return before.error();
        }
        if (!S_ISREG(before->st_mode)) {
            return Error(Errc::refused, "read " + printable(path) + ": not a regular file");
        }
        auto content = os.read_all(fd->get(), max_bytes);
        if (!content) {
            return content.error().during("read " + printable(path));
        }
        auto after = os.stat_of(fd->get());
        if (!after) {
            return after.error();
        }
        if (is_same(*before, *after)) {
            return StableRead{std::move(*content), *after};
        }
    }
    return Error(Errc::busy, "read " + printable(path) + ": it keeps changing while it is read");
}

bool has_long_line(std::string_view content) {
    while (!content.empty()) {
        const std::size_t end = content.find('\n');
        if (std::min(end, content.size()) > kMaxAttributesLine) {
            return true;
        }
        content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
    }
    return false;
}

/// Why nothing of that name is stored; "" when it is.
std::string_view refused_name(std::string_view name) {
    if (is_git_folder_name(name)) {
        return "a name that git takes for its own";
    }
    if (is_git_modules_name(name)) {
        return "a name whose content git would follow";
    }
    return "";
}

/// What is about to be done with a file, for messages and for saying no.
struct Target {
    std::string_view path;
    std::string_view doing;
    [[nodiscard]] Error refused(std::string_view rule) const {
        return Error(Errc::refused,
                     std::string(doing) + " " + printable(path) + ": " + std::string(rule));
    }
};

/// nullopt: there is no such file. The status may say 0 links: the file was replaced meanwhile.
Result<std::optional<StableRead>> read_once(Os& os, int desk_dir, const Target& target) {
    constexpr std::string_view kLinks = "the file has more than one hard link";
    auto found = os.stat_beneath(desk_dir, target.path);
    if (!found) {
        return found.error().code() == Errc::not_found
                   ? Result<std::optional<StableRead>>(std::nullopt)
                   : found.error();
    }
    if (!S_ISREG(found->st_mode)) {
        return target.refused(S_ISLNK(found->st_mode) ? "it is a symbolic link"
                                                      : "it is not a regular file");
    }
    if (found->st_nlink > 1) {
        return target.refused(kLinks);
    }
    auto read = read_stable(os, desk_dir, target.path, kMaxStoredFile);
    if (!read) {
        const Errc code = read.error().code();
        if (code == Errc::not_found) {
            return std::optional<StableRead>();
        }
        return code == Errc::full ? target.refused("the file is over 8 MB") : read.error();
    }
    if (read->status.st_nlink > 1) {
        return target.refused(kLinks);
    }
    return std::optional<StableRead>(std::move(*read));
}

std::optional<FileOnDisk> to_file_on_disk(std::optional<StableRead> read) {
    if (!read) {
        return std::nullopt;
    }
    const timespec& modified = read->status.st_mtim;
    return FileOnDisk{std::move(read->content),
                      read->status.st_mode & 07777U,
                      read->status.st_ino,
                      std::int64_t{modified.tv_sec} * 1'000'000'000 + modified.tv_nsec};
}

}  // namespace

Result<std::optional<FileOnDisk>> read_target(Os& os,
                                              int desk_dir,
                                              std::string_view path,
                                              std::string_view doing) {
    const Target target{path, doing};
    for (std::string_view rest = path; !rest.empty();) {
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        const std::string_view name = rest.substr(0, slash);
        const std::string_view rule = refused_name(name);
        if (!rule.empty()) {
            return target.refused(rule);
        }
        if (is_passing_name(name)) {
            return target.refused("the name is that of an editor's temporary file");
        }
        rest.remove_prefix(std::min(slash + 1, rest.size()));
    }
    for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
        auto file = read_once(os, desk_dir, target);
        if (!file || !*file || (*file)->status.st_nlink == 1) {
            return file ? to_file_on_disk(std::move(*file))
                        : Result<std::optional<FileOnDisk>>(file.error());
        }
        // Another file was put in its place between opening and looking: what was read has no name
        // any more.
    }
    return Error(Errc::busy, "read " + printable(path) + ": it is replaced again and again");
}

FileScan::Stamp FileScan::stamp_of(const struct stat& status) {
    const auto nanoseconds = [](const timespec& t) {
        return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
    };
    return Stamp{status.st_ino,
                 status.st_size,
                 nanoseconds(status.st_mtim),
                 nanoseconds(status.st_ctim),
                 status.st_mode};
}

/// Git's "racily clean" rule: a file that changed just before the scan may change again within the
/// same tick of the file system's clock. The change time is what counts; no user program can set
/// it.
bool FileScan::is_settled(const Stamp& stamp, std::int64_t started) {
    return stamp.changed < started - kTickNanoseconds;
}

Result<FileScan::Found> FileScan::run(const OnContent& on_content) {
    Run run;
    run.on_content = &on_content;
    // The files' times are the machine's, also where the desk's clock is replayed.
    run.started = SystemClock().now().time_since_epoch().count();

    auto memory = os_.stat_beneath(desk_dir_, "Memory.md");
    if (memory) {
        DirectoryEntry entry;
        entry.name = "Memory.md";
        entry.is_directory = S_ISDIR(memory->st_mode);
        if (entry.is_directory) {
            run.found.skipped.emplace_back("Memory.md (a folder)");
        } else if (auto done = scan_entry(run, desk_dir_, "", entry, 0); !done) {
            return done.error();
        }
    } else if (memory.error().code() != Errc::not_found) {
        return memory.error();
    }
    for (const std::string folder : {"memory", "notes", "skills"}) {
        auto status = os_.stat_beneath(desk_dir_, folder);
        if (!status && status.error().code() == Errc::not_found) {
            continue;
        }
        if (!status) {
            return status.error();
        }
        if (!S_ISDIR(status->st_mode)) {
            run.found.skipped.push_back(
                folder + (S_ISLNK(status->st_mode) ? " (a symbolic link)" : " (not a folder)"));
            continue;
        }
        if (auto done = scan_folder(run, folder, 0); !done) {
            return done.error();
        }
    }
    cache_ = std::move(run.cache);
    return std::move(run.found);
}

Result<> FileScan::scan_folder(Run& run, const std::string& path, int depth) {
    if (depth > kMaxDepth) {
        run.found.skipped.push_back(quote_path(path) + " (nested deeper than 64 folders)");
        return {};
    }
    auto folder = os_.open_beneath(desk_dir_, path, OpenMode::directory);
    auto entries =
        folder ? os_.list(folder->get(), "") : Result<std::vector<DirectoryEntry>>(folder.error());
    if (!entries) {
        if (entries.error().code() == Errc::not_found) {
            return {};  // gone since it was listed
        }
        return entries.error();
    }
    auto status = os_.stat_of(folder->get());
    if (!status) {
        return status.error();
    }
    const unsigned permissions = status->st_mode & 07777U;
    if (entries->empty()) {
        run.found.empty_folders[path] = permissions;
    } else if (is_odd_folder_mode(permissions)) {
        run.found.odd_folders[path] = permissions;
    }
    for (const DirectoryEntry& entry : *entries) {
        if (is_passing_name(entry.name)) {
            continue;
        }
        if (auto done = scan_entry(run, folder->get(), path, entry, depth); !done) {
            return done;
        }
    }
    return {};
}

Result<> FileScan::scan_entry(
    Run& run, int folder, const std::string& folder_path, const DirectoryEntry& entry, int depth) {
    const std::string path = folder_path.empty() ? entry.name : folder_path + "/" + entry.name;
    const auto skip = [&](std::string_view reason) {
        run.found.skipped.push_back(quote_path(path) + " (" + std::string(reason) + ")");
        return Result<>();
    };
    const std::string_view rule = refused_name(entry.name);
    if (!rule.empty()) {
        return skip(rule);
    }
    if (entry.is_directory) {
        return scan_folder(run, path, depth + 1);
    }
    auto status = os_.stat_beneath(folder, entry.name);
    if (!status) {
        return status.error().code() == Errc::not_found ? Result<>() : Result<>(status.error());
    }
    if (S_ISREG(status->st_mode)) {
        return scan_file(run, folder, path, entry.name, *status);
    }
    if (S_ISLNK(status->st_mode)) {
        return is_git_control_name(entry.name) ? skip("a link that git refuses")
                                               : scan_link(run, folder, path, entry.name);
    }
    return skip(S_ISDIR(status->st_mode) ? "changed while it was read" : "not a regular file");
}

Result<> FileScan::scan_file(Run& run,
                             int folder,
                             const std::string& path,
                             const std::string& name,
                             const struct stat& status) {
    const auto report = [&](const std::string& reason) {
        run.found.skipped.push_back(quote_path(path) + " (" + reason + ")");
    };
    if (status.st_nlink > 1) {
        report(std::to_string(status.st_nlink) + " hard links; stored, not writable");
    }
    const unsigned permissions = status.st_mode & 07777U;
    if (permissions != 0644 && permissions != 0755) {
        run.found.permissions[path] = permissions;
    }
    const auto cached = cache_.find(path);
    if (cached != cache_.end() && cached->second.stamp == stamp_of(status) &&
        is_settled(cached->second.stamp, run.started)) {
        run.cache[path] = cached->second;
        if (cached->second.too_large.empty()) {
            run.found.files[path] = cached->second.file;
        } else {
            run.found.skipped.push_back(cached->second.too_large);
        }
        return {};
    }
    const bool is_large = static_cast<std::uint64_t>(status.st_size) > kMaxStoredFile;
    auto read = read_stable(os_, folder, name, is_large ? kMaxHashedFile : kMaxStoredFile);
    if (!read && read.error().code() == Errc::not_found) {
        return {};
    }
    if (!read && read.error().code() != Errc::full) {
        if (read.error().code() == Errc::busy) {
            return read.error();
        }
        run.found.unreadable.insert(path);
        report(read.error().message());
        return {};
    }
    if (read && read->content.size() <= kMaxStoredFile) {
        return keep(run, path, read->content, read->status);
    }
    const std::string hash = read ? ", sha256 " + sha256_hex(read->content) : "";
    report("over 8 MB: " + std::to_string(status.st_size) + " bytes" + hash);
    run.cache[path] = Cached{stamp_of(status), {}, run.found.skipped.back()};
    return {};
}

Result<> FileScan::scan_link(Run& run,
                             int folder,
                             const std::string& path,
                             const std::string& name) {
    std::string text(PATH_MAX, '\0');
    const ssize_t length = ::readlinkat(folder, name.c_str(), text.data(), text.size());
    if (length < 0) {
        const int reason = errno;
        if (reason != ENOENT) {
            run.found.skipped.push_back(quote_path(path) + " (" + text_of_errno(reason) + ")");
        }
        return {};
    }
    text.resize(static_cast<std::size_t>(length));
    run.found.files[path] = TreeFile{kModeLink, GitObjects::id_of(GitType::blob, text)};
    return (*run.on_content)(path, text);
}

Result<> FileScan::keep(Run& run,
                        const std::string& path,
                        const std::string& content,
                        const struct stat& status) {
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (is_git_control_name(name) && has_long_line(content)) {
        run.found.skipped.push_back(quote_path(path) + " (a line longer than git allows there)");
        return {};
    }
    const unsigned mode = (status.st_mode & 0111U) != 0 ? kModeProgram : kModeFile;
    const TreeFile file{mode, GitObjects::id_of(GitType::blob, content)};
    run.found.files[path] = file;
    run.cache[path] = Cached{stamp_of(status), file, ""};
    return (*run.on_content)(path, content);
}

void FileScan::forget(std::string_view path) {
    const auto found = cache_.find(path);
    if (found != cache_.end()) {
        cache_.erase(found);
    }
}

}  // namespace daybook
