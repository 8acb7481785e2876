// The state folder: its format number, its lock, and the folders that every home has.
//
// `format` holds the number of the on-disk format. A folder with a newer number, or with files but
// no number, is refused and left as it is. run/host.lock is held (flock) for the life of the host;
// it dies with its holder.
#pragma once

#include <filesystem>
#include <string>

#include <daybook/result.hpp>

#include "host/os/os.hpp"
#include "host/os/unique_fd.hpp"

namespace daybook {

inline constexpr int kStateFormat = 1;

class StateFolder {
  public:
    /// Makes what is missing (0700; workspace 0770), takes the lock and checks the format.
    /// Errors: busy (another host holds it: says which process), unsupported (a newer format),
    /// corrupt (files but no format number, or no number in it), io, full.
    static Result<StateFolder> open(Os& os, const std::filesystem::path& path);

    [[nodiscard]] int dir() const noexcept { return dir_.get(); }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  private:
    StateFolder(std::filesystem::path path, UniqueFd dir, UniqueFd lock)
        : path_(std::move(path)), dir_(std::move(dir)), lock_(std::move(lock)) {}

    std::filesystem::path path_;
    UniqueFd dir_;
    UniqueFd lock_;  // held as long as the host lives
};

/// Makes a folder and its missing parents, 0700. Errors: io (names the folder and the system's
/// reason).
Result<> make_private_folders(const std::filesystem::path& path);

/// The folder of a control socket: makes it 0700 when missing, and refuses one that another user
/// owns or may write. Errors: refused, io.
Result<> prepare_socket_folder(const std::filesystem::path& folder);

}  // namespace daybook
