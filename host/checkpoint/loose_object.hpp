// Git's loose object files, made without libgit2 and without a sync. Thread: [any], one writer a
// folder.
#pragma once

#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/os/os.hpp"

namespace daybook {

/// The name that a loose object has below `objects` until it is whole. A crash may leave it.
inline constexpr std::string_view kNewLooseObject = "tmp_obj_daybook";

/// The file's bytes: git's header ("blob 12" and a NUL) and the content, deflated.
[[nodiscard]] std::string loose_bytes(std::string_view type, std::string_view content);

/// Puts a file of these bytes at `name` ("ab/cdef…") below `objects`; a reader sees it whole.
/// Errors: full, io.
Result<> write_loose(Os& os, int objects, const std::string& name, std::string_view bytes);

}  // namespace daybook
