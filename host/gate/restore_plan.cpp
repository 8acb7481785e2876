#include "host/gate/restore_plan.hpp"

#include <set>

namespace daybook {
namespace {

/// Every folder that has something in it, or is recorded as empty.
std::set<std::string> folders_of(const StoredTree& tree) {
    std::set<std::string> folders;
    const auto add_above = [&](const std::string& path) {
        for (std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0;
             slash = path.rfind('/', slash - 1)) {
            folders.insert(path.substr(0, slash));
        }
    };
    for (const auto& [path, file] : tree.files) {
        add_above(path);
    }
    for (const auto& [path, permissions] : tree.empty_folders()) {
        folders.insert(path);
        add_above(path);
    }
    return folders;
}

unsigned permissions_of(const StoredTree& tree, const std::string& folder) {
    const auto& empty = tree.empty_folders();
    if (const auto found = empty.find(folder); found != empty.end()) {
        return found->second;
    }
    const auto& odd = tree.attributes.odd_folders();
    const auto found = odd.find(folder);
    return found == odd.end() ? 0 : found->second;
}

}  // namespace

std::vector<RestoreStep> only_of(std::vector<RestoreStep> steps, const std::string& path) {
    std::erase_if(steps, [&](const RestoreStep& step) {
        const bool is_above =
            step.kind == RestoreStep::Kind::make_folder && path.starts_with(step.path + "/");
        const bool is_it = step.path == path && (step.before || step.after);
        return !is_above && !is_it;
    });
    return steps;
}

std::vector<RestoreStep> plan_restore(const StoredTree& now, const StoredTree& then) {
    using Kind = RestoreStep::Kind;
    std::vector<RestoreStep> steps;
    for (const auto& [path, file] : now.files) {
        if (!then.files.contains(path)) {
            steps.push_back({Kind::remove_file, path, file, std::nullopt});
        }
    }
    const auto folders_now = folders_of(now);
    const auto folders_then = folders_of(then);
    for (auto folder = folders_now.rbegin(); folder != folders_now.rend(); ++folder) {
        if (!folders_then.contains(*folder)) {
            steps.push_back({Kind::remove_folder, *folder, {}, {}});
        }
    }
    for (const std::string& folder : folders_then) {
        const unsigned permissions = permissions_of(then, folder);
        const bool differs = permissions != 0 && permissions != permissions_of(now, folder);
        if (!folders_now.contains(folder) || differs) {
            steps.push_back({Kind::make_folder, folder, {}, {}, permissions});
        }
    }
    for (const auto& [path, file] : then.files) {
        const auto found = now.files.find(path);
        if (found == now.files.end()) {
            steps.push_back({Kind::put_file, path, std::nullopt, file});
        } else if (found->second != file) {
            steps.push_back({Kind::put_file, path, found->second, file});
        }
    }
    return steps;
}

}  // namespace daybook
