// What a killed host left in its record log, for readers that change nothing: the commits that its
// next start will bring into git, made again in memory over the objects that git has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include <daybook/result.hpp>

#include "host/checkpoint/git_objects.hpp"
#include "host/os/os.hpp"

namespace daybook {

class StagedObjects;

struct LogOverlay {
    /// To be read before the folder: pass them to GitObjects::open().
    std::shared_ptr<StagedObjects> staged;
    std::optional<GitId> tip;  ///< the newest commit; nullopt: the log holds none
    std::uint64_t records = 0;
    /// The host was killed, or the power was cut: loose objects and the ref may be what is left of
    /// them, and the next start writes them anew.
    bool is_unclean = false;
};

/// `folder_fd` is the repository's folder, opened; nothing in it is changed and no lock is taken.
/// The log is read from a copy in the system's folder for temporary files; beside a host that works
/// that is its state of one instant, or nothing when it does not hold still for one. Errors: io,
/// full (no room for the copy), corrupt (the log, or a record does not fit what git holds: says
/// which). Thread: [any].
Result<LogOverlay> read_log_overlay(Os& os, const std::filesystem::path& repository, int folder_fd);

}  // namespace daybook
