// What goes into a pack, in which order: exactly the objects that were asked for.
#include "host/checkpoint/pack_order.hpp"

#include <algorithm>
#include <map>

#include "host/checkpoint/commit_record.hpp"
#include "tests/catch.hpp"

using namespace daybook;

namespace {

struct Objects {
    std::map<GitId, GitObject> all;

    GitId add(GitType type, const std::string& bytes) {
        const GitId id = GitObjects::id_of(type, bytes);
        all[id] = {type, bytes};
        return id;
    }
    [[nodiscard]] PackSource source() const {
        PackSource source;
        source.type_of = [this](const GitId& id) {
            const auto at = all.find(id);
            return at == all.end() ? std::optional<GitType>() : at->second.type;
        };
        source.read = [this](const GitId& id) {
            const auto at = all.find(id);
            return at == all.end() ? std::optional<std::string>() : at->second.bytes;
        };
        return source;
    }
};

}  // namespace

TEST_CASE("a pack's order has each object once, commits and contents as they came",
          "[checkpoint]") {
    Objects objects;
    std::vector<GitId> ids, commits, contents;
    std::optional<GitId> parent;
    for (int i = 0; i < 20; ++i) {
        const GitId blob = objects.add(GitType::blob, "text " + std::to_string(i));
        const GitId notes =
            objects.add(GitType::tree, encode_tree({{"2026-10-19.md", kModeFile, blob}}));
        const GitId root = objects.add(GitType::tree, encode_tree({{"notes", kModeFolder, notes}}));
        CommitRecord record;
        record.tree = root;
        record.parent = parent;
        record.subject = "c";
        record.number = static_cast<std::uint64_t>(i) + 1;
        const GitId commit = objects.add(GitType::commit, record.encode());
        parent = commit;
        commits.push_back(commit);
        contents.push_back(blob);
        ids.insert(ids.end(), {blob, notes, root, commit});
    }
    ids.push_back(objects.add(GitType::blob, "of no commit"));
    ids.push_back(GitId{});      // of no object: said when the pack is made
    ids.push_back(ids.front());  // twice
    std::sort(ids.begin(), ids.end());
    const auto order = order_for_pack(objects.source(), ids);
    std::vector<GitId> given, given_commits, given_contents;
    for (const PackEntry& entry : order) {
        given.push_back(entry.id);
        if (std::find(commits.begin(), commits.end(), entry.id) != commits.end()) {
            given_commits.push_back(entry.id);
            CHECK(entry.name.starts_with("commit "));
        }
        if (entry.name == "2026-10-19.md") {
            given_contents.push_back(entry.id);
        }
    }
    CHECK(given_commits == commits);
    CHECK(given_contents == contents);
    std::sort(given.begin(), given.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    CHECK(given == ids);
    // Without their commits the trees still name the contents.
    std::vector<GitId> without;
    for (const auto& [id, object] : objects.all) {
        if (object.type != GitType::commit) {
            without.push_back(id);
        }
    }
    CHECK(order_for_pack(objects.source(), without).size() == without.size());
}
