#include "host/checkpoint/folder_tree.hpp"

#include <utility>

namespace daybook {
namespace {

/// Cuts the first component off; false when there is only one.
bool split_first(std::string_view path, std::string_view& first, std::string_view& rest) {
    const std::size_t slash = path.find('/');
    first = path.substr(0, slash);
    rest = slash == std::string_view::npos ? std::string_view{} : path.substr(slash + 1);
    return slash != std::string_view::npos;
}

}  // namespace

struct FolderTree::Folder {
    std::map<std::string, TreeFile, std::less<>> files;
    std::map<std::string, std::unique_ptr<Folder>, std::less<>> folders;
    std::optional<GitId> id;  ///< of its tree, unless something below has changed

    [[nodiscard]] bool is_empty() const {
        if (!files.empty()) {
            return false;
        }
        for (const auto& [name, folder] : folders) {
            if (!folder->is_empty()) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] std::vector<TreeEntry> entries() const {
        std::vector<TreeEntry> entries;
        for (const auto& [name, file] : files) {
            entries.push_back({name, file.mode, file.id});
        }
        for (const auto& [name, folder] : folders) {
            if (folder->id && !folder->is_empty()) {
                entries.push_back({name, kModeFolder, *folder->id});
            }
        }
        return entries;
    }

    Result<> load(const GitObjects& objects, const GitId& tree, int depth) {
        constexpr int kMaxDepth = 128;
        if (depth > kMaxDepth) {
            return Error(Errc::corrupt,
                         "read checkpoint object " + tree.hex() + ": folders nested too deep");
        }
        auto bytes = objects.read(tree, GitType::tree);
        if (!bytes) {
            return bytes.error();
        }
        auto entries_read = decode_tree(*bytes);
        if (!entries_read) {
            return entries_read.error().during("read checkpoint object " + tree.hex());
        }
        for (TreeEntry& entry : *entries_read) {
            if (entry.mode != kModeFolder) {
                files[entry.name] = TreeFile{entry.mode, entry.id};
                continue;
            }
            auto folder = std::make_unique<Folder>();
            if (auto loaded = folder->load(objects, entry.id, depth + 1); !loaded) {
                return loaded;
            }
            folders[entry.name] = std::move(folder);
        }
        id = tree;
        return {};
    }

    Result<GitId> write(GitObjects& objects) {
        if (id) {
            return *id;
        }
        for (auto& [name, folder] : folders) {
            if (folder->is_empty()) {
                continue;
            }
            if (auto written = folder->write(objects); !written) {
                return written.error();
            }
        }
        auto written = objects.write(GitType::tree, encode_tree(entries()));
        if (written) {
            id = *written;
        }
        return written;
    }

    void encode(const std::function<void(const std::string& bytes)>& visit) {
        for (auto& [name, folder] : folders) {
            if (!folder->is_empty()) {
                folder->encode(visit);
            }
        }
        const std::string bytes = encode_tree(entries());
        id = GitObjects::id_of(GitType::tree, bytes);
        visit(bytes);
    }

    void set(std::string_view path, const TreeFile& file) {
        id.reset();
        std::string_view first;
        std::string_view rest;
        if (!split_first(path, first, rest)) {
            folders.erase(std::string(first));
            files.insert_or_assign(std::string(first), file);
            return;
        }
        files.erase(std::string(first));
        auto& folder = folders[std::string(first)];
        if (!folder) {
            folder = std::make_unique<Folder>();
        }
        folder->set(rest, file);
    }

    void remove(std::string_view path) {
        std::string_view first;
        std::string_view rest;
        id.reset();
        if (!split_first(path, first, rest)) {
            files.erase(std::string(first));
            return;
        }
        const auto found = folders.find(first);
        if (found != folders.end()) {
            found->second->remove(rest);
            if (found->second->is_empty()) {
                folders.erase(found);
            }
        }
    }

    void collect_files(const std::string& prefix, std::map<std::string, TreeFile>& into) const {
        for (const auto& [name, file] : files) {
            into[prefix + name] = file;
        }
        for (const auto& [name, folder] : folders) {
            folder->collect_files(prefix + name + "/", into);
        }
    }

    void collect_folders(const std::string& prefix, std::map<std::string, GitId>& into) const {
        for (const auto& [name, folder] : folders) {
            if (folder->id) {
                into[prefix + name] = *folder->id;
            }
            folder->collect_folders(prefix + name + "/", into);
        }
    }
};

FolderTree::FolderTree() : root_(std::make_unique<Folder>()) {}
FolderTree::~FolderTree() = default;
FolderTree::FolderTree(FolderTree&&) noexcept = default;
FolderTree& FolderTree::operator=(FolderTree&&) noexcept = default;

Result<FolderTree> FolderTree::load(const GitObjects& objects, const GitId& root) {
    FolderTree tree;
    if (auto loaded = tree.root_->load(objects, root, 0); !loaded) {
        return loaded.error();
    }
    return tree;
}

std::optional<TreeFile> FolderTree::find(std::string_view path) const {
    const Folder* folder = root_.get();
    std::string_view first;
    std::string_view rest;
    while (split_first(path, first, rest)) {
        const auto found = folder->folders.find(first);
        if (found == folder->folders.end()) {
            return std::nullopt;
        }
        folder = found->second.get();
        path = rest;
    }
    const auto found = folder->files.find(first);
    return found == folder->files.end() ? std::nullopt : std::optional<TreeFile>(found->second);
}

std::vector<GitId> FolderTree::trees_above(std::string_view path) const {
    std::vector<GitId> ids;
    const Folder* folder = root_.get();
    std::string_view first;
    std::string_view rest;
    while (folder != nullptr) {
        if (folder->id) {
            ids.push_back(*folder->id);
        }
        const bool has_more = split_first(path, first, rest);
        const auto found = has_more ? folder->folders.find(first) : folder->folders.end();
        folder = found == folder->folders.end() ? nullptr : found->second.get();
        path = rest;
    }
    return ids;
}

void FolderTree::set(std::string_view path, const TreeFile& file) {
    root_->set(path, file);
}

void FolderTree::remove(std::string_view path) {
    root_->remove(path);
}

void FolderTree::put(std::string_view path, const std::optional<TreeFile>& file) {
    if (file) {
        set(path, *file);
    } else {
        remove(path);
    }
}

Result<GitId> FolderTree::write(GitObjects& objects) {
    return root_->write(objects);
}

void FolderTree::encode(const std::function<void(const std::string& bytes)>& visit) {
    root_->encode(visit);
}

std::map<std::string, TreeFile> FolderTree::files() const {
    std::map<std::string, TreeFile> found;
    root_->collect_files("", found);
    return found;
}

std::map<std::string, GitId> FolderTree::folders() const {
    std::map<std::string, GitId> found;
    root_->collect_folders("", found);
    return found;
}

}  // namespace daybook
