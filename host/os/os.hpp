// The one door to the file system. Everything that reads or writes a file of record goes through an
// Os, so that tests can make the nth call fail (tests/support/fault_os.hpp).
//
// Paths here are relative to a directory descriptor and never leave it: openat2 with
// RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS. Every message names the operation, the path and the
// system's reason. Thread: [any].
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/unique_fd.hpp"

namespace daybook {

enum class OpenMode {
    read,        ///< O_RDONLY | O_NONBLOCK (a FIFO cannot hang us)
    append,      ///< O_WRONLY | O_APPEND | O_CREAT
    create_new,  ///< O_WRONLY | O_CREAT | O_EXCL
    directory,   ///< O_RDONLY | O_DIRECTORY
    lock,        ///< O_RDWR | O_CREAT
};

/// What a directory holds. `type` as in d_type of struct dirent, filled by fstatat where the
/// filesystem does not say.
struct DirectoryEntry {
    std::string name;
    bool is_directory = false;
    bool is_regular = false;
    bool is_symlink = false;
};

class Os {
  public:
    Os() = default;
    virtual ~Os() = default;
    Os(const Os&) = delete;
    Os& operator=(const Os&) = delete;
    Os(Os&&) = delete;
    Os& operator=(Os&&) = delete;

    /// Opens a directory by absolute path, following symlinks: for the roots only. Errors:
    /// not_found, io.
    virtual Result<UniqueFd> open_root(const std::filesystem::path& path) = 0;
    /// Errors: not_found, io, refused (leaves the directory, a symlink on the way), full.
    virtual Result<UniqueFd> open_beneath(int dir,
                                          std::string_view path,
                                          OpenMode mode,
                                          unsigned permissions = 0600) = 0;
    virtual Result<struct stat> stat_of(int fd) = 0;
    /// Without following a symlink. Errors: not_found, io, refused.
    virtual Result<struct stat> stat_beneath(int dir, std::string_view path) = 0;
    /// From the start to the end. Errors: full (more than max_bytes), io.
    virtual Result<std::string> read_all(int fd, std::size_t max_bytes) = 0;
    /// From `offset`, until `max_bytes` or the end; "" at or after the end. Errors: io.
    virtual Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t max_bytes) = 0;
    /// One write for the whole text; a short write is continued. Errors: io, full.
    virtual Result<> write_all(int fd, std::string_view bytes) = 0;
    virtual Result<> data_sync(int fd) = 0;  ///< fdatasync. An error is final: never retried.
    virtual Result<> full_sync(
        int fd) = 0;  ///< fsync, files and directories. An error is final: never retried.
    virtual Result<> truncate(int fd, std::uint64_t bytes) = 0;
    virtual Result<> set_mode(int fd, unsigned permissions) = 0;
    /// Both names must exist; swaps them. Errors: not_found, io, unsupported.
    virtual Result<> exchange(int dir, std::string_view a, std::string_view b) = 0;
    /// Errors: conflict (the target exists), io.
    virtual Result<> rename_new(int dir, std::string_view from, std::string_view to) = 0;
    /// Replaces the target. Not for a desk's own files. Errors: io.
    virtual Result<> rename_over(int dir, std::string_view from, std::string_view to) = 0;
    virtual Result<> remove(int dir, std::string_view path) = 0;
    /// Makes one directory and syncs its parent; fine when it exists. Errors: io, full, refused
    /// (something else is there).
    virtual Result<> make_directory(int dir,
                                    std::string_view path,
                                    unsigned permissions = 0700) = 0;
    /// Sorted by name, without "." and "..". Errors: not_found, io.
    virtual Result<std::vector<DirectoryEntry>> list(int dir, std::string_view path) = 0;
    /// Exclusive flock without waiting; released with the descriptor or the process. Errors: busy,
    /// io.
    virtual Result<> lock(int fd) = 0;
    /// Bytes that an ordinary user may still write on this filesystem.
    virtual Result<std::uint64_t> free_bytes(int dir) = 0;
};

/// The real system. Stateless; make one in main.cpp.
class LinuxOs final : public Os {
  public:
    Result<UniqueFd> open_root(const std::filesystem::path& path) override;
    Result<UniqueFd> open_beneath(int dir,
                                  std::string_view path,
                                  OpenMode mode,
                                  unsigned permissions) override;
    Result<struct stat> stat_of(int fd) override;
    Result<struct stat> stat_beneath(int dir, std::string_view path) override;
    Result<std::string> read_all(int fd, std::size_t max_bytes) override;
    Result<std::string> read_at(int fd, std::uint64_t offset, std::size_t max_bytes) override;
    Result<> write_all(int fd, std::string_view bytes) override;
    Result<> data_sync(int fd) override;
    Result<> full_sync(int fd) override;
    Result<> truncate(int fd, std::uint64_t bytes) override;
    Result<> set_mode(int fd, unsigned permissions) override;
    Result<> exchange(int dir, std::string_view a, std::string_view b) override;
    Result<> rename_new(int dir, std::string_view from, std::string_view to) override;
    Result<> rename_over(int dir, std::string_view from, std::string_view to) override;
    Result<> remove(int dir, std::string_view path) override;
    Result<> make_directory(int dir, std::string_view path, unsigned permissions) override;
    Result<std::vector<DirectoryEntry>> list(int dir, std::string_view path) override;
    Result<> lock(int fd) override;
    Result<std::uint64_t> free_bytes(int dir) override;
};

/// Opens, checks (regular file, one link) and reads a file beneath `dir`.
/// Errors: not_found, refused (not a regular file, more than one link, a symlink), full, io.
Result<std::string> read_file(Os& os, int dir, std::string_view path, std::size_t max_bytes);

/// Durable replacement of a file of ours beneath `dir`: temporary, fsync, rename, fsync of the
/// folder.
Result<> write_file_durably(
    Os& os, int dir, std::string_view path, std::string_view bytes, unsigned permissions = 0600);

/// Makes every missing directory of `path` beneath `dir`.
Result<> make_directories(Os& os, int dir, std::string_view path, unsigned permissions = 0700);

/// `bytes` random bytes as lower-case hexadecimal text (getrandom).
[[nodiscard]] std::string random_hex(std::size_t bytes);

}  // namespace daybook
