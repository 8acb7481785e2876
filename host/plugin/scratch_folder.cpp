#include "host/plugin/scratch_folder.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBlock = 512;  // st_blocks counts these, whatever the filesystem's own are
constexpr std::size_t kMostNamed = 10;

Error io_error(const std::string& doing, int error) {
    return Error(Errc::io, doing + ": " + std::generic_category().message(error));
}

/// A folder of ours, and no link to one.
Result<> make_folder(const fs::path& path, const std::string& shown) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
        return io_error("make " + shown, errno);
    }
    struct stat at = {};
    if (::lstat(path.c_str(), &at) != 0) {
        return io_error("make " + shown, errno);
    }
    if (!S_ISDIR(at.st_mode)) {
        return Error(Errc::refused, shown + " is no folder: remove it; it holds nothing of record");
    }
    return {};
}

/// What must not lie in the folder, or "".
std::string what_is_wrong(const struct stat& at) {
    if (S_ISLNK(at.st_mode)) {
        return "symbolic link";
    }
    if (S_ISREG(at.st_mode)) {
        return at.st_nlink > 1 ? "hard link" : "";
    }
    return S_ISDIR(at.st_mode) ? "" : "no file and no folder";
}

/// Calls `see(path, status)` for everything below the folder, until it returns false. Files that
/// vanish meanwhile are passed over: a runner may be at work.
template <class See>
Result<> walk(const fs::path& folder, const See& see) {
    std::error_code error;
    fs::recursive_directory_iterator at(folder, error);
    while (!error && at != fs::recursive_directory_iterator()) {
        struct stat status = {};
        if (::lstat(at->path().c_str(), &status) == 0 && !see(at->path(), status)) {
            return {};
        }
        at.increment(error);
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return io_error("read " + folder.string(), error.value());
    }
    return {};
}

}  // namespace

ScratchFolder::ScratchFolder(fs::path state,
                             const std::string& plugin,
                             const std::string& desk,
                             ScratchBounds bounds)
    : state_(std::move(state)),
      path_(state_ / "scratch" / plugin / desk),
      shown_("scratch/" + plugin + "/" + desk),
      bounds_(bounds) {}

Result<std::string> ScratchFolder::prepare() {
    for (const fs::path& folder : {path_.parent_path().parent_path(), path_.parent_path(), path_}) {
        if (auto made = make_folder(folder, folder.lexically_relative(state_).string()); !made) {
            return made.error();
        }
    }
    std::vector<std::string> found;
    auto walked = walk(path_, [&](const fs::path& file, const struct stat& at) {
        if (const std::string wrong = what_is_wrong(at); !wrong.empty()) {
            found.push_back(printable(file.lexically_relative(path_).string()) + " (" + wrong +
                            ")");
        }
        return found.size() < kMostNamed;
    });
    if (!walked) {
        return walked.error();
    }
    if (!found.empty()) {
        std::string names;
        for (const std::string& name : found) {
            names += (names.empty() ? "" : ", ") + name;
        }
        return Error(Errc::refused,
                     shown_ + " holds what a plugin cannot have made: " + names +
                         "; somebody else did, and the plugin would write through it: remove it");
    }
    auto bytes = measure();
    if (bytes || bytes.error().code() != Errc::full) {
        return bytes ? Result<std::string>(std::string()) : bytes.error();
    }
    std::error_code error;
    fs::remove_all(path_, error);  // follows no link
    if (error) {
        return io_error("empty " + shown_, error.value());
    }
    auto made = make_folder(path_, shown_);
    return made ? Result<std::string>(bytes.error().message() + "; it was emptied")
                : Result<std::string>(made.error());
}

Result<std::uint64_t> ScratchFolder::measure() const {
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
    auto walked = walk(path_, [&](const fs::path&, const struct stat& at) {
        bytes += static_cast<std::uint64_t>(at.st_blocks) * kBlock;
        return ++files <= bounds_.max_files && bytes <= bounds_.max_bytes;
    });
    if (!walked) {
        return walked.error();
    }
    if (bytes > bounds_.max_bytes) {
        return Error(Errc::full,
                     shown_ + " is over its bound of " + std::to_string(bounds_.max_bytes) +
                         " bytes (host.scratch_max)");
    }
    if (files > bounds_.max_files) {
        return Error(Errc::full,
                     shown_ + " holds more than " + std::to_string(bounds_.max_files) + " files");
    }
    return bytes;
}

Result<> ScratchFolder::check() const {
    if (auto bytes = measure(); !bytes) {
        return bytes.error();
    }
    std::error_code error;
    const fs::space_info space = fs::space(path_, error);
    if (!error && space.available < bounds_.reserve_bytes) {
        return Error(Errc::full,
                     "only " + std::to_string(space.available >> 20U) +
                         " MiB are free, so nothing may grow in " + shown_);
    }
    return {};
}

}  // namespace daybook
