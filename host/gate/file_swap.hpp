// Puts a new content in a file's place so that at every instant the file is wholly old or wholly
// new, and that nothing which the owner saves in between is lost.
//
// The new content is written beside the file and synced; then the two names are exchanged, and what
// came out is compared with what was expected. Something else came out: the owner saved in that
// instant, and both are exchanged back until the owner's newest version stands. Thread: [desk].
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <daybook/result.hpp>

#include "host/gate/trash.hpp"
#include "host/os/desk_path.hpp"
#include "host/os/file_lease.hpp"
#include "host/os/os.hpp"

namespace daybook {

class FileSwap {
  public:
    /// All are borrowed and outlive this. With a trash what is replaced goes there, and is looked
    /// at again later; `desk` is the desk's folder beneath the trash's root.
    FileSwap(Os& os, int desk_dir, Trash* trash = nullptr, std::string desk = "")
        : os_(os), desk_dir_(desk_dir), trash_(trash), desk_(std::move(desk)) {}

    /// Whether the folder is synced after a rename that went as planned; on at first. Off where the
    /// checkpoint's record does a lost rename again.
    void set_folder_sync(bool on) noexcept { syncs_folder_ = on; }

    /// Replaces a file whose content has the hash `expected` ("" = makes a new one). Makes missing
    /// folders. Mode, owner and group of the file are kept as far as the system allows it. Errors:
    /// conflict (the owner was there; the file is the owner's), refused (a link or another kind of
    /// file), full, io,
    /// busy (somebody has it open for writing). `checkpoint` is the one before it.
    Result<> replace(const DeskPath& path,
                     std::string_view expected,
                     std::string_view content,
                     std::string_view checkpoint = "");
    /// Removes a file whose content has that hash. Errors: conflict, refused, not_found, io.
    Result<> remove(const DeskPath& path,
                    std::string_view expected,
                    std::string_view checkpoint = "");

    /// What the owner had saved and then replaced while the two of us were at the same file; read
    /// before it was removed. Empties the list.
    [[nodiscard]] std::vector<std::string> take_superseded() {
        return std::exchange(superseded_, {});
    }
    /// Why nothing may be written any more before the next start: a sync failed.
    [[nodiscard]] const std::optional<std::string>& sync_failure() const noexcept {
        return sync_failure_;
    }

    /// The name that the new content has beside the file until the exchange.
    [[nodiscard]] static std::string temporary_name(const DeskPath& path);

    /// A temporary file that a crash or a failure left.
    struct Leftover {
        bool is_unfinished = false;  ///< it was still being written: ours, worth nothing
        bool is_plain = false;       ///< a regular file that could be read
        std::string content;
        struct stat status {};
    };
    /// nullopt: there is none. Errors: io.
    Result<std::optional<Leftover>> find_leftover(const DeskPath& path);
    /// Puts it in the file's place, and the file in its. Errors: io, full.
    Result<> exchange_with_leftover(const DeskPath& path);
    /// Errors: io.
    Result<> remove_leftover(const DeskPath& path);

  private:
    struct Identity {
        dev_t device = 0;
        ino_t inode = 0;
        friend bool operator==(const Identity&, const Identity&) = default;
    };
    struct Written {
        UniqueFd fd;  ///< kept open: its inode number is not given away while we compare
        Identity identity;
    };
    struct Look {
        unsigned mode = 0600;
        uid_t owner = 0;
        gid_t group = 0;
    };
    struct CameOut {
        UniqueFd fd;
        Identity identity;
        std::optional<std::string> content;  ///< nullopt: not a regular file, or too large
    };
    Result<std::optional<struct stat>> target_status(const DeskPath& path);
    Result<Written> write_temporary(const DeskPath& path,
                                    const std::optional<struct stat>& target,
                                    std::string_view content);
    Result<> fill(int fd, const Look& look, std::string_view content);
    Result<Look> look_of(const DeskPath& path, const std::optional<struct stat>& target);
    Result<CameOut> look_at_temporary(const DeskPath& path);
    Result<> swap_back(const DeskPath& path,
                       Written ours,
                       std::string_view content,
                       CameOut theirs,
                       std::string_view checkpoint);
    struct Held {
        UniqueFd fd;
        FileLease lease;
    };
    Result<std::optional<Held>> hold(const DeskPath& path);
    /// The temporary file, whose content has that hash, goes into the trash, or for good.
    void retire(const DeskPath& path,
                std::string_view sha256,
                std::size_t bytes,
                std::string_view checkpoint,
                bool replaced);
    Result<> sync(int fd);
    Result<> sync_folder(const DeskPath& path);
    Result<> finish_rename(const DeskPath& path);

    Os& os_;
    int desk_dir_;
    Trash* trash_;
    std::string desk_;
    bool syncs_folder_ = true;
    std::optional<std::string> sync_failure_;
    std::vector<std::string> superseded_;
};

}  // namespace daybook
