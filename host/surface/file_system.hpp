// The file system that a home lies on: what is known to keep the promises about syncs and renames,
// and what is not.
#pragma once

#include <string>

#include <daybook/result.hpp>

namespace daybook {

struct FileSystem {
    std::string name;  ///< "ext4"; "unknown (0x1234)" for one that is not in the table
    enum class Fit {
        yes,      ///< syncs, exchanging renames and locks are as the host needs them
        no_disk,  ///< the same, but a power cut takes all of it
        unsure,   ///< over a network, or one that nobody tried
    } fit = Fit::unsure;
};

/// By the number that statfs gives.
[[nodiscard]] FileSystem file_system_of(long magic);
/// Of an open file or folder. Errors: io.
Result<FileSystem> file_system_at(int fd);

}  // namespace daybook
