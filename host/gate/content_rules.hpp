// What may not stand in a memory file, whoever writes it: secrets and personal numbers, bad text,
// too much of it. Source: docs/memory.md; the rules are those of design section 5, step 2. Thread:
// [any].
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

#include "host/os/desk_path.hpp"

namespace daybook {

inline constexpr std::size_t kMaxMemoryFile = 64UL * 1024;  ///< Memory.md
inline constexpr std::size_t kMaxNotesFile = 256UL * 1024;  ///< a day's notes
inline constexpr std::size_t kMaxOtherFile = 1024UL * 1024;

/// The cap that holds for the file.
[[nodiscard]] std::size_t max_bytes_of(const DeskPath& path) noexcept;

/// Looks for a key with a known prefix, a Bearer value, a private-key block, a PAN, an Aadhaar or
/// card number, or a high-entropy run beside a word like token; also when split by spaces, dashes,
/// full-width digits or zero-width characters. Returns the rule's name ("aadhaar number"), never
/// the value.
std::optional<std::string> find_secret(std::string_view text);

/// The text with every secret replaced by "[masked: RULE]": for the journal and logs.
[[nodiscard]] std::string mask_secrets(std::string_view text);

/// Checks a new content as a whole. Errors: refused (secret, size, not UTF-8, NUL or control
/// characters).
Result<> check_content(const DeskPath& path,
                       std::string_view old_content,
                       std::string_view new_content);

}  // namespace daybook
