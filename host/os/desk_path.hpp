// A path inside a desk's folder: relative, normalised, compared as bytes.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include <daybook/result.hpp>

namespace daybook {

/// Made only by parse(). Never absolute, no empty, "." or ".." component, no NUL, no control
/// character, valid UTF-8, each component at most 255 bytes, at most 1,024 bytes and 16 components,
/// no component that git could take for its own
/// (".git" in any case, "git~1") nor one of ours (".daybook", or ending in ".daybook~").
/// No case folding and no Unicode normalisation: two spellings are two files.
class DeskPath {
  public:
    /// Errors: invalid, with a sentence that names the path (escaped, at most 120 bytes of it) and
    /// the rule.
    static Result<DeskPath> parse(std::string_view text);

    [[nodiscard]] const std::string& str() const noexcept { return text_; }
    /// Whether the path is one of the desk's own files: Memory.md, or below memory/, notes/ or
    /// skills/. Only those are checkpointed and may ever be written.
    [[nodiscard]] bool is_own() const noexcept;
    /// Folder part ("" at the top) and last component.
    [[nodiscard]] std::string_view folder() const noexcept;
    [[nodiscard]] std::string_view name() const noexcept;

    friend auto operator<=>(const DeskPath&, const DeskPath&) = default;
    friend bool operator==(const DeskPath&, const DeskPath&) = default;

  private:
    explicit DeskPath(std::string text) : text_(std::move(text)) {}
    std::string text_;
};

/// Whether a name may stand in a path of ours as it is: [A-Za-z0-9._-]{1,64}, not "." or "..", no
/// leading dot or dash. For names of desks, plugins, models, sessions.
[[nodiscard]] bool is_plain_name(std::string_view name) noexcept;

/// Text from outside made safe to print in one line: control characters and invalid UTF-8 as \xNN,
/// cut after `max_bytes`.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 120);

}  // namespace daybook
