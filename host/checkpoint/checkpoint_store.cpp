#include "host/checkpoint/checkpoint_store.hpp"

#include <algorithm>

#include "host/checkpoint/checkpoint_impl.hpp"
#include "host/format/sha256.hpp"

namespace daybook {
namespace {

std::string hash_of(const std::optional<FileOnDisk>& file) {
    return file ? sha256_hex(file->content) : std::string();
}

std::string short_hash(std::string_view sha256) {
    return sha256.empty() ? "absent" : std::string(sha256.substr(0, 12));
}

/// Whatever kept a checkpoint from being made: the caller must not write. What is the file's own
/// fault keeps its code.
Error no_checkpoint(const Error& cause, std::string_view what) {
    const bool own_code = cause.code() == Errc::conflict || cause.code() == Errc::refused ||
                          cause.code() == Errc::no_checkpoint;
    return own_code ? cause
                    : Error(Errc::no_checkpoint, std::string(what) + ": " + cause.message());
}

bool is_usual(unsigned permissions) {
    return permissions == 0644 || permissions == 0755;
}

}  // namespace

std::optional<GitId> CheckpointStore::Impl::head() const {
    const std::lock_guard lock(head_mutex_);
    return head_;
}

void CheckpointStore::Impl::set_head(const GitId& id) {
    const std::lock_guard lock(head_mutex_);
    head_ = id;
}

Result<GitId> CheckpointStore::Impl::commit(CommitRecord record, std::vector<Change> changes) {
    if (const auto failure = repository->failure()) {
        return Error(Errc::io,
                     "checkpoints are closed until the next start, a sync failed: " + *failure);
    }
    if (auto added = add_ledger(changes); !added) {
        return added.error();
    }
    std::vector<Change> undo;
    for (const auto& [path, file] : changes) {
        undo.emplace_back(path, tree.find(path));
        tree.put(path, file);
    }
    const auto put_back = [&](const Error& error) {
        for (auto change = undo.rbegin(); change != undo.rend(); ++change) {
            tree.put(change->first, change->second);
        }
        return error;
    };
    auto root = tree.write(repository->objects());
    if (!root) {
        return put_back(root.error());
    }
    const bool has_attributes =
        std::any_of(changes.begin(), changes.end(), [](const Change& change) {
            return change.first == kAttributesFile;
        });
    for (const auto& [path, permissions] :
         (has_attributes ? wanted_attributes : attributes).empty_folders()) {
        record.empty_folders.push_back(path);
    }
    record.tree = *root;
    record.parent = head();
    record.at = clock.now();
    const std::string bytes = record.encode();
    auto id = repository->objects().write(GitType::commit, bytes);
    if (!id) {
        return put_back(id.error());
    }
    auto moved = Repository::Moved::no;
    const Result<> done = materialiser ? log_commit(record, bytes, *id, changes, &moved)
                                       : repository->move_tip(*id, &moved);
    if (!done && moved == Repository::Moved::no) {
        return put_back(done.error());
    }
    set_head(*id);
    if (has_attributes) {
        attributes = std::exchange(wanted_attributes, {});
    }
    next_number = std::max(next_number, record.number + 1);
    if (!done) {
        return done.error();
    }
    return *id;
}

Result<Checkpoint> CheckpointStore::Impl::commit_checkpoint(CommitRecord record,
                                                            const std::vector<Change>& changes) {
    record.number = next_number;
    record.skipped = skipped;
    auto id = commit(record, changes);
    if (!id) {
        return id.error();
    }
    if (!pending || !pending->written) {
        pending.reset();
    }
    record.at = std::chrono::floor<std::chrono::seconds>(clock.now());
    Checkpoint checkpoint = record.to_checkpoint();
    checkpoint.commit = id->hex();
    return checkpoint;
}

Result<std::optional<Checkpoint>> CheckpointStore::Impl::settle_pending() {
    if (!pending) {
        return std::optional<Checkpoint>();
    }
    const Pending announced = *pending;
    if (announced.written) {
        auto done = commit_written(announced.checkpoint, announced.file, *announced.written);
        return done ? Result<std::optional<Checkpoint>>(announced.checkpoint) : done.error();
    }
    auto now = read_target(os, desk_dir, announced.file);
    if (!now && now.error().code() != Errc::refused) {
        return now.error();
    }
    if (!now || hash_of(*now) != announced.intended_sha256) {
        // It did not happen, or the owner has been there since: found by the caller.
        log_not_written();
        pending.reset();
        return std::optional<Checkpoint>();
    }
    const auto content = *now ? std::optional<std::string>((*now)->content) : std::nullopt;
    if (auto recorded = record_written(announced.checkpoint, announced.file, content); !recorded) {
        return recorded.error();
    }
    return std::optional<Checkpoint>(announced.checkpoint);
}

Result<> CheckpointStore::Impl::record_edit_of(const std::string& path,
                                               const std::optional<FileOnDisk>& now) {
    std::optional<TreeFile> file;
    CommitRecord record;
    if (now) {
        file = TreeFile{now->tree_mode(), GitObjects::id_of(GitType::blob, now->content)};
        if (!is_usual(now->permissions)) {
            record.modes.push_back(octal_text(now->permissions) + " " + quote_path(path));
        }
    }
    auto noted = attributes_after(path, file, now ? now->permissions : 0);
    if (!noted) {
        return noted.error();
    }
    if (file == tree.find(path) && !*noted) {
        return {};
    }
    if (now) {
        if (auto written = repository->objects().write(GitType::blob, now->content); !written) {
            return written.error();
        }
    }
    std::vector<Change> changes = {{path, file}};
    if (*noted) {
        changes.push_back(std::move(**noted));
    }
    record.subject = "edited outside the host: " + path;
    record.kind = "edited";
    record.file = path;
    auto made = commit_checkpoint(std::move(record), changes);
    return made ? Result<>() : Result<>(made.error());
}

Result<> CheckpointStore::Impl::read_former(const std::string& path) const {
    const GitObjects& objects = repository->objects();
    if (const auto newest = head()) {
        if (auto commit = objects.read(*newest, GitType::commit); !commit) {
            return commit.error();
        }
    }
    for (const GitId& id : tree.trees_above(path)) {
        if (auto folder = objects.read(id, GitType::tree); !folder) {
            return folder.error();
        }
    }
    if (const auto file = tree.find(path)) {
        if (auto content = objects.read(file->id, GitType::blob); !content) {
            return content.error();
        }
    }
    return {};
}

Result<> CheckpointStore::Impl::check_former(const std::string& path) {
    if (read_former(path)) {
        return {};
    }
    if (auto healed = heal_from_files(); !healed) {
        return healed;
    }
    return read_former(path);
}

Result<Checkpoint> CheckpointStore::Impl::take(std::string_view kind,
                                               const DeskPath& path,
                                               std::string_view expected,
                                               std::string_view intended,
                                               const CheckpointReason& why,
                                               std::optional<std::string_view> content) {
    if (!path.is_own()) {
        return Error(Errc::refused, "write " + path.str() + ": not one of the desk's own files");
    }
    if (auto settled = settle_pending(); !settled) {
        return settled.error();
    }
    auto now = read_target(os, desk_dir, path.str());
    if (!now) {
        return now.error();
    }
    scan.forget(path.str());
    if (auto recorded = record_edit_of(path.str(), *now); !recorded) {
        return recorded.error();
    }
    const std::string base = hash_of(*now);
    if (base != expected) {
        return Error(Errc::conflict,
                     "write " + path.str() + ": the file has changed (expected " +
                         short_hash(expected) + ", found " + short_hash(base) + ")");
    }
    if (auto sound = check_former(path.str()); !sound) {
        return sound.error();
    }
    CommitRecord record;
    record.subject = why.reason.empty() ? "write " + path.str() : why.reason;
    record.kind = std::string(kind);
    record.why = why;
    record.file = path.str();
    record.base_sha256 = base;
    record.intended_sha256 = std::string(intended);
    if (*now && !is_usual((*now)->permissions)) {
        record.modes.push_back(octal_text((*now)->permissions) + " " + quote_path(path.str()));
    }
    log_not_written();  // an earlier one that was given up
    announcing = LoggedWrite{path.str(),
                             base,
                             std::string(intended),
                             content ? std::optional<std::string>(*content) : std::nullopt,
                             *now ? (*now)->inode : 0,
                             *now ? (*now)->modified : 0};
    auto made = commit_checkpoint(std::move(record), {});
    announcing.reset();
    if (made) {
        pending = Pending{*made, path.str(), std::string(intended), {}};
    }
    return made;
}

Result<Checkpoint> CheckpointStore::Impl::keep_refused(const std::string& path,
                                                       std::string_view content,
                                                       const CheckpointReason& why) {
    auto blob = repository->objects().write(GitType::blob, content);
    if (!blob) {
        return blob.error();
    }
    CommitRecord record;
    record.subject = "conflict: " + path;
    record.kind = "conflict";
    record.why = why;
    record.file = path;
    const std::string place = std::string(kConflictFolder) + "c-" + std::to_string(next_number);
    auto made = commit_checkpoint(std::move(record), {{place, TreeFile{kModeFile, *blob}}});
    tree.remove(place);  // of this one commit only
    return made;
}

Result<> CheckpointStore::Impl::record_written(const Checkpoint& checkpoint,
                                               const std::string& path,
                                               const std::optional<std::string>& content) {
    auto done = commit_written(checkpoint, path, content);
    if (!done) {
        pending = Pending{checkpoint, path, content ? sha256_hex(*content) : "", content};
    }
    return done;
}

Result<> CheckpointStore::Impl::commit_written(const Checkpoint& checkpoint,
                                               const std::string& path,
                                               const std::optional<std::string>& content) {
    std::optional<TreeFile> file;
    unsigned permissions = 0644;
    if (content) {
        auto status = os.stat_beneath(desk_dir, path);
        if (!status && status.error().code() != Errc::not_found) {
            return status.error();
        }
        permissions = status && S_ISREG(status->st_mode) ? status->st_mode & 07777U : permissions;
        const bool runs = (permissions & 0111U) != 0;
        auto id = repository->objects().write(GitType::blob, *content);
        if (!id) {
            return id.error();
        }
        file = TreeFile{runs ? kModeProgram : kModeFile, *id};
    }
    scan.forget(path);
    auto noted = attributes_after(path, file, permissions);
    if (!noted) {
        return noted.error();
    }
    std::vector<Change> changes = {{path, file}};
    if (*noted) {
        changes.push_back(std::move(**noted));
    }
    CommitRecord record;
    record.subject = (content ? "wrote " : "removed ") + path;
    record.written = checkpoint.number;
    record.why.call = checkpoint.why.call;
    record.why.tool = checkpoint.why.tool;
    record.why.turn = checkpoint.why.turn;
    record.why.promotion = checkpoint.why.promotion;
    record.file = path;
    record.left_sha256 = content ? sha256_hex(*content) : std::string();
    record.skipped = skipped;
    auto made = commit(std::move(record), changes);
    if (!made) {
        return made.error();
    }
    pending.reset();
    return {};
}

Result<std::vector<CheckpointStore::Impl::Change>> CheckpointStore::Impl::find_edits() {
    const FileScan::OnContent store = [this](const std::string& path,
                                             const std::string& content) -> Result<> {
        const auto known = tree.find(path);
        if (known && known->id == GitObjects::id_of(GitType::blob, content)) {
            return {};
        }
        auto written = repository->objects().write(GitType::blob, content);
        return written ? Result<>() : Result<>(written.error());
    };
    auto found = scan.run(store);
    if (!found) {
        return found.error();
    }
    skipped = std::move(found->skipped);
    std::vector<Change> changes;
    const auto known = tree.files();
    for (const auto& [path, file] : known) {
        // What is there and cannot be read now stays as it was last seen.
        if (!path.starts_with(".daybook/") && !found->files.contains(path) &&
            !found->unreadable.contains(path) && !awaiting_redo.contains(path)) {
            changes.emplace_back(path, std::nullopt);
        }
    }
    for (const auto& [path, file] : found->files) {
        const auto before = known.find(path);
        if ((before == known.end() || before->second != file) && !awaiting_redo.contains(path)) {
            changes.emplace_back(path, file);
        }
    }
    Attributes now = found->attributes();
    if (!now.is_same(attributes, found->files)) {
        auto changed = attributes_change(now);
        if (!changed) {
            return changed.error();
        }
        if (*changed) {
            changes.push_back(std::move(**changed));
        }
    }
    return changes;
}

Result<std::optional<Checkpoint>> CheckpointStore::Impl::record_edits(bool* files_changed) {
    if (auto settled = settle_pending(); !settled) {
        return settled.error();
    }
    auto changes = find_edits();
    if (!changes) {
        return changes.error();
    }
    if (changes->empty()) {
        return std::optional<Checkpoint>();
    }
    CommitRecord record;
    record.kind = "edited";
    record.subject = "edited outside the host: ";
    const auto files = static_cast<std::size_t>(
        std::count_if(changes->begin(), changes->end(), [](const Change& change) {
            return change.first != kAttributesFile;
        }));
    if (files_changed != nullptr) {
        *files_changed = files > 0;  // a write that failed may have left a folder
    }
    if (files == 1) {
        record.file = changes->front().first;
        record.subject += quote_path(record.file);
    } else {
        record.subject += files == 0 ? "modes or empty folders" : std::to_string(files) + " files";
    }
    auto made = commit_checkpoint(std::move(record), *changes);
    if (!made) {
        return made.error();
    }
    return std::optional<Checkpoint>(std::move(*made));
}

CheckpointStore::CheckpointStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CheckpointStore::~CheckpointStore() = default;

Result<std::unique_ptr<CheckpointStore>> CheckpointStore::open(
    Os& os,
    const Clock& clock,
    int desk_dir,
    const std::filesystem::path& repository,
    std::string desk,
    CheckpointForm form) {
    auto impl = std::make_unique<Impl>(os, clock, desk_dir, std::move(desk));
    impl->form = form;
    if (auto opened = impl->open(repository); !opened) {
        const Error& error = opened.error();
        return error.code() != Errc::corrupt
                   ? error
                   : Error(error.code(),
                           error.message() + "; put a copy of " + repository.string() +
                               " back, or move it aside: the desk's files stay, and a new one "
                               "begins with them");
    }
    return std::unique_ptr<CheckpointStore>(new CheckpointStore(std::move(impl)));
}

const CheckpointRecovery& CheckpointStore::recovery() const noexcept {
    return impl_->recovery;
}

Result<std::optional<Checkpoint>> CheckpointStore::record_owner_edits() {
    auto made = impl_->record_edits();
    return made ? made : no_checkpoint(made.error(), "checkpoint of edits outside the host");
}

Result<Checkpoint> CheckpointStore::take(const DeskPath& path,
                                         std::string_view expected_sha256,
                                         std::string_view intended_sha256,
                                         const CheckpointReason& why,
                                         std::optional<std::string_view> content) {
    auto made = impl_->take("write", path, expected_sha256, intended_sha256, why, content);
    return made ? made : no_checkpoint(made.error(), "checkpoint before writing " + path.str());
}

Result<Checkpoint> CheckpointStore::take_for_restore(const DeskPath& path,
                                                     std::string_view expected_sha256,
                                                     std::string_view intended_sha256,
                                                     const CheckpointReason& why,
                                                     std::optional<std::string_view> content) {
    auto made = impl_->take("restore", path, expected_sha256, intended_sha256, why, content);
    return made ? made : no_checkpoint(made.error(), "checkpoint before restoring " + path.str());
}

Result<> CheckpointStore::record_written(const Checkpoint& checkpoint,
                                         const DeskPath& path,
                                         const std::optional<std::string>& content) {
    auto done = impl_->record_written(checkpoint, path.str(), content);
    return done ? done : no_checkpoint(done.error(), "commit what was written to " + path.str());
}

Result<Checkpoint> CheckpointStore::keep_conflict(const DeskPath& path,
                                                  std::string_view refused_content,
                                                  const CheckpointReason& why) {
    auto made = impl_->keep_refused(path.str(), refused_content, why);
    return made ? made : no_checkpoint(made.error(), "keep the refused text for " + path.str());
}

Result<Checkpoint> CheckpointStore::take_manual(std::string_view reason) {
    if (auto edits = impl_->record_edits(); !edits) {
        return no_checkpoint(edits.error(), "checkpoint by hand");
    }
    CommitRecord record;
    record.subject = reason.empty() ? "checkpoint by hand" : std::string(reason);
    record.kind = "manual";
    record.why.reason = std::string(reason);
    auto made = impl_->commit_checkpoint(std::move(record), {});
    return made ? made : no_checkpoint(made.error(), "checkpoint by hand");
}

}  // namespace daybook
