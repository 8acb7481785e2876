// Reading checkpoints: list, find, files, content, differences. Thread: [any]: each call opens its
// own view of the objects and starts at a copy of the head.
#include <algorithm>
#include <charconv>

#include "host/checkpoint/checkpoint_impl.hpp"
#include "host/checkpoint/commit_walk.hpp"
#include "host/checkpoint/text_diff.hpp"
#include "host/format/sha256.hpp"

namespace daybook {
namespace {

/// A page from the newest on of at most so many is read from the commits themselves.
constexpr std::size_t kNear = 200;

/// What the walk looks for: a checkpoint's number, or the start of a commit's id.
struct Wanted {
    std::uint64_t number = 0;
    std::string prefix;

    [[nodiscard]] bool is(const Checkpoint& checkpoint) const {
        return number != 0 ? checkpoint.number == number
                           : checkpoint.commit.starts_with(prefix) ||
                                 checkpoint.written_commit.starts_with(prefix);
    }
};

Result<Wanted> parse_id(std::string_view id) {
    constexpr std::size_t kFewestDigits = 7;
    Wanted wanted;
    if (id.starts_with("c-")) {
        const std::string_view digits = id.substr(2);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), wanted.number);
        if (error == std::errc{} && end == digits.data() + digits.size() && wanted.number != 0) {
            return wanted;
        }
    } else if (id.size() >= kFewestDigits && id.size() <= 40 &&
               id.find_first_not_of("0123456789abcdef") == std::string_view::npos) {
        wanted.prefix = std::string(id);
        return wanted;
    }
    return Error(Errc::invalid,
                 "find checkpoint " + printable(id) +
                     ": expected an id like c-12 or at least 7 digits of a commit's id");
}

Result<FolderTree> tree_of(const GitObjects& objects, std::string_view commit) {
    const auto id = GitId::from_hex(commit);
    if (!id) {
        return Error(Errc::invalid, "read checkpoint: malformed commit id");
    }
    auto record = read_commit(objects, *id);
    if (!record) {
        return record.error();
    }
    return FolderTree::load(objects, record->tree);
}

/// One side of a comparison: files by path, and how to get at their content.
struct Side {
    std::map<std::string, TreeFile> files;
    std::map<std::string, std::string> contents;  ///< of files that are not in the repository
};

Result<std::string> content_of(const GitObjects& objects,
                               const Side& side,
                               const std::string& path) {
    const auto file = side.files.find(path);
    if (file == side.files.end() || file->second.mode == kModeFolder) {
        return std::string();
    }
    const auto content = side.contents.find(path);
    return content != side.contents.end() ? Result<std::string>(content->second)
                                          : objects.read(file->second.id, GitType::blob);
}

Result<std::vector<FileChange>> compare(const GitObjects& objects,
                                        const Side& from,
                                        const Side& to) {
    std::map<std::string, char> kinds;
    for (const auto& [path, file] : from.files) {
        const auto other = to.files.find(path);
        if (other == to.files.end()) {
            kinds[path] = 'D';
        } else if (other->second != file) {
            kinds[path] = 'M';
        }
    }
    for (const auto& [path, file] : to.files) {
        if (!from.files.contains(path)) {
            kinds[path] = 'A';
        }
    }
    std::vector<FileChange> changes;
    for (const auto& [path, kind] : kinds) {
        if (path.starts_with(".daybook/")) {
            continue;
        }
        auto before = content_of(objects, from, path);
        auto after = content_of(objects, to, path);
        if (!before || !after) {
            return before ? after.error() : before.error();
        }
        auto diff = unified_diff(quote_path(path), *before, *after);
        if (!diff) {
            return diff.error();
        }
        changes.push_back({path, kind, std::move(*diff)});
    }
    return changes;
}

Result<Side> side_of(const GitObjects& objects, std::string_view commit) {
    auto tree = tree_of(objects, commit);
    if (!tree) {
        return tree.error();
    }
    return Side{tree->files(), {}};
}

/// The files on disk now; contents only where they differ from the other side.
Result<Side> side_on_disk(Os& os, int desk_dir, const Side& other) {
    Side side;
    FileScan scan(os, desk_dir);
    auto found = scan.run([&](const std::string& path, const std::string& content) -> Result<> {
        const auto known = other.files.find(path);
        if (known == other.files.end() ||
            known->second.id != GitObjects::id_of(GitType::blob, content)) {
            side.contents[path] = content;
        }
        return {};
    });
    if (!found) {
        return found.error();
    }
    side.files = std::move(found->files);
    return side;
}

}  // namespace

Result<std::vector<Checkpoint>> CheckpointStore::list(std::size_t limit,
                                                      std::uint64_t before,
                                                      std::string_view file) const {
    const std::string doing = "list checkpoints";
    auto reader = impl_->repository->open_reader();
    if (!reader) {
        return reader.error().during(doing);
    }
    std::vector<Checkpoint> found;
    const auto newest = impl_->head();
    if (limit == 0 || !newest) {
        return found;
    }
    if (before != 0 || limit > kNear || !file.empty()) {
        auto places = impl_->index->page(**reader, *newest, limit, before, file);
        auto indexed = places ? impl_->checkpoints_at(**reader, *places)
                              : Result<std::vector<Checkpoint>>(places.error());
        if (indexed) {
            return indexed;
        }
    }
    Result<> outcome;
    const auto walked = walk_checkpoints(**reader, newest, [&](Checkpoint& checkpoint) {
        auto is_wanted =
            before == 0 || checkpoint.number < before ? Result<bool>(true) : Result<bool>(false);
        if (is_wanted && *is_wanted && !file.empty()) {
            is_wanted = concerns(**reader, checkpoint, file);
        }
        if (!is_wanted) {
            outcome = is_wanted.error();
            return false;
        }
        if (*is_wanted) {
            found.push_back(std::move(checkpoint));
        }
        return found.size() < limit;
    });
    if (!walked || !outcome) {
        return (walked ? outcome : walked).error().during(doing);
    }
    return found;
}

/// What the index says is where; what is there is read. One that is wrong goes.
Result<std::vector<Checkpoint>> CheckpointStore::Impl::checkpoints_at(
    const GitObjects& objects, const std::vector<CheckpointPlace>& places) const {
    std::vector<Checkpoint> found;
    for (const CheckpointPlace& place : places) {
        auto record = read_commit(objects, place.commit);
        if (!record || record->number != place.number) {
            const Result<> ignored = index->drop();
            return Error(Errc::corrupt, "listing index: it does not say what the commits say");
        }
        found.push_back(record->to_checkpoint());
        found.back().commit = place.commit.hex();
        found.back().written_commit = place.written ? place.written->hex() : "";
    }
    return found;
}

Result<Checkpoint> CheckpointStore::find(std::string_view id) const {
    auto wanted = parse_id(id);
    if (!wanted) {
        return wanted.error();
    }
    const std::string doing = "find checkpoint " + std::string(id);
    auto reader = impl_->repository->open_reader();
    if (!reader) {
        return reader.error().during(doing);
    }
    auto found = impl_->find_indexed(**reader, wanted->number, wanted->prefix);
    if (!found) {
        found = std::vector<Checkpoint>();
        const auto walked = walk_checkpoints(**reader, impl_->head(), [&](Checkpoint& checkpoint) {
            if (wanted->is(checkpoint)) {
                found->push_back(std::move(checkpoint));
            }
            return found->empty() || (wanted->number == 0 && found->size() < 2);
        });
        if (!walked) {
            return walked.error().during(doing);
        }
    }
    if (found->empty()) {
        return Error(Errc::not_found, doing + ": there is none");
    }
    if (found->size() > 1) {
        return Error(Errc::invalid, doing + ": more than one begins so, give more digits");
    }
    return std::move(found->front());
}

Result<std::vector<Checkpoint>> CheckpointStore::Impl::find_indexed(const GitObjects& objects,
                                                                    std::uint64_t number,
                                                                    std::string_view digits) const {
    const auto newest = head();
    if (!newest) {
        return std::vector<Checkpoint>();
    }
    auto places = number == 0 ? index->starting_with(objects, *newest, digits)
                  : number < ChainReading::kMaxNumber
                      ? index->page(objects, *newest, 1, number + 1, "")
                      : Result<std::vector<CheckpointPlace>>(std::vector<CheckpointPlace>());
    if (!places) {
        return places.error();
    }
    std::erase_if(*places, [number](const CheckpointPlace& place) {
        return number != 0 && place.number != number;
    });
    return checkpoints_at(objects, *places);
}

Result<std::map<std::string, std::uint64_t>> CheckpointStore::files(
    const Checkpoint& checkpoint) const {
    const std::string doing = "list files of checkpoint " + checkpoint.id;
    auto reader = impl_->repository->open_reader();
    if (!reader) {
        return reader.error().during(doing);
    }
    auto tree = tree_of(**reader, checkpoint.commit);
    if (!tree) {
        return tree.error().during(doing);
    }
    std::map<std::string, std::uint64_t> sizes;
    for (const auto& [path, file] : tree->files()) {
        if (path.starts_with(".daybook/")) {
            continue;
        }
        auto size = (*reader)->size_of(file.id);
        if (!size) {
            return size.error().during(doing);
        }
        sizes[path] = *size;
    }
    return sizes;
}

Result<std::optional<std::string>> CheckpointStore::read(const Checkpoint& checkpoint,
                                                         const DeskPath& path) const {
    const std::string doing = "read " + path.str() + " of checkpoint " + checkpoint.id;
    auto reader = impl_->repository->open_reader();
    if (!reader) {
        return reader.error().during(doing);
    }
    auto tree = tree_of(**reader, checkpoint.commit);
    if (!tree) {
        return tree.error().during(doing);
    }
    const auto file = tree->find(path.str());
    if (!file) {
        return std::optional<std::string>();
    }
    if (file->mode == kModeLink) {
        return Error(Errc::refused, doing + ": it was a symbolic link");
    }
    auto content = (*reader)->read(file->id, GitType::blob);
    if (!content) {
        return content.error().during(doing);
    }
    return std::optional<std::string>(std::move(*content));
}

Result<std::vector<FileChange>> CheckpointStore::diff(const Checkpoint& checkpoint,
                                                      bool against_now) const {
    const std::string doing = "compare checkpoint " + checkpoint.id;
    auto reader = impl_->repository->open_reader();
    if (!reader) {
        return reader.error().during(doing);
    }
    std::string from_commit = checkpoint.commit;
    std::string to_commit = checkpoint.written_commit;
    if (!against_now && checkpoint.kind == "edited") {
        const auto id = GitId::from_hex(checkpoint.commit);
        auto record = id ? read_commit(**reader, *id)
                         : Result<CommitRecord>(Error(Errc::invalid, "malformed commit id"));
        if (!record) {
            return record.error().during(doing);
        }
        from_commit = record->parent ? record->parent->hex() : "";
        to_commit = checkpoint.commit;
    }
    if (!against_now && to_commit.empty()) {
        return std::vector<FileChange>();  // nothing was written
    }
    auto from = from_commit.empty() ? Result<Side>(Side{}) : side_of(**reader, from_commit);
    if (!from) {
        return from.error().during(doing);
    }
    auto to = against_now ? side_on_disk(impl_->os, impl_->desk_dir, *from)
                          : side_of(**reader, to_commit);
    if (!to) {
        return to.error().during(doing);
    }
    auto changes = compare(**reader, *from, *to);
    return changes ? std::move(changes) : changes.error().during(doing);
}

std::string CheckpointStore::committed_sha256(const DeskPath& path) const {
    const auto file = impl_->tree.find(path.str());
    if (!file) {
        return "";
    }
    auto content = impl_->repository->objects().read(file->id, GitType::blob);
    return content ? sha256_hex(*content) : "unreadable";
}

}  // namespace daybook
