#include "host/checkpoint/pack_merge.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "host/checkpoint/pack_file.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxIndex = 256UL * 1024 * 1024;

struct Pack {
    std::string name;  ///< without its ending
    std::vector<GitId> ids;
};

Result<std::vector<Pack>> read_packs(Os& os, int folder) {
    auto entries = os.list(folder, "");
    if (!entries) {
        return entries.error();
    }
    std::set<std::string> names;
    for (const DirectoryEntry& entry : *entries) {
        names.insert(entry.name);
    }
    std::vector<Pack> packs;
    for (const std::string& file : names) {
        if (!file.starts_with("pack-") || !file.ends_with(".idx")) {
            continue;
        }
        Pack pack{file.substr(0, file.size() - 4), {}};
        if (names.contains(pack.name + ".keep") || !names.contains(pack.name + ".pack")) {
            continue;
        }
        auto index = read_file(os, folder, file, kMaxIndex);
        auto ids = index ? ids_of_pack_index(*index) : Result<std::vector<GitId>>(index.error());
        if (!ids) {
            return ids.error().during("merge " + pack.name);
        }
        pack.ids = std::move(*ids);
        packs.push_back(std::move(pack));
    }
    return packs;
}

}  // namespace

Result<bool> merge_packs(Os& os, const PackPlace& place, bool* sync_failed) {
    auto folder = os.open_beneath(place.repository_fd, "objects/pack", OpenMode::directory);
    auto packs = folder ? read_packs(os, folder->get()) : Result<std::vector<Pack>>(folder.error());
    if (!packs) {
        return packs.error();
    }
    if (packs->size() <= kMostPacks) {
        return false;
    }
    std::sort(packs->begin(), packs->end(), [](const Pack& a, const Pack& b) {
        return a.ids.size() < b.ids.size();
    });
    packs->resize(packs->size() / 2 + 1);
    std::set<GitId> all;
    for (const Pack& pack : *packs) {
        all.insert(pack.ids.begin(), pack.ids.end());
    }
    auto made = write_pack(os, place, {all.begin(), all.end()}, sync_failed);
    if (!made) {
        return made.error();
    }
    auto index = read_file(os, folder->get(), *made + ".idx", kMaxIndex);
    auto ids = index ? ids_of_pack_index(*index) : Result<std::vector<GitId>>(index.error());
    if (!ids) {
        return ids.error();
    }
    if (ids->size() != all.size()) {
        return Error(Errc::corrupt, "merge packs: " + *made + " does not hold all of them");
    }
    if (auto whole = check_pack_hash(os, folder->get(), *made + ".pack"); !whole) {
        return whole.error();
    }
    for (const Pack& pack : *packs) {
        for (const std::string ending : {".idx", ".pack"}) {
            // One that stays costs room; the next merge takes it again.
            const Result<> ignored =
                pack.name == *made ? Result<>() : os.remove(folder->get(), pack.name + ending);
        }
    }
    return true;
}

}  // namespace daybook
