// How much of a window the fixed part of a desk's request takes, for `doctor`. Reads files only.
// Thread: [any].
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/plugin/registry.hpp"

namespace daybook {

class Desk;

/// What the desk's instructions, skills, Memory.md, notes and tools take, by the estimate of
/// bytes / 3. A file that cannot be read counts as empty.
[[nodiscard]] std::int64_t fixed_tokens(const Desk& desk, const Registry& registry, DeskDate day);

}  // namespace daybook
