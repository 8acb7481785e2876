// Looks at a desk's ledger: each line, and whether the newest checkpoint holds a part of it from
// the beginning. Changes nothing, takes no lock. Thread: [any].
#pragma once

#include <filesystem>
#include <string>

#include <daybook/result.hpp>

#include "host/checkpoint/verify.hpp"
#include "host/os/os.hpp"

namespace daybook {

/// Adds what is wrong, and what the owner can do about it, to the report. `state` is the state
/// folder. Errors: io, corrupt (the chain of commits cannot be read).
Result<> verify_ledger(Os& os,
                       const std::filesystem::path& state,
                       const std::string& desk,
                       VerifyReport& report);

}  // namespace daybook
