// The tree of the newest commit, decoded and kept in memory: a change costs work along its own path
// only. Thread: [desk].
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/git_objects.hpp"

namespace daybook {

/// A file in a tree.
struct TreeFile {
    unsigned mode = kModeFile;
    GitId id;
    friend bool operator==(const TreeFile&, const TreeFile&) = default;
};

class FolderTree {
  public:
    FolderTree();
    ~FolderTree();
    FolderTree(FolderTree&&) noexcept;
    FolderTree& operator=(FolderTree&&) noexcept;
    FolderTree(const FolderTree&) = delete;
    FolderTree& operator=(const FolderTree&) = delete;

    /// Errors: not_found, corrupt (both name the object).
    static Result<FolderTree> load(const GitObjects& objects, const GitId& root);

    [[nodiscard]] std::optional<TreeFile> find(std::string_view path) const;
    /// A folder in the file's place goes, and a file in a folder's place.
    void set(std::string_view path, const TreeFile& file);
    void remove(std::string_view path);
    /// set() or remove().
    void put(std::string_view path, const std::optional<TreeFile>& file);

    /// Writes the trees that changed since the last time, deepest first, and returns the root's id.
    /// Empty folders are left out. Errors: full, io. What is in memory stays as it was asked for.
    Result<GitId> write(GitObjects& objects);
    /// Calls `visit` with each tree's bytes, deepest first, whether changed or not; for healing.
    void encode(const std::function<void(const std::string& bytes)>& visit);

    /// In the order of paths' components.
    [[nodiscard]] std::map<std::string, TreeFile> files() const;
    /// Ids of the trees from the root down to the file's folder; those that changed since they were
    /// last written have none.
    [[nodiscard]] std::vector<GitId> trees_above(std::string_view path) const;
    /// Ids of every tree but the root, by folder.
    [[nodiscard]] std::map<std::string, GitId> folders() const;

  private:
    struct Folder;
    std::unique_ptr<Folder> root_;
};

}  // namespace daybook
