#include "host/plugin/wall_level.hpp"

#include "host/format/json.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kLandlockWithScopes = 6;

struct Walls {
    std::int64_t landlock = 0;
    bool seccomp = false;
    bool known = false;
};

Walls walls_of(std::string_view walls_json) {
    const auto json = Json::parse(walls_json);
    if (!json || !json->is_object()) {
        return {};
    }
    const Json& seccomp = (*json)["seccomp"];
    return {
        (*json)["landlock"].as_integer(0), seccomp.as_bool() || seccomp.as_integer(0) > 0, true};
}

}  // namespace

WallLevel wall_level_of(std::string_view walls_json) {
    const Walls walls = walls_of(walls_json);
    if (!walls.known) {
        return WallLevel::unknown;
    }
    if (!walls.seccomp) {
        return WallLevel::d;
    }
    return walls.landlock >= kLandlockWithScopes ? WallLevel::a
           : walls.landlock > 0                  ? WallLevel::b
                                                 : WallLevel::c;
}

std::string_view name_of(WallLevel level) noexcept {
    switch (level) {
        case WallLevel::a:
            return "A";
        case WallLevel::b:
            return "B";
        case WallLevel::c:
            return "C";
        case WallLevel::d:
            return "D";
        case WallLevel::unknown:
            break;
    }
    return "";
}

std::string wall_text(std::string_view walls_json) {
    const WallLevel level = wall_level_of(walls_json);
    if (level == WallLevel::unknown) {
        return {};
    }
    const Walls walls = walls_of(walls_json);
    std::string text = "level " + std::string(name_of(level)) + ": ";
    if (level == WallLevel::d) {
        return text + "NO WALLS: the plugin can do whatever the host's user can";
    }
    if (level == WallLevel::c) {
        return text + "no Landlock, seccomp: reads are not confined";
    }
    return text + "Landlock ABI " + std::to_string(walls.landlock) + ", seccomp";
}

}  // namespace daybook
