// CheckpointStore around a restore of many files: the checkpoint before it, and the commit of what
// it left. The files themselves are the gate's.
#include "host/checkpoint/checkpoint_impl.hpp"
#include "host/checkpoint/restore_intent.hpp"
#include "host/checkpoint/stored_tree.hpp"

namespace daybook {
namespace {

Error no_checkpoint(const Error& cause, std::string_view what) {
    return cause.code() == Errc::no_checkpoint
               ? cause
               : Error(Errc::no_checkpoint, std::string(what) + ": " + cause.message());
}

}  // namespace

Result<Checkpoint> CheckpointStore::begin_restore(const CheckpointReason& why,
                                                  const std::string& file) {
    const std::string doing = "checkpoint before restoring " + why.restores;
    if (auto edits = impl_->record_edits(); !edits) {
        return no_checkpoint(edits.error(), doing);
    }
    CommitRecord record;
    record.subject = why.reason;
    record.kind = "restore";
    record.file = file;
    record.why = why;
    auto made = impl_->commit_checkpoint(std::move(record), {});
    return made ? made : no_checkpoint(made.error(), doing);
}

Result<> CheckpointStore::finish_restore(
    const Checkpoint& before,
    const std::map<std::string, std::optional<TreeFile>>& files,
    const Attributes& attributes) {
    std::vector<Impl::Change> changes;
    for (const auto& [path, file] : files) {
        impl_->scan.forget(path);
        changes.emplace_back(path, file);
    }
    auto with_attributes = impl_->attributes_change(attributes);
    if (!with_attributes) {
        return no_checkpoint(with_attributes.error(), "commit what was restored");
    }
    if (*with_attributes) {
        changes.push_back(std::move(**with_attributes));
    }
    CommitRecord record;
    record.subject = before.why.reason.empty() ? "restored" : "done: " + before.why.reason;
    record.written = before.number;
    record.why = before.why;
    record.why.reason.clear();
    record.why.restores.clear();
    record.skipped = impl_->skipped;
    auto made = impl_->commit(std::move(record), changes);
    if (!made) {
        return no_checkpoint(made.error(), "commit what was restored");
    }
    return {};
}

void CheckpointStore::set_ledger(std::string_view text) {
    impl_->ledger = std::string(text);
}

Result<> CheckpointStore::Impl::add_ledger(std::vector<Change>& changes) {
    const std::string path(kLedgerFile);
    if (ledger.empty()) {
        return {};
    }
    const TreeFile file{kModeFile, GitObjects::id_of(GitType::blob, ledger)};
    if (tree.find(path) == file) {
        return {};
    }
    auto written = repository->objects().write(GitType::blob, ledger);
    if (!written) {
        return written.error().during("mirror the ledger");
    }
    changes.emplace_back(path, file);
    return {};
}

Result<std::string> CheckpointStore::ledger(const Checkpoint& checkpoint) const {
    const std::string doing = "read the ledger of checkpoint " + checkpoint.id;
    const auto id = GitId::from_hex(checkpoint.commit);
    auto objects = impl_->repository->open_reader();
    auto bytes = !objects ? Result<std::string>(objects.error())
                 : id     ? (*objects)->read(*id, GitType::commit)
                          : Result<std::string>(Error(Errc::invalid, "malformed commit id"));
    auto record = bytes ? CommitRecord::parse(*bytes) : Result<CommitRecord>(bytes.error());
    auto folders =
        record ? FolderTree::load(**objects, record->tree) : Result<FolderTree>(record.error());
    if (!folders) {
        return folders.error().during(doing);
    }
    const auto file = folders->find(kLedgerFile);
    return file ? (*objects)->read(file->id, GitType::blob) : Result<std::string>(std::string());
}

Result<std::optional<CheckpointStore::Impl::Change>> CheckpointStore::Impl::attributes_change(
    const Attributes& wanted) {
    wanted_attributes = wanted;
    const std::string path(kAttributesFile);
    const std::string text = wanted.encode();
    const auto known = tree.find(path);
    if (text.empty()) {
        return known ? std::optional<Change>(Change(path, std::nullopt)) : std::nullopt;
    }
    const TreeFile file{kModeFile, GitObjects::id_of(GitType::blob, text)};
    if (known == file) {
        return std::optional<Change>();
    }
    if (auto written = repository->objects().write(GitType::blob, text); !written) {
        return written.error();
    }
    return std::optional<Change>(Change(path, file));
}

Result<std::optional<CheckpointStore::Impl::Change>> CheckpointStore::Impl::attributes_after(
    const std::string& path, const std::optional<TreeFile>& file, unsigned permissions) {
    Attributes wanted = attributes;
    bool changed = false;
    if (file) {
        changed = wanted.note_file(path, *file, permissions);
    } else {
        changed = wanted.forget_file(path);
        const std::size_t slash = path.rfind('/');
        const std::string folder = path.substr(0, slash == std::string::npos ? 0 : slash);
        const auto left =
            folder.empty()
                ? Result<std::vector<DirectoryEntry>>(Error(Errc::not_found, "no folder"))
                : os.list(desk_dir, folder);
        const auto status = os.stat_beneath(desk_dir, folder);
        if (left && left->empty() && status) {
            changed = wanted.note_empty_folder(folder, status->st_mode & 07777U) || changed;
        }
    }
    return changed ? attributes_change(wanted) : Result<std::optional<Change>>(std::nullopt);
}

}  // namespace daybook
