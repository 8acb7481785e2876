// What restoring a folder needs beyond plain files: links, folders that go, one flush for many
// files. Paths are beneath a directory descriptor, as in os.hpp. Thread: [any].
#pragma once

#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/os/os.hpp"

namespace daybook {

/// The text of a symbolic link, at most PATH_MAX bytes. Errors: not_found, io (also: no link).
Result<std::string> read_link(Os& os, int dir, std::string_view path);
/// Makes a symbolic link with that text. Errors: conflict (the name is taken), full, io.
Result<> make_link(Os& os, int dir, std::string_view path, const std::string& text);
/// Removes an empty folder. Errors: conflict (it is not empty), not_found, io.
Result<> remove_empty_folder(Os& os, int dir, std::string_view path);
/// Makes everything durable that was written to the file system on which `dir` lies. For many
/// files at once; an error is final, as that of Os::full_sync. Errors: io, full.
Result<> sync_file_system(Os& os, int dir);

}  // namespace daybook
