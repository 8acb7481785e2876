#include "host/checkpoint/forget.hpp"

#include <algorithm>
#include <set>

#include "host/checkpoint/git_objects.hpp"
#include "host/checkpoint/listing_index.hpp"
#include "host/checkpoint/pack_file.hpp"
#include "host/checkpoint/repository.hpp"
#include "host/format/sha256.hpp"

namespace daybook {
namespace {

constexpr std::size_t kIdDigits = 40;
constexpr unsigned kSubmodule = 0160000;
constexpr std::size_t kMaxSmall = 256UL * 1024 * 1024;
constexpr std::string_view kTree = "tree ";
constexpr std::string_view kParent = "parent ";

/// The parts of a commit's bytes.
struct CommitParts {
    GitId tree;
    std::vector<GitId> parents;
    std::string rest;  ///< from the line behind the parents on
};

Result<CommitParts> parts_of(std::string_view bytes) {
    CommitParts parts;
    const auto take = [&bytes](std::string_view word) -> std::optional<GitId> {
        const std::size_t length = word.size() + kIdDigits + 1;
        if (!bytes.starts_with(word) || bytes.size() < length || bytes[length - 1] != '\n') {
            return std::nullopt;
        }
        auto id = GitId::from_hex(bytes.substr(word.size(), kIdDigits));
        bytes.remove_prefix(id ? length : 0);
        return id;
    };
    auto tree = take(kTree);
    if (!tree) {
        return Error(Errc::corrupt, "read commit: it names no tree");
    }
    parts.tree = *tree;
    while (auto parent = take(kParent)) {
        parts.parents.push_back(*parent);
    }
    parts.rest = std::string(bytes);
    return parts;
}

class History {
  public:
    History(Os& os, Repository& repository, int folder, TextMask mask, bool dry_run)
        : os_(os),
          repository_(repository),
          objects_(repository.objects()),
          folder_(folder),
          mask_(std::move(mask)),
          dry_run_(dry_run) {}

    Result<ForgottenHistory> run() {
        auto candidates = repository_.tip_candidates();
        if (!candidates) {
            return candidates.error();
        }
        if (candidates->empty()) {
            return std::move(report_);
        }
        const GitId tip = candidates->front();
        for (const auto step : {&History::list_commits, &History::rewrite_trees}) {
            if (auto done = (this->*step)(tip); !done) {
                return done.error();
            }
        }
        // Contents come first, for the hashes of what was written stand in commits before it.
        for (const auto& [from, to] : report_.hashes) {
            mask_.add_hash(from, to);
        }
        if (auto done = rewrite_commits(); !done) {
            return done.error();
        }
        if (!dry_run_) {
            if (auto done = purge(commits_.at(tip)); !done) {
                return done.error();
            }
        }
        return std::move(report_);
    }

  private:
    /// Every commit behind its parents.
    Result<> list_commits(const GitId& tip) {
        std::vector<GitId> open = {tip};
        while (!open.empty()) {
            const GitId id = open.back();
            if (parts_.contains(id)) {
                open.pop_back();
                if (listed_.insert(id).second) {
                    order_.push_back(id);
                }
                continue;
            }
            auto bytes = objects_.read(id, GitType::commit);
            auto parts = bytes ? parts_of(*bytes) : Result<CommitParts>(bytes.error());
            if (!parts) {
                return parts.error();
            }
            for (const GitId& parent : parts->parents) {
                if (!parts_.contains(parent)) {
                    open.push_back(parent);
                }
            }
            parts_.emplace(id, std::move(*parts));
        }
        return {};
    }

    Result<> rewrite_trees(const GitId& /*tip*/) {
        for (const GitId& id : order_) {
            if (auto tree = rewrite_tree(parts_.at(id).tree); !tree) {
                return tree.error();
            }
        }
        return {};
    }

    Result<GitId> write(GitType type, const std::string& bytes) {
        return dry_run_ ? Result<GitId>(GitObjects::id_of(type, bytes))
                        : objects_.write(type, bytes);
    }

    Result<GitId> rewrite_blob(const GitId& id) {
        if (const auto known = contents_.find(id); known != contents_.end()) {
            return known->second;
        }
        auto bytes = objects_.read(id, GitType::blob);
        if (!bytes) {
            return bytes.error();
        }
        GitId now = id;
        if (mask_.is_in(*bytes)) {
            const std::string before = sha256_hex(*bytes);
            mask_.mask(*bytes);
            auto written = write(GitType::blob, *bytes);
            if (!written) {
                return written.error();
            }
            now = *written;
            report_.hashes[before] = sha256_hex(*bytes);
            ++report_.contents;
        }
        contents_[id] = now;
        return now;
    }

    Result<GitId> rewrite_tree(const GitId& id) {
        if (const auto known = trees_.find(id); known != trees_.end()) {
            return known->second;
        }
        auto bytes = objects_.read(id, GitType::tree);
        auto entries = bytes ? decode_tree(*bytes) : Result<std::vector<TreeEntry>>(bytes.error());
        if (!entries) {
            return entries.error();
        }
        bool is_changed = false;
        std::set<std::string> names;
        for (TreeEntry& entry : *entries) {
            Result<GitId> now = entry.mode == kModeFolder  ? rewrite_tree(entry.id)
                                : entry.mode == kSubmodule ? Result<GitId>(entry.id)
                                                           : rewrite_blob(entry.id);
            if (!now) {
                return now;
            }
            const bool is_renamed = mask_.mask(entry.name) != 0;
            while (!names.insert(entry.name).second) {
                entry.name += "-";  // two names that are the same when masked
            }
            is_changed = is_changed || is_renamed || *now != entry.id;
            entry.id = *now;
        }
        auto now =
            is_changed ? write(GitType::tree, encode_tree(std::move(*entries))) : Result<GitId>(id);
        if (now) {
            trees_[id] = *now;
        }
        return now;
    }

    Result<> rewrite_commits() {
        for (const GitId& id : order_) {
            CommitParts& parts = parts_.at(id);
            bool is_changed = trees_.at(parts.tree) != parts.tree;
            std::string bytes = "tree " + trees_.at(parts.tree).hex() + "\n";
            for (const GitId& parent : parts.parents) {
                is_changed = is_changed || commits_.at(parent) != parent;
                bytes += "parent " + commits_.at(parent).hex() + "\n";
            }
            is_changed = mask_.mask(parts.rest) != 0 || is_changed;
            bytes += parts.rest;
            auto now = is_changed ? write(GitType::commit, bytes) : Result<GitId>(id);
            if (!now) {
                return now.error();
            }
            report_.commits += is_changed ? 1U : 0U;
            commits_[id] = *now;
        }
        return {};
    }

    /// Makes the new history the desk's, then removes whatever does not belong to it.
    Result<> purge(const GitId& tip) {
        auto moved = Repository::Moved::no;
        if (auto done = repository_.move_tip(tip, &moved); !done) {
            return done;
        }
        for (const auto step :
             {&History::remove_refs, &History::remove_loose, &History::remove_packs}) {
            if (auto done = (this->*step)(); !done) {
                return done;
            }
        }
        return mask_files();
    }

    /// Other refs and logs would hold on to the former history for whoever reads it with git.
    Result<> remove_refs() {
        if (auto done = remove_below("logs"); !done) {
            return done;
        }
        if (os_.stat_beneath(folder_, "packed-refs")) {
            if (auto gone = os_.remove(folder_, "packed-refs"); !gone) {
                return gone;
            }
        }
        return remove_refs_in("refs");
    }
    Result<> remove_refs_in(const std::string& place) {
        auto entries = os_.list(folder_, place);
        if (!entries) {
            return entries.error();
        }
        for (const DirectoryEntry& entry : *entries) {
            const std::string name = place + "/" + entry.name;
            if (entry.is_directory) {
                if (auto done = remove_refs_in(name); !done) {
                    return done;
                }
            } else if (name != "refs/heads/checkpoints") {
                if (auto gone = os_.remove(folder_, name); !gone) {
                    return gone;
                }
                report_.refs.push_back(name);
            }
        }
        return {};
    }

    [[nodiscard]] std::set<GitId> kept() const {
        std::set<GitId> ids;
        for (const auto* map : {&contents_, &trees_, &commits_}) {
            for (const auto& [from, to] : *map) {
                ids.insert(to);
            }
        }
        return ids;
    }

    Result<> remove_loose() {
        const std::set<GitId> keep = kept();
        auto folders = os_.list(folder_, "objects");
        if (!folders) {
            return folders.error();
        }
        for (const DirectoryEntry& folder : *folders) {
            if (!folder.is_directory || folder.name.size() != 2) {
                continue;
            }
            const std::string place = "objects/" + folder.name;
            auto files = os_.list(folder_, place);
            if (!files) {
                return files.error();
            }
            for (const DirectoryEntry& file : *files) {
                const auto id = GitId::from_hex(folder.name + file.name);
                if (id && keep.contains(*id)) {
                    continue;
                }
                if (auto gone = os_.remove(folder_, place + "/" + file.name); !gone) {
                    return gone;
                }
                ++report_.removed;
            }
        }
        return {};
    }

    /// A pack that holds something of the former history goes; what it holds of the new one is
    /// written as files of its own before.
    Result<> remove_packs() {
        const std::set<GitId> keep = kept();
        auto files = os_.list(folder_, "objects/pack");
        if (!files) {
            return files.error().code() == Errc::not_found ? Result<>() : Result<>(files.error());
        }
        std::set<std::string> gone_stems;
        for (const DirectoryEntry& file : *files) {
            if (!file.name.ends_with(".idx")) {
                continue;
            }
            auto index = read_file(os_, folder_, "objects/pack/" + file.name, kMaxSmall);
            auto ids =
                index ? ids_of_pack_index(*index) : Result<std::vector<GitId>>(index.error());
            if (!ids) {
                return ids.error();
            }
            const auto former = std::count_if(
                ids->begin(), ids->end(), [&](const GitId& id) { return !keep.contains(id); });
            if (former == 0) {
                continue;
            }
            for (const GitId& id : *ids) {
                auto written = keep.contains(id) ? unpack(id) : Result<>();
                if (!written) {
                    return written;
                }
            }
            report_.removed += static_cast<std::uint64_t>(former);
            gone_stems.insert(file.name.substr(0, file.name.size() - 4));
        }
        for (const DirectoryEntry& file : *files) {
            const std::string stem = file.name.substr(0, file.name.find('.'));
            const bool is_of_all = !file.name.starts_with("pack-") && !gone_stems.empty();
            if (gone_stems.contains(stem) || is_of_all) {
                if (auto gone = os_.remove(folder_, "objects/pack/" + file.name); !gone) {
                    return gone;
                }
            }
        }
        return gone_stems.empty() ? Result<>() : remove_below("objects/info");
    }
    Result<> unpack(const GitId& id) {
        auto object = objects_.read(id);
        auto written =
            object ? objects_.write(object->type, object->bytes) : Result<GitId>(object.error());
        return written ? Result<>() : Result<>(written.error());
    }

    /// Files below a folder; the folders stay.
    Result<> remove_below(const std::string& place) {
        auto entries = os_.list(folder_, place);
        if (!entries) {
            return entries.error().code() == Errc::not_found ? Result<>()
                                                             : Result<>(entries.error());
        }
        for (const DirectoryEntry& entry : *entries) {
            const std::string name = place + "/" + entry.name;
            auto done = entry.is_directory ? remove_below(name) : os_.remove(folder_, name);
            if (!done) {
                return done;
            }
        }
        return {};
    }

    /// What the host keeps beside the objects: records of writes, whose content is in git by now,
    /// files that a restore has set aside.
    Result<> mask_files() {
        auto entries = os_.list(folder_, "");
        if (!entries) {
            return entries.error();
        }
        for (const DirectoryEntry& entry : *entries) {
            const bool is_records = entry.name.starts_with("daybook.records") ||
                                    entry.name.starts_with(ListingIndex::kName);
            const bool is_aside =
                entry.is_directory && (entry.name.find("trash") != std::string::npos ||
                                       entry.name.find("stage") != std::string::npos);
            Result<> done = is_records && !entry.is_directory ? os_.remove(folder_, entry.name)
                            : is_aside                        ? remove_below(entry.name)
                                                              : Result<>();
            if (!done) {
                return done;
            }
        }
        return {};
    }

    Os& os_;
    Repository& repository_;
    GitObjects& objects_;
    int folder_;
    TextMask mask_;
    bool dry_run_;
    std::map<GitId, CommitParts> parts_;
    std::set<GitId> listed_;
    std::vector<GitId> order_;
    std::map<GitId, GitId> contents_, trees_, commits_;  ///< before -> after
    ForgottenHistory report_;
};

}  // namespace

Result<ForgottenHistory> forget_in_history(Os& os,
                                           const std::filesystem::path& repository,
                                           const TextMask& mask,
                                           bool dry_run) {
    auto folder = os.open_root(repository);
    if (!folder) {
        return folder.error().during("forget in the checkpoints");
    }
    auto opened = Repository::open(os, repository);
    if (!opened) {
        return opened.error().during("forget in the checkpoints");
    }
    auto done = History(os, **opened, folder->get(), mask, dry_run).run();
    return done ? std::move(done) : done.error().during("forget in the checkpoints");
}

}  // namespace daybook
