// What must be done to a desk's files so that they are as a checkpoint holds them. No I/O.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/checkpoint/stored_tree.hpp"

namespace daybook {

struct RestoreStep {
    enum class Kind { remove_file, remove_folder, make_folder, put_file };
    Kind kind = Kind::put_file;
    std::string path;                  ///< raw, in the desk's folder
    std::optional<StoredFile> before;  ///< of files: as it must be now; nullopt = must not exist
    std::optional<StoredFile> after;   ///< of files: as it shall be; nullopt = shall not exist
    unsigned permissions = 0;          ///< of a folder that is made; 0 = as its parent's
};

/// In the order in which they can be done: files go, then folders that are left empty from the
/// deepest up, then folders are made, then files put.
[[nodiscard]] std::vector<RestoreStep> plan_restore(const StoredTree& now, const StoredTree& then);

/// Of those the steps that concern one path: its own, and the folders above it that are made.
[[nodiscard]] std::vector<RestoreStep> only_of(std::vector<RestoreStep> steps,
                                               const std::string& path);

}  // namespace daybook
