// Opening a store: which commit is the newest, whether everything that it holds can be read, what a
// crash left half done, and what the owner changed meanwhile.
#include <algorithm>
#include <tuple>

#include "host/checkpoint/checkpoint_impl.hpp"
#include "host/checkpoint/restore_intent.hpp"

namespace daybook {
namespace {

std::string object_name(const GitId& id) {
    const std::string hex = id.hex();
    return "objects/" + hex.substr(0, 2) + "/" + hex.substr(2);
}

/// Later commits compare greater: what a checkpoint's write left comes after the checkpoint.
std::pair<std::uint64_t, bool> age_of(const CommitRecord& record) {
    return {std::max(record.number, record.written), record.written != 0};
}

}  // namespace

Result<> CheckpointStore::Impl::open(const std::filesystem::path& folder) {
    auto opened = Repository::open(os, folder);
    if (!opened) {
        return opened.error();
    }
    repository = std::move(*opened);
    recovery.removed_leftovers = repository->removed_leftovers();
    const PackPlace place = repository->place();
    log = std::make_unique<RecordLog>(os, place.repository, place.repository_fd);
    index = std::make_unique<ListingIndex>(os, place.repository, place.repository_fd);
    const std::string doing = "open checkpoints of desk " + desk;
    const bool is_journalled = form == CheckpointForm::journalled;
    auto left = log->read_all();
    if (!left) {
        return left.error().during(doing);
    }
    Result<> done = left->is_unclean ? sweep() : Result<>();
    if (done) {
        done = left->records.empty() ? find_head() : replay(left->records);
    }
    if (done && left->records.empty()) {
        log->close();
        if (!head()) {
            use_log(is_journalled);
            done = take_first();
            return done ? done : done.error().during(doing);
        }
        done = load_head();
        use_log(is_journalled);
    }
    if (done) {
        done = settle_start();
    }
    return done ? done : done.error().during(doing);
}

Result<> CheckpointStore::Impl::settle_start() {
    auto completed = settle_pending();
    if (!completed) {
        return completed.error();
    }
    recovery.completed = std::move(*completed);
    auto restoring = read_restore_intent(os, repository->folder_fd(), "");
    if (!restoring) {
        return restoring.error();
    }
    if (*restoring) {
        recovery.restore_begun = true;  // files are half way: nothing of it is the owner's edit
        return {};
    }
    auto edits = record_edits(&recovery.owner_edited);
    if (!edits) {
        return edits.error();
    }
    if (materialiser && !is_awaiting()) {
        if (auto published = materialiser->publish(); !published) {
            return published;
        }
        if (form == CheckpointForm::plain) {
            use_log(false);
        }
    }
    return {};
}

Result<> CheckpointStore::Impl::find_head() {
    auto candidates = repository->tip_candidates();
    if (!candidates) {
        return candidates.error();
    }
    if (candidates->empty()) {
        candidates =
            repository->objects().commits();  // both files are lost, or this is a new repository
        if (!candidates) {
            return candidates.error();
        }
        if (candidates->empty()) {
            return {};
        }
    }
    auto newest = newest_of(*candidates);
    if (!newest) {
        return newest.error();
    }
    if (*newest) {
        set_head(**newest);
    }
    return {};
}

Result<std::optional<GitId>> CheckpointStore::Impl::newest_of(
    const std::vector<GitId>& candidates) const {
    std::optional<GitId> newest;
    std::pair<std::uint64_t, bool> age;
    std::optional<Error> trouble;
    for (const GitId& id : candidates) {
        auto bytes = repository->objects().read(id, GitType::commit);
        auto record = bytes ? CommitRecord::parse(*bytes) : Result<CommitRecord>(bytes.error());
        if (!record) {
            trouble = trouble ? trouble : Error(Errc::corrupt, record.error().message());
            continue;
        }
        if (!newest || age_of(*record) > age) {
            newest = id;
            age = age_of(*record);
        }
    }
    if (!newest && trouble) {
        return *trouble;
    }
    return newest;
}

Result<std::uint64_t> CheckpointStore::Impl::last_number(CommitRecord record) const {
    while (age_of(record).first == 0 && record.parent) {  // commits that the owner made with git
        auto bytes = repository->objects().read(*record.parent, GitType::commit);
        auto parent = bytes ? CommitRecord::parse(*bytes) : Result<CommitRecord>(bytes.error());
        if (!parent) {
            return Error(Errc::corrupt, parent.error().message());
        }
        record = std::move(*parent);
    }
    return age_of(record).first;
}

Result<> CheckpointStore::Impl::read_attributes() {
    attributes = Attributes();
    const auto file = tree.find(kAttributesFile);
    if (!file) {
        return {};
    }
    auto text = repository->objects().read(file->id, GitType::blob);
    if (!text) {
        if (auto healed = heal_from_files(); !healed) {
            return healed;
        }
        text = repository->objects().read(file->id, GitType::blob);
    }
    attributes = Attributes::parse(text ? *text : "");
    return {};
}

Result<CommitRecord> CheckpointStore::Impl::load_tree(const GitId& commit) {
    auto bytes = repository->objects().read(commit, GitType::commit);
    auto record = bytes ? CommitRecord::parse(*bytes) : Result<CommitRecord>(bytes.error());
    if (!record) {
        return Error(Errc::corrupt, record.error().message());
    }
    auto number = last_number(*record);
    if (!number) {
        return number.error();
    }
    next_number = *number + 1;
    auto loaded = FolderTree::load(repository->objects(), record->tree);
    if (!loaded) {
        if (auto healed = heal_from_files(); !healed) {
            return healed.error();
        }
        loaded = FolderTree::load(repository->objects(), record->tree);
    }
    if (!loaded) {
        return Error(Errc::corrupt, loaded.error().message());
    }
    tree = std::move(*loaded);
    if (auto read = read_attributes(); !read) {
        return read.error();
    }
    if (auto checked = check_blobs(); !checked) {
        return checked.error();
    }
    for (const auto& [path, file] : tree.files()) {
        if (path.starts_with(kConflictFolder)) {
            tree.remove(path);  // belongs to that one commit
        }
    }
    return record;
}

Result<> CheckpointStore::Impl::load_head() {
    auto record = load_tree(*head());
    if (!record) {
        return record.error();
    }
    const bool announces = record->kind == "write" || record->kind == "restore";
    if (record->number != 0 && announces && record->intended_sha256 && !record->file.empty()) {
        Checkpoint checkpoint = record->to_checkpoint();
        checkpoint.commit = head()->hex();
        pending = Pending{std::move(checkpoint), record->file, *record->intended_sha256, {}};
    }
    // The tip may be ahead of the ref: a crash came between, or git lost it.
    auto moved = Repository::Moved::no;
    auto candidates = repository->tip_candidates();
    if (candidates && candidates->size() == 1 && candidates->front() == *head() &&
        repository->ref_is(*head())) {
        return {};
    }
    return repository->move_tip(*head(), &moved);
}

/// Finds objects that are there by name only. Their content is on disk as long as the owner has not
/// edited since.
Result<> CheckpointStore::Impl::check_blobs() {
    const auto is_broken = [this](const auto& named) {
        return named.second.mode != 0160000 && !repository->objects().is_whole(named.second.id);
    };
    const auto files = tree.files();
    if (std::none_of(files.begin(), files.end(), is_broken)) {
        return {};
    }
    if (auto healed = heal_from_files(); !healed) {
        return healed;
    }
    const auto broken = std::find_if(files.begin(), files.end(), is_broken);
    if (broken != files.end()) {
        return Error(Errc::corrupt,
                     object_name(broken->second.id) + " (" + quote_path(broken->first) +
                         ") cannot be read, and the file on disk is another");
    }
    return {};
}

/// Writes every object that the files on disk give and that cannot be read. git and libgit2 take an
/// existing file for the object, even an empty one, so a broken one is removed first.
Result<> CheckpointStore::Impl::heal_from_files() {
    GitObjects& objects = repository->objects();
    const auto heal = [&](GitType type, const std::string& bytes) -> Result<> {
        const GitId id = GitObjects::id_of(type, bytes);
        if (objects.read(id, type)) {
            return {};
        }
        if (auto replaced = objects.replace(type, bytes); !replaced) {
            return replaced;
        }
        recovery.healed.push_back(object_name(id));
        return {};
    };
    FileScan fresh(os, desk_dir);
    auto found = fresh.run([&](const std::string&, const std::string& content) {
        return heal(GitType::blob, content);
    });
    if (!found) {
        return found.error();
    }
    const std::string format(kFormatText);
    if (auto healed = heal(GitType::blob, format); !healed) {
        return healed;
    }
    FolderTree on_disk;
    on_disk.set(kFormatFile, TreeFile{kModeFile, GitObjects::id_of(GitType::blob, format)});
    if (const std::string text = found->attributes().encode(); !text.empty()) {
        if (auto healed = heal(GitType::blob, text); !healed) {
            return healed;
        }
        on_disk.set(kAttributesFile, TreeFile{kModeFile, GitObjects::id_of(GitType::blob, text)});
    }
    for (const auto& [path, file] : found->files) {
        on_disk.set(path, file);
    }
    Result<> outcome;
    on_disk.encode([&](const std::string& bytes) {
        if (outcome) {
            outcome = heal(GitType::tree, bytes);
        }
    });
    return outcome;
}

Result<> CheckpointStore::Impl::take_first() {
    auto changes = find_edits();
    if (!changes) {
        return changes.error();
    }
    auto format = repository->objects().write(GitType::blob, kFormatText);
    if (!format) {
        return format.error();
    }
    changes->emplace_back(kFormatFile, TreeFile{kModeFile, *format});
    CommitRecord record;
    record.kind = "manual";
    record.subject = "first checkpoint of desk " + desk;
    record.why.reason = record.subject;
    auto made = commit_checkpoint(std::move(record), *changes);
    return made ? Result<>() : Result<>(made.error());
}

}  // namespace daybook
