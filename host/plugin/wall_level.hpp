// Which rung of the ladder a runner stands on (docs/leash.md, "The walls"): never descended
// silently, shown wherever a runner is. Thread: [any].
#pragma once

#include <string>
#include <string_view>

namespace daybook {

/// A: Landlock 6 or later and seccomp. B: Landlock 1 to 5 and seccomp; the same holds. C: seccomp
/// alone, reads are not confined. D: no walls.
enum class WallLevel { unknown, a, b, c, d };

/// Of the runner's own report (`walls` of RunnerStatus); unknown before it was ready.
[[nodiscard]] WallLevel wall_level_of(std::string_view walls_json);
/// "A", …, "" = unknown
[[nodiscard]] std::string_view name_of(WallLevel level) noexcept;
/// "level B: Landlock ABI 2, seccomp"; "" = unknown. Says what C and D leave open.
[[nodiscard]] std::string wall_text(std::string_view walls_json);
/// Whether something is open that `isolation = "required"` would have refused.
[[nodiscard]] constexpr bool is_lowered(WallLevel level) noexcept {
    return level == WallLevel::c || level == WallLevel::d;
}

}  // namespace daybook
