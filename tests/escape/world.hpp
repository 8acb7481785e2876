// What stands around a runner while an attempt is made: a desk, another desk, keys, a checkpoint
// store, scratch folders. Every user may write all of it: only the walls protect it.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/temp_folder.hpp"

namespace daybook::escape {

class EscapeWorld {
  public:
    /// Copies the runner program and the module into the folder, where every user can read them.
    EscapeWorld(const std::filesystem::path& runner, const std::filesystem::path& module);

    [[nodiscard]] std::string at(const std::string& name) const {
        return (folder_ / name).string();
    }
    [[nodiscard]] std::string root() const { return folder_.path().string(); }
    /// Builds everything but the runner program anew.
    void restore() const;
    /// A line an entry: name, kind and mode, owner, links, size, inode, times of content and of
    /// metadata, flags, extended attributes, content. Without what lies below `except`.
    [[nodiscard]] std::string snapshot(const std::string& except) const;

  private:
    test::TempFolder folder_;
    std::filesystem::path module_;
};

}  // namespace daybook::escape
