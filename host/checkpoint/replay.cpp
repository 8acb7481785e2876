// What the record log held when a store is opened: every commit of it is made again, as it was, and
// the files that a crash took back are found.
//
// A record has all that its commit differs in from its parent, and the first record's parent is
// durable in git, so the trees and with them the commits' ids come out the same. What a power cut
// left of their objects in git does not matter: it is written anew.
#include <algorithm>

#include "host/checkpoint/checkpoint_impl.hpp"
#include "host/format/sha256.hpp"

namespace daybook {
namespace {

bool has_commit(const LogRecord& record) {
    return !record.commit.empty();
}

Error misfit(const LogRecord& record, const std::string& what) {
    return Error(Errc::corrupt,
                 "record " + std::to_string(record.sequence) + " of the log: " + what);
}

}  // namespace

Result<> CheckpointStore::Impl::sweep() {
    GitObjects& objects = repository->objects();
    constexpr std::size_t kDigitsInName = 38;
    auto folders = os.list(repository->folder_fd(), "objects");
    if (!folders) {
        return folders.error();
    }
    for (const DirectoryEntry& folder : *folders) {
        auto files = folder.is_directory && folder.name.size() == 2
                         ? os.list(repository->folder_fd(), "objects/" + folder.name)
                         : std::vector<DirectoryEntry>();
        if (!files) {
            return files.error();
        }
        bool is_changed = false;
        for (const DirectoryEntry& file : *files) {
            const auto id = GitId::from_hex(folder.name + file.name);
            if (!id || file.name.size() != kDigitsInName) {
                continue;
            }
            if (objects.is_packed(*id) || !objects.read(*id)) {
                if (auto gone = objects.remove_loose(*id); !gone) {
                    return gone;
                }
                recovery.healed.push_back("objects/" + folder.name + "/" + file.name);
                is_changed = true;
            }
        }
        if (auto synced = is_changed ? sync_fan_out(folder.name) : Result<>(); !synced) {
            return synced;
        }
    }
    return {};
}

/// Else the next power cut could bring the removed files back after the log was marked clean.
Result<> CheckpointStore::Impl::sync_fan_out(const std::string& name) {
    auto fd = os.open_beneath(repository->folder_fd(), "objects/" + name, OpenMode::directory);
    return fd ? os.full_sync(fd->get()) : Result<>(fd.error());
}

Result<> CheckpointStore::Impl::replay(const std::vector<LogRecord>& records) {
    const auto first = std::find_if(records.begin(), records.end(), has_commit);
    if (first == records.end()) {
        auto found = find_head();
        if (found && head()) {
            found = load_head();
        }
        return found ? log->drop_through(records.back().sequence) : found;
    }
    auto commit = CommitRecord::parse(first->commit);
    if (!commit || !commit->parent) {
        return misfit(*first, "not a commit after another");
    }
    set_head(*commit->parent);
    if (auto loaded = load_tree(*commit->parent); !loaded) {
        return loaded.error();
    }
    use_log(true);
    materialiser->hold(true);
    Chains chains;
    for (const LogRecord& record : records) {
        if (auto done = replay_record(record, chains); !done) {
            return done;
        }
    }
    replayed_contents.clear();
    if (auto read = read_attributes(); !read) {
        return read;
    }
    auto found = find_lost_writes(chains);
    materialiser->hold(!recovery.lost_writes.empty());
    return found;
}

Result<> CheckpointStore::Impl::replay_record(const LogRecord& record, Chains& chains) {
    GitObjects& objects = repository->objects();
    if (record.write && record.write->content) {
        const std::string& content = *record.write->content;
        replayed_contents[GitObjects::id_of(GitType::blob, content)] = content;
    }
    for (const LoggedChange& change : record.changes) {
        tree.put(change.path, change.file);
        if (!change.file) {
            continue;
        }
        const auto announced = replayed_contents.find(change.file->id);
        const bool is_known = change.bytes || announced != replayed_contents.end();
        if (!is_known && !objects.is_whole(change.file->id)) {
            return misfit(record, "the content of " + quote_path(change.path) + " is missing");
        }
        if (is_known) {
            if (auto put =
                    objects.write(GitType::blob, change.bytes ? *change.bytes : announced->second);
                !put) {
                return put.error();
            }
        }
    }
    if (has_commit(record)) {
        if (auto done = replay_commit(record, chains); !done) {
            return done;
        }
    } else if (open_write && open_write->number == record.settles) {
        open_write.reset();
        for (auto& [path, chain] : chains) {  // it did not happen
            std::erase_if(chain, [&](const Replayed& write) {
                return write.checkpoint.number == record.settles;
            });
        }
    }
    Materialiser::Batch batch;
    batch.sequence = record.sequence;
    batch.commit = *head();
    batch.objects = repository->staged().take_fresh();
    batch.ends_write = !open_write;
    materialiser->add(std::move(batch));
    return {};
}

Result<> CheckpointStore::Impl::replay_commit(const LogRecord& record, Chains& chains) {
    auto commit = CommitRecord::parse(record.commit);
    auto root = tree.write(repository->objects());
    if (!commit || !root) {
        return commit ? root.error() : misfit(record, "not a commit");
    }
    if (commit->tree != *root || commit->parent != head()) {
        return misfit(record, "its commit does not fit the one before");
    }
    auto id = repository->objects().write(GitType::commit, record.commit);
    if (!id) {
        return id.error();
    }
    set_head(*id);
    next_number = std::max(next_number, commit->number + 1);
    for (const LoggedChange& change : record.changes) {
        if (change.path.starts_with(kConflictFolder)) {
            tree.remove(change.path);  // of that one commit only
        } else if (commit->written == 0) {
            chains.erase(change.path);  // the owner's edit
        }
    }
    if (record.write) {
        Checkpoint checkpoint = commit->to_checkpoint();
        checkpoint.commit = id->hex();
        open_write =
            OpenWrite{commit->number, record.write->content ? record.write->intended_sha256 : ""};
        chains[record.write->path].push_back({std::move(checkpoint), *record.write, false});
    } else if (record.settles != 0) {
        open_write.reset();
        for (Replayed& write : chains[commit->file]) {
            write.was_recorded = write.was_recorded || write.checkpoint.number == record.settles;
        }
    }
    return {};
}

Result<> CheckpointStore::Impl::find_lost_writes(const Chains& chains) {
    for (const auto& [path, chain] : chains) {
        if (chain.empty()) {
            continue;
        }
        if (auto done = judge(path, chain); !done) {
            return done;
        }
    }
    return {};
}

/// A rename that was lost leaves the very file that was there before it: the same inode with the
/// same time of change. Anything else in its place is the owner's.
Result<> CheckpointStore::Impl::judge(const std::string& path, const std::vector<Replayed>& chain) {
    const Replayed& last = chain.back();
    auto now = read_target(os, desk_dir, path);
    if (!now && now.error().code() != Errc::refused) {
        return now.error();
    }
    const std::string found = now && *now ? sha256_hex((*now)->content) : std::string();
    if (now && found == last.write.intended_sha256) {
        if (!last.was_recorded) {
            pending = Pending{last.checkpoint, path, found, {}};
        }
        return {};
    }
    const auto was_taken_back = [&](const Replayed& write) {
        return found == write.write.base_sha256 &&
               (!*now || ((*now)->inode == write.write.base_inode &&
                          (*now)->modified == write.write.base_modified));
    };
    if (now && last.write.can_be_redone() &&
        std::any_of(chain.begin(), chain.end(), was_taken_back)) {
        recovery.lost_writes.push_back({last.checkpoint,
                                        path,
                                        last.write.content,
                                        found,
                                        last.was_recorded,
                                        *now || !last.was_recorded});
        awaiting_redo.insert(path);
        return {};
    }
    if (!last.was_recorded && last.write.content) {
        // Nobody knows whether it happened before the owner was there: its text is kept.
        CheckpointReason why = last.checkpoint.why;
        why.reason = "announced before a crash, and the file is another now: " + path;
        if (auto kept = keep_refused(path, *last.write.content, why); !kept) {
            return kept.error();
        }
    }
    if (!last.was_recorded) {
        log_not_written();
    }
    return {};
}

}  // namespace daybook
