// One object's bytes as their difference from another's, in the form that git's packs hold. Thread:
// [any]. Source: git's Documentation/gitformat-pack, "Deltified representation".
#pragma once

#include <string>
#include <string_view>

namespace daybook {

/// What makes `target` out of `base`: pieces of the base and new bytes. Always right, not always
/// shorter than the target. The base may be up to 4 GiB. Time is linear in both, whatever they
/// hold; memory about a byte for each byte of a large base, 8 for each of a small one.
[[nodiscard]] std::string encode_delta(std::string_view base, std::string_view target);

}  // namespace daybook
