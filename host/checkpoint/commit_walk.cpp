#include "host/checkpoint/commit_walk.hpp"

#include <algorithm>
#include <map>

namespace daybook {
namespace {

constexpr std::string_view kReserved = ".daybook/";
using Entries = std::map<std::string, TreeEntry>;

Result<Entries> entries_of(const GitObjects& objects, const std::optional<GitId>& tree) {
    Entries named;
    if (!tree) {
        return named;
    }
    auto bytes = objects.read(*tree, GitType::tree);
    auto entries = bytes ? decode_tree(*bytes) : Result<std::vector<TreeEntry>>(bytes.error());
    if (!entries) {
        return entries.error();
    }
    for (TreeEntry& entry : *entries) {
        std::string name = entry.name;
        named.emplace(std::move(name), std::move(entry));
    }
    return named;
}

/// Goes down only where the two differ.
Result<> compare_trees(const GitObjects& objects,
                       const std::optional<GitId>& before,
                       const std::optional<GitId>& after,
                       const std::string& folder,
                       std::vector<std::string>& changed) {
    auto olds = entries_of(objects, before);
    auto news = entries_of(objects, after);
    if (!olds || !news) {
        return (olds ? news : olds).error();
    }
    Entries both = *news;
    both.insert(olds->begin(), olds->end());
    for (const auto& [name, ignored] : both) {
        const auto find = [&](const Entries& entries) {
            const auto at = entries.find(name);
            return at == entries.end() ? std::optional<TreeEntry>() : at->second;
        };
        const auto was = find(*olds);
        const auto is = find(*news);
        if (was && is && was->mode == is->mode && was->id == is->id) {
            continue;
        }
        const auto is_folder = [](const std::optional<TreeEntry>& entry) {
            return entry && entry->mode == kModeFolder;
        };
        if ((was && !is_folder(was)) || (is && !is_folder(is))) {
            changed.push_back(folder + name);
        }
        if (is_folder(was) || is_folder(is)) {
            const auto tree = [&](const std::optional<TreeEntry>& entry) {
                return is_folder(entry) ? std::optional<GitId>(entry->id) : std::nullopt;
            };
            if (auto done =
                    compare_trees(objects, tree(was), tree(is), folder + name + "/", changed);
                !done) {
                return done;
            }
        }
    }
    return {};
}

}  // namespace

Result<CommitRecord> read_commit(const GitObjects& objects, const GitId& id) {
    auto bytes = objects.read(id, GitType::commit);
    return bytes ? CommitRecord::parse(*bytes) : Result<CommitRecord>(bytes.error());
}

Result<> walk_checkpoints(const GitObjects& objects,
                          std::optional<GitId> newest,
                          const std::function<bool(Checkpoint&)>& visit) {
    std::optional<GitId> at = newest;
    std::uint64_t written = 0;
    std::string written_commit;
    while (at) {
        auto record = read_commit(objects, *at);
        if (!record) {
            return record.error();
        }
        if (record->written != 0) {
            written = record->written;
            written_commit = at->hex();
        }
        if (record->number != 0) {
            Checkpoint checkpoint = record->to_checkpoint();
            checkpoint.commit = at->hex();
            if (written == checkpoint.number) {
                checkpoint.written_commit = written_commit;
            }
            if (!visit(checkpoint)) {
                return {};
            }
        }
        at = record->parent;
    }
    return {};
}

Result<std::vector<std::string>> files_of_commit(const GitObjects& objects,
                                                 const CommitRecord& record) {
    if (!record.file.empty()) {
        return std::vector<std::string>{record.file};
    }
    std::optional<GitId> before;
    if (record.parent) {
        auto parent = read_commit(objects, *record.parent);
        if (!parent) {
            return parent.error();
        }
        before = parent->tree;
    }
    std::vector<std::string> changed;
    if (before == record.tree) {
        return changed;
    }
    if (auto done = compare_trees(objects, before, record.tree, "", changed); !done) {
        return done.error();
    }
    std::erase_if(changed, [](const std::string& path) { return path.starts_with(kReserved); });
    return changed;
}

Result<bool> concerns(const GitObjects& objects,
                      const Checkpoint& checkpoint,
                      std::string_view path) {
    for (const std::string& commit : {checkpoint.commit, checkpoint.written_commit}) {
        const auto id = GitId::from_hex(commit);
        if (!id) {
            continue;  // nothing was written
        }
        auto record = read_commit(objects, *id);
        auto files = record ? files_of_commit(objects, *record)
                            : Result<std::vector<std::string>>(record.error());
        if (!files) {
            return files.error();
        }
        if (std::find(files->begin(), files->end(), path) != files->end()) {
            return true;
        }
    }
    return false;
}

}  // namespace daybook
