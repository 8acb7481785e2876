// One inotify for the whole host: tells when something below a watched folder may have changed.
//
// For promptness only, never for safety: whoever relies on a file's content looks at the file. What
// cannot be watched (no inotify, the system's or our bound of watches reached) is said by status(),
// and found by the next scan. Nothing is followed: folders are opened beneath the root.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/io_loop.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// What was seen. A lost event (the kernel's queue was full) and a folder that came, went or was
/// renamed are told as `everything`: renew() and look at all of it.
struct FolderEvent {
    std::string path;         ///< relative to the root, raw bytes; "" with `everything`
    bool everything = false;  ///< more than one path may have changed
    bool is_open = false;     ///< written to, and whoever did it has not closed it yet
    bool mode = false;        ///< its mode or owner changed
};

class FolderWatcher {
  public:
    struct Bounds {
        std::size_t folders = 8192;  ///< watched in all
        std::size_t each = 512;      ///< of one root, so that no desk takes the others' share
    };
    struct Status {
        std::size_t roots = 0;
        std::size_t folders = 0;
        std::uint64_t overflows = 0;  ///< times the kernel's queue was full
        std::string reason;           ///< why something is not watched; "" = all of it is
    };
    /// Thread: [io]. Short; must not release its own watch.
    using Told = std::function<void(const FolderEvent&)>;

    /// Outlives what it watches; the loop outlives it.
    explicit FolderWatcher(IoLoop& loop) : FolderWatcher(loop, Bounds()) {}
    FolderWatcher(IoLoop& loop, Bounds bounds);
    ~FolderWatcher();
    FolderWatcher(const FolderWatcher&) = delete;
    FolderWatcher& operator=(const FolderWatcher&) = delete;
    FolderWatcher(FolderWatcher&&) = delete;
    FolderWatcher& operator=(FolderWatcher&&) = delete;

    /// One watched root; gone with the object, which waits for a callback that is running.
    class Root {
      public:
        Root() = default;
        virtual ~Root() = default;
        Root(const Root&) = delete;
        Root& operator=(const Root&) = delete;
        Root(Root&&) = delete;
        Root& operator=(Root&&) = delete;
        /// Watches folders that are new and lets go of those that went. Call when told of
        /// `everything`, before looking at the files. Thread: [any] but [io]. Errors: full (a
        /// bound of watches is reached), unavailable (no inotify), io. What could be watched is.
        virtual Result<> renew() = 0;
    };
    /// Watches the folder itself and, with all that is below them, its folders of these names.
    /// Nothing is told before the first renew(). `root` is a directory's descriptor that outlives
    /// the watch. Thread: [any] but [io].
    [[nodiscard]] std::unique_ptr<Root> watch(Os& os,
                                              int root,
                                              std::vector<std::string> below,
                                              Told told);
    [[nodiscard]] Status status() const;  ///< [any]

  private:
    struct Impl;
    class Watched;
    std::shared_ptr<Impl> impl_;
};

}  // namespace daybook
