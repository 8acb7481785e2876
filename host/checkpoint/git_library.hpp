// The git library's state for the whole process.
#pragma once

namespace daybook {

/// Starts the git library for this process, once: some milliseconds of processor time, which the
/// first store would spend otherwise. Thread: [any].
void start_git_library();

}  // namespace daybook
