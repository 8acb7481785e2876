#include "host/gate/shown_files.hpp"

#include <algorithm>

namespace daybook {
namespace {

/// More parts than this are not remembered: the file then counts as shown in part.
constexpr std::size_t kMaxParts = 1024;

}  // namespace

void ShownFiles::remember(const DeskPath& path, std::string sha256) {
    shown_[path.str()] = Showing{std::move(sha256), true};
}

void ShownFiles::remember_part(const DeskPath& path,
                               const std::string& sha256,
                               std::size_t begin,
                               std::size_t end,
                               std::size_t size) {
    const auto [place, is_new] = shown_.try_emplace(path.str(), Showing{sha256});
    Showing& showing = place->second;
    if (showing.sha256 != sha256) {
        showing = Showing{sha256};
    }
    auto& parts = showing.parts;
    if (!showing.whole && begin < end && parts.size() < kMaxParts) {
        parts.emplace_back(begin, end);
        std::sort(parts.begin(), parts.end());
        std::size_t last = 0;
        for (std::size_t i = 1; i < parts.size(); ++i) {
            if (parts[i].first <= parts[last].second) {
                parts[last].second = std::max(parts[last].second, parts[i].second);
            } else {
                parts[++last] = parts[i];
            }
        }
        parts.resize(last + 1);
    }
    const bool is_all = parts.size() == 1 && parts[0].first == 0 && parts[0].second >= size;
    if (is_all || size == 0) {
        showing.whole = true;
        parts.clear();
    }
}

void ShownFiles::remember_change(const DeskPath& path,
                                 const std::string& before,
                                 std::string after) {
    const auto known = shown_.find(path.str());
    const bool saw_all = known != shown_.end() && known->second.sha256 == before
                             ? known->second.whole
                             : before.empty();
    shown_[path.str()] = Showing{std::move(after), saw_all};
}

std::optional<std::string> ShownFiles::find(const DeskPath& path) const {
    const auto found = shown_.find(path.str());
    return found == shown_.end() ? std::nullopt : std::optional<std::string>(found->second.sha256);
}

bool ShownFiles::is_whole(const DeskPath& path) const {
    const auto found = shown_.find(path.str());
    return found != shown_.end() && found->second.whole;
}

void ShownFiles::mark_partial(const DeskPath& path) {
    if (const auto found = shown_.find(path.str()); found != shown_.end()) {
        found->second = Showing{found->second.sha256};
    }
}

void ShownFiles::mark_all_partial() {
    for (auto& [path, showing] : shown_) {
        showing = Showing{showing.sha256};
    }
}

}  // namespace daybook
