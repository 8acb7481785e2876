// A checkpoint's whole content by path, as restoring and comparing need it: names as raw bytes,
// every mode bit, empty folders. Without the host's own `.daybook/`. Thread: [any].
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/checkpoint/attributes.hpp"
#include "host/checkpoint/folder_tree.hpp"

namespace daybook {

struct StoredFile {
    TreeFile file;
    unsigned permissions = 0644;  ///< the low twelve bits; of a link nothing
    [[nodiscard]] bool is_link() const { return file.mode == kModeLink; }
    friend bool operator==(const StoredFile&, const StoredFile&) = default;
};

struct StoredTree {
    std::map<std::string, StoredFile> files;  ///< raw paths
    Attributes attributes;                    ///< as stored, to be stored again
    std::vector<std::string> skipped;         ///< of files on disk: what no checkpoint holds
    GitId id;                                 ///< of git's tree, `.daybook/` included

    [[nodiscard]] const std::map<std::string, unsigned>& empty_folders() const {
        return attributes.empty_folders();
    }
};

/// Joins files and attributes; `.daybook/` is left out.
StoredTree stored_tree_of(const std::map<std::string, TreeFile>& files, Attributes attributes);

}  // namespace daybook
