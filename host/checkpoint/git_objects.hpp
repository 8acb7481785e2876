// Git's objects as bytes: hashing, durable writing, checked reading, trees. Nothing above this
// level of libgit2 is used (no repository, index, checkout, filter or configuration), so nothing
// outside the bytes themselves has any effect.
//
// A written object is durable when write() returns: libgit2's loose backend syncs the file, links
// it and syncs its folder. Thread: [any] for one object each; several may be open on the same
// folder.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/os.hpp"

namespace daybook {

/// The SHA-1 that git knows an object by.
struct GitId {
    std::array<unsigned char, 20> bytes{};

    /// 40 hexadecimal digits, lower case.
    [[nodiscard]] std::string hex() const;
    static std::optional<GitId> from_hex(std::string_view text) noexcept;

    friend auto operator<=>(const GitId&, const GitId&) = default;
    friend bool operator==(const GitId&, const GitId&) = default;
};

enum class GitType { commit = 1, tree = 2, blob = 3 };

struct GitObject {
    GitType type = GitType::blob;
    std::string bytes;
};

/// Modes that a tree of ours holds.
inline constexpr unsigned kModeFolder = 0040000;
inline constexpr unsigned kModeFile = 0100644;
inline constexpr unsigned kModeProgram = 0100755;
inline constexpr unsigned kModeLink = 0120000;

struct TreeEntry {
    std::string name;  ///< raw bytes
    unsigned mode = kModeFile;
    GitId id;
};

/// In git's order (a folder's name compares as if it ended in "/").
[[nodiscard]] std::string encode_tree(std::vector<TreeEntry> entries);
/// Errors: corrupt.
Result<std::vector<TreeEntry>> decode_tree(std::string_view bytes);

class StagedObjects;

class GitObjects {
  public:
    /// `folder` is the repository's `objects` folder, `folder_fd` the same, opened; both outlive
    /// this. What is in `staged` is read before the folder. Errors: io.
    static Result<std::unique_ptr<GitObjects>> open(Os& os,
                                                    const std::filesystem::path& folder,
                                                    int folder_fd,
                                                    std::shared_ptr<StagedObjects> staged = {});
    ~GitObjects();
    GitObjects(const GitObjects&) = delete;
    GitObjects& operator=(const GitObjects&) = delete;
    GitObjects(GitObjects&&) = delete;
    GitObjects& operator=(GitObjects&&) = delete;

    [[nodiscard]] static GitId id_of(GitType type, std::string_view bytes);

    /// Durable when it returns. An object that is already there is read, compared and synced again
    /// (a crash may have come between its link and its sync); a broken one is replaced. Errors:
    /// full, io.
    ///
    /// While staging, it is put into memory instead and nothing else happens. No errors.
    Result<GitId> write(GitType type, std::string_view bytes);
    void set_staging(bool on) noexcept { is_staging_ = on; }
    /// Writes a loose file without a sync: a power cut may leave it empty. One that is there and
    /// can be read is left alone. For what stands in the record log. Errors: full, io.
    Result<> write_unsynced(const GitId& id, GitType type, std::string_view bytes);
    /// Removes the loose file, when there is one. Errors: io.
    Result<> remove_loose(const GitId& id);
    /// Whether a pack has the object, as far as the packs were known when last looked.
    [[nodiscard]] bool is_packed(const GitId& id) const;
    /// Looks for packs that came or went. Errors: io.
    Result<> refresh();
    /// Errors: not_found, corrupt (both name the object).
    [[nodiscard]] Result<GitObject> read(const GitId& id) const;
    /// The same, of one type. Errors: not_found, corrupt.
    [[nodiscard]] Result<std::string> read(const GitId& id, GitType type) const;
    /// Whether the object is there and its header can be read: finds files that a power cut left
    /// empty or full of NUL.
    [[nodiscard]] bool is_whole(const GitId& id) const;
    /// Bytes of the object's content. Errors: not_found, corrupt.
    [[nodiscard]] Result<std::uint64_t> size_of(const GitId& id) const;
    /// Removes the loose file, whatever it holds, and writes it anew. Errors: full, io.
    Result<> replace(GitType type, std::string_view bytes);
    /// Ids of every commit, for a repository that lost its tip. Errors: io.
    [[nodiscard]] Result<std::vector<GitId>> commits() const;

    /// Whether a write met EIO: the disk's word is not to be trusted again before the next start.
    [[nodiscard]] bool disk_failed() const noexcept { return disk_failed_; }

  private:
    struct Handles;
    GitObjects(Os& os,
               int folder_fd,
               std::unique_ptr<Handles> handles,
               std::shared_ptr<StagedObjects> staged);
    [[nodiscard]] Result<GitObject> read_from_folder(const GitId& id) const;
    Result<> write_new(const GitId& id, GitType type, std::string_view bytes);
    Result<> sync_existing(const std::string& name);

    Os& os_;
    int folder_fd_;
    std::unique_ptr<Handles> handles_;
    std::shared_ptr<StagedObjects> staged_;
    bool is_staging_ = false;
    bool disk_failed_ = false;
};

}  // namespace daybook
