// Looks at everything that one desk's checkpoints consist of: every object's hash, every pack's,
// the tip and the ref, the chain of commits with all that each holds, and the own files against the
// newest. What a killed host left in its record log counts as what it is: checkpoints that the next
// start brings into git. Changes nothing and takes no lock: it runs beside a host that writes, and
// without one. Thread: [any].
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/os.hpp"

namespace daybook {

/// Something is damaged or missing.
struct VerifyFinding {
    std::string what;  ///< which file or object, and what is wrong with it
    std::string todo;  ///< what the owner can do about it
};

struct VerifyReport {
    std::uint64_t loose = 0;   ///< objects in files of their own
    std::uint64_t packed = 0;  ///< objects in packs; one that is in two counts twice
    std::uint64_t packs = 0;
    std::uint64_t commits = 0;      ///< in the chain from the newest on
    std::uint64_t checkpoints = 0;  ///< of those
    std::string newest;             ///< "c-12", "" = none yet
    std::vector<VerifyFinding> findings;
    std::vector<std::string> notes;  ///< in order, and worth knowing: "Memory.md was edited since"
};

struct VerifyPlaces {
    std::filesystem::path desk_folder;
    std::filesystem::path repository;
};

/// Errors: io (a folder cannot be read at all), not_found (there is no such desk).
Result<VerifyReport> verify_checkpoints(Os& os, const VerifyPlaces& places);

}  // namespace daybook
