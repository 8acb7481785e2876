// Reads a desk's own files as they are on disk: one for a write, or all of them with a cache by
// stat.
//
// Nothing is followed: a symlink's text is content, a folder that is a symlink is skipped. What is
// found and not stored is reported, never silently left out. A file that changes while it is read
// is read again. Thread: [desk]; an object of one's own elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/attributes.hpp"
#include "host/checkpoint/folder_tree.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// Larger files are not stored; they are reported with size and hash.
inline constexpr std::size_t kMaxStoredFile = 8UL * 1024 * 1024;

struct FileOnDisk {
    std::string content;
    unsigned permissions = 0;  ///< the low twelve bits of st_mode
    std::uint64_t inode = 0;
    std::int64_t modified = 0;  ///< nanoseconds since 1970
    [[nodiscard]] unsigned tree_mode() const {
        return (permissions & 0111U) != 0 ? kModeProgram : kModeFile;
    }
};

/// Reads a file that is about to be written. nullopt: it does not exist. `doing` is for messages.
/// Errors: refused (not a regular file, a link, more than one link, too large, a name that is not
/// stored), busy (it keeps changing), io.
Result<std::optional<FileOnDisk>> read_target(Os& os,
                                              int desk_dir,
                                              std::string_view path,
                                              std::string_view doing = "write");

class FileScan {
  public:
    struct Found {
        std::map<std::string, TreeFile> files;          ///< raw paths
        std::set<std::string> unreadable;               ///< are there, but could not be read
        std::vector<std::string> skipped;               ///< for people: quoted path and reason
        std::map<std::string, unsigned> empty_folders;  ///< raw paths and their modes
        std::map<std::string, unsigned> odd_folders;    ///< others whose mode is unusual
        std::map<std::string, unsigned>
            permissions;  ///< of files whose mode is neither 644 nor 755

        [[nodiscard]] Attributes attributes() const {
            return Attributes::of(files, permissions, empty_folders, odd_folders);
        }
    };
    /// Called with the content of each file that was read, unless the id is the one known.
    using OnContent = std::function<Result<>(const std::string& path, const std::string& content)>;

    FileScan(Os& os, int desk_dir) : os_(os), desk_dir_(desk_dir) {}

    /// Every own file. Those whose stat has not moved since the last scan are not read again.
    /// Errors: io (a folder cannot be listed), busy (a file keeps changing), and those of
    /// `on_content`.
    Result<Found> run(const OnContent& on_content);
    /// Forgets what is known of a file: somebody is about to write it.
    void forget(std::string_view path);

  private:
    struct Stamp {
        std::uint64_t inode = 0;
        std::int64_t size = 0;
        std::int64_t modified = 0;  ///< nanoseconds since 1970
        std::int64_t changed = 0;
        unsigned mode = 0;
        friend bool operator==(const Stamp&, const Stamp&) = default;
    };
    struct Cached {
        Stamp stamp;
        TreeFile file;
        std::string too_large;  ///< the report of a file that is not stored
    };
    struct Run {
        Found found;
        std::map<std::string, Cached, std::less<>> cache;
        const OnContent* on_content = nullptr;
        std::int64_t started = 0;  ///< as Stamp's times
    };
    static Stamp stamp_of(const struct stat& status);
    [[nodiscard]] static bool is_settled(const Stamp& stamp, std::int64_t started);
    Result<> scan_folder(Run& run, const std::string& path, int depth);
    Result<> scan_entry(Run& run,
                        int folder,
                        const std::string& folder_path,
                        const DirectoryEntry& entry,
                        int depth);
    Result<> scan_file(Run& run,
                       int folder,
                       const std::string& path,
                       const std::string& name,
                       const struct stat& status);
    Result<> scan_link(Run& run, int folder, const std::string& path, const std::string& name);
    Result<> keep(Run& run,
                  const std::string& path,
                  const std::string& content,
                  const struct stat& status);

    Os& os_;
    int desk_dir_;
    std::map<std::string, Cached, std::less<>> cache_;
};

}  // namespace daybook
