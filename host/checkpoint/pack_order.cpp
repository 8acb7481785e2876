#include "host/checkpoint/pack_order.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "host/checkpoint/commit_record.hpp"

namespace daybook {
namespace {

/// Git compares an object with the ten before it. A write's two commits share most of what cannot
/// be made smaller: they must be among those, whatever their sizes.
constexpr std::size_t kCommitsAtOnce = 8;

class Order {
  public:
    Order(const PackSource& source, const std::vector<GitId>& ids)
        : source_(source), left_(ids.begin(), ids.end()) {}

    std::vector<PackEntry> make() {
        read_commits();
        for (const GitId& id : as_they_came()) {
            std::vector<GitId> bases;  // the parent, and the commit of the same kind before it
            for (std::size_t i = made_.size(); i-- > 0 && bases.size() < 2;) {
                bases.push_back(made_[i].id);
            }
            put(id, "commit " + std::to_string(made_.size() / kCommitsAtOnce), std::move(bases));
            trees_.push_back(commits_.at(id).tree);
        }
        for (const GitId& tree : trees_) {
            put_tree(tree, "", "");
        }
        // Trees whose commit is in another pack, and whatever else there is.
        for (const GitId& id : std::vector<GitId>(left_.begin(), left_.end())) {
            if (source_.type_of(id) == GitType::tree) {
                put_tree(id, "", "");
            }
        }
        for (const GitId& id : std::vector<GitId>(left_.begin(), left_.end())) {
            put(id, "", {});
        }
        return std::move(made_);
    }

  private:
    void read_commits() {
        for (const GitId& id : left_) {
            if (source_.type_of(id) != GitType::commit) {
                continue;
            }
            const auto bytes = source_.read(id);
            auto record = bytes ? CommitRecord::parse(*bytes)
                                : Result<CommitRecord>(Error(Errc::not_found, "no such commit"));
            if (record) {
                commits_.emplace(id, std::move(*record));
            }
        }
    }

    [[nodiscard]] std::vector<GitId> as_they_came() const {
        std::multimap<GitId, GitId> children;
        std::vector<std::pair<Timestamp, GitId>> starts;
        for (const auto& [id, record] : commits_) {
            if (record.parent && commits_.contains(*record.parent)) {
                children.emplace(*record.parent, id);
            } else {
                starts.emplace_back(record.at, id);
            }
        }
        std::sort(starts.rbegin(), starts.rend());
        std::vector<GitId> open, order;
        for (const auto& [at, id] : starts) {
            open.push_back(id);
        }
        while (!open.empty()) {
            order.push_back(open.back());
            open.pop_back();
            const auto [first, last] = children.equal_range(order.back());
            for (auto child = first; child != last; ++child) {
                open.push_back(child->second);
            }
        }
        return order;
    }

    void put(const GitId& id, std::string name, std::vector<GitId> bases) {
        if (left_.erase(id) != 0) {
            made_.push_back({id, std::move(name), std::move(bases)});
        }
    }

    /// Something at a path of the desk. Its bases are what was there before, else what was put last
    /// in the same folder.
    void put_at(const std::string& folder, const std::string& path, const TreeEntry& entry) {
        if (!left_.contains(entry.id)) {
            return;
        }
        std::vector<GitId> bases;
        const auto before = last_at_.find(path);
        const auto beside = last_in_.find(folder);
        if (before != last_at_.end()) {
            bases.push_back(before->second);
        } else if (beside != last_in_.end()) {
            bases.push_back(beside->second);
        }
        last_at_[path] = entry.id;
        last_in_[folder] = entry.id;
        put(entry.id, entry.name, std::move(bases));
    }

    /// What it holds beside what an earlier one held.
    void put_tree(const GitId& id, const std::string& path, const std::string& name) {
        if (!left_.contains(id)) {
            return;
        }
        const auto bytes = source_.read(id);
        auto entries = bytes ? decode_tree(*bytes)
                             : Result<std::vector<TreeEntry>>(Error(Errc::not_found, "no tree"));
        put_at("trees", path + "/", {name, kModeFolder, id});
        if (!entries) {
            return;  // found again, and reported, when the pack is made
        }
        for (const TreeEntry& entry : *entries) {
            const std::string inside = path + "/" + entry.name;
            if (entry.mode == kModeFolder) {
                put_tree(entry.id, inside, entry.name);
            } else {
                put_at(path, inside, entry);
            }
        }
    }

    const PackSource& source_;
    std::set<GitId> left_;
    std::map<GitId, CommitRecord> commits_;
    std::vector<GitId> trees_;
    std::vector<PackEntry> made_;
    std::map<std::string, GitId> last_at_;  ///< by path; a folder's ends in "/"
    std::map<std::string, GitId> last_in_;  ///< by folder: the content put last
};

}  // namespace

std::vector<PackEntry> order_for_pack(const PackSource& source, const std::vector<GitId>& ids) {
    return Order(source, ids).make();
}

}  // namespace daybook
