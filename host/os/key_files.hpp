// Credentials by name: a file each in keys/, readable by the host's user only, or a credential that
// systemd hands to the service. Read when they are used, so that a new one counts at once.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/os/os.hpp"

namespace daybook {

/// Thread: [any].
class KeyFiles {
  public:
    static constexpr std::size_t kMaxBytes = 8UL * 1024;

    /// `folder`: keys/ of the state folder. `from_system`: $CREDENTIALS_DIRECTORY, or empty; it is
    /// looked into first. Borrows the Os.
    KeyFiles(Os& os, std::filesystem::path folder, std::filesystem::path from_system = {})
        : os_(os), folder_(std::move(folder)), from_system_(std::move(from_system)) {}

    /// The credential without its final line end. Errors: auth (there is none: says how to set it),
    /// refused (a name that is taken or odd; a file that others may read; not one line of text),
    /// io.
    [[nodiscard]] Result<std::string> read(const std::string& name) const;
    /// Makes or replaces it, 0600. Errors: refused, not_found (no such folder), io, full.
    Result<> set(const std::string& name, std::string_view value) const;
    /// Errors: not_found, io.
    Result<> remove(const std::string& name) const;
    /// Names in keys/, sorted. Errors: not_found, io.
    [[nodiscard]] Result<std::vector<std::string>> list() const;

  private:
    Os& os_;
    std::filesystem::path folder_;
    std::filesystem::path from_system_;
};

}  // namespace daybook
