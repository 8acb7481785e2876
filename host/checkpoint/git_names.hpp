// Names that git, on some file system, could take for its own. They are never stored in a
// checkpoint and never written: `git fsck --strict` reports them, and an old git on a case-folding
// disk would follow them. No I/O. Thread: [any].
#pragma once

#include <string_view>

namespace daybook {

/// ".git" and every spelling of it that NTFS or HFS+ folds to it, also after a backslash. The rules
/// are those of git's fsck (`hasDotgit`).
[[nodiscard]] bool is_git_folder_name(std::string_view name);

/// ".gitmodules" and its other spellings: git reads the content of such a file, and as a link it is
/// an error.
[[nodiscard]] bool is_git_modules_name(std::string_view name);

/// ".gitattributes", ".gitignore", ".mailmap": fine as files, but not as links.
[[nodiscard]] bool is_git_control_name(std::string_view name);

/// Whether a file of that name is not part of the desk: our own temporary files and editors' swap
/// files.
[[nodiscard]] bool is_passing_name(std::string_view name);

}  // namespace daybook
