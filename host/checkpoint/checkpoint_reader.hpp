// Reads a desk's checkpoints beside whoever writes them: takes no lock, changes nothing, needs no
// host. What a killed host left in its record log counts. Thread: one at a time.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <daybook/result.hpp>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/os/os.hpp"

namespace daybook {

class CheckpointReader {
  public:
    /// What there is now, by id ("c-12"); a folder that does not exist holds none. Errors: io,
    /// corrupt (a commit cannot be read: names it).
    static Result<CheckpointReader> open(Os& os, const std::filesystem::path& repository);
    ~CheckpointReader();
    CheckpointReader(CheckpointReader&&) noexcept;
    CheckpointReader& operator=(CheckpointReader&&) noexcept;
    CheckpointReader(const CheckpointReader&) = delete;
    CheckpointReader& operator=(const CheckpointReader&) = delete;

    [[nodiscard]] const std::map<std::string, Checkpoint>& all() const noexcept;
    /// SHA-256 of the file as the checkpoint holds it, "" = it did not exist then. Errors:
    /// not_found, corrupt.
    [[nodiscard]] Result<std::string> sha256_of(const Checkpoint& checkpoint,
                                                std::string_view path) const;

  private:
    struct Impl;
    explicit CheckpointReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace daybook
