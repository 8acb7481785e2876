#include "host/checkpoint/stored_tree.hpp"

#include "host/checkpoint/checkpoint_impl.hpp"

namespace daybook {

StoredTree stored_tree_of(const std::map<std::string, TreeFile>& files, Attributes attributes) {
    StoredTree tree;
    for (const auto& [path, file] : files) {
        if (!path.starts_with(".daybook/")) {
            const unsigned permissions =
                file.mode == kModeLink ? 0 : attributes.permissions_of(path, file);
            tree.files[path] = StoredFile{file, permissions};
        }
    }
    tree.attributes = std::move(attributes);
    return tree;
}

namespace {

Result<StoredTree> read_tree(const GitObjects& objects, std::string_view commit) {
    const auto id = GitId::from_hex(commit);
    auto bytes = id ? objects.read(*id, GitType::commit)
                    : Result<std::string>(Error(Errc::invalid, "malformed commit id"));
    auto record = bytes ? CommitRecord::parse(*bytes) : Result<CommitRecord>(bytes.error());
    auto folders =
        record ? FolderTree::load(objects, record->tree) : Result<FolderTree>(record.error());
    if (!folders) {
        return folders.error();
    }
    Attributes attributes;
    if (const auto file = folders->find(kAttributesFile)) {
        auto text = objects.read(file->id, GitType::blob);
        if (!text) {
            return text.error();
        }
        attributes = Attributes::parse(*text);
    }
    StoredTree tree = stored_tree_of(folders->files(), std::move(attributes));
    tree.id = record->tree;
    return tree;
}

}  // namespace

Result<std::unique_ptr<GitObjects>> CheckpointStore::open_objects() const {
    return impl_->repository->open_reader();
}

Result<StoredTree> CheckpointStore::tree(const Checkpoint& checkpoint) const {
    const std::string doing = "read checkpoint " + checkpoint.id;
    auto reader = impl_->repository->open_reader();
    auto tree =
        reader ? read_tree(**reader, checkpoint.commit) : Result<StoredTree>(reader.error());
    return tree ? std::move(tree) : tree.error().during(doing);
}

StoredTree CheckpointStore::head_tree() const {
    return stored_tree_of(impl_->tree.files(), impl_->attributes);
}

Result<StoredTree> CheckpointStore::tree_on_disk(
    std::map<std::string, std::string>* contents) const {
    FileScan scan(impl_->os, impl_->desk_dir);
    auto found = scan.run([&](const std::string& path, const std::string& content) -> Result<> {
        if (contents != nullptr) {
            (*contents)[path] = content;
        }
        return {};
    });
    if (!found) {
        return found.error().during("read the desk's files");
    }
    Attributes attributes = found->attributes();
    StoredTree tree = stored_tree_of(found->files, std::move(attributes));
    tree.skipped = std::move(found->skipped);
    return tree;
}

}  // namespace daybook
