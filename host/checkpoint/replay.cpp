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
    auto parent = parent_of_records(records);
    if (!parent) {
        return parent.error();
    }
    if (!*parent) {
        auto found = find_head();
        if (found && head()) {
            found = load_head();
        }
        return found ? log->drop_through(records.back().sequence) : found;
    }
    set_head(**parent);
    if (auto loaded = load_tree(**parent); !loaded) {
        return loaded.error();
    }
    use_log(true);
    materialiser->hold(true);
    RecordReplay again(repository->objects(), tree);
    Chains chains;
    for (const LogRecord& record : records) {
        auto made = again.apply(record, head());
        if (!made) {
            return made.error();
        }
        take_in(record, *made, chains);
    }
    if (auto read = read_attributes(); !read) {
        return read;
    }
    auto found = find_lost_writes(chains);
    materialiser->hold(is_awaiting());
    return found;
}

void CheckpointStore::Impl::take_in(const LogRecord& record,
                                    const std::optional<RecordReplay::Made>& made,
                                    Chains& chains) {
    if (made) {
        follow_commit(record, *made, chains);
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
}

void CheckpointStore::Impl::follow_commit(const LogRecord& record,
                                          const RecordReplay::Made& made,
                                          Chains& chains) {
    const CommitRecord& commit = made.commit;
    set_head(made.id);
    next_number = std::max(next_number, commit.number + 1);
    for (const LoggedChange& change : record.changes) {
        if (commit.written == 0 && !is_of_one_commit(change.path)) {
            chains.erase(change.path);  // the owner's edit
        }
    }
    if (record.write) {
        Checkpoint checkpoint = commit.to_checkpoint();
        checkpoint.commit = made.id.hex();
        open_write =
            OpenWrite{commit.number, record.write->content ? record.write->intended_sha256 : ""};
        chains[record.write->path].push_back({std::move(checkpoint), *record.write, false});
    } else if (record.settles != 0) {
        open_write.reset();
        for (Replayed& write : chains[commit.file]) {
            write.was_recorded = write.was_recorded || write.checkpoint.number == record.settles;
        }
    }
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
        recovery.doubtful = LostWrite{last.checkpoint, path, last.write.content, found};
        awaiting_redo.insert(path);
    } else if (!last.was_recorded) {
        log_not_written();
    }
    return {};
}

}  // namespace daybook
