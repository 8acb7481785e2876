// sessions/<desk>/state.json: where a desk stands. Rebuilt from the files when lost or corrupt. No
// I/O.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <daybook/result.hpp>

#include "host/format/json.hpp"
#include "host/os/clock.hpp"

namespace daybook {

/// A rollover under way or done last. Keyed by day, at most once a day; a step that is recorded is
/// never repeated.
struct RolloverState {
    DeskDate day;         ///< the day that is being closed
    std::string session;  ///< the session that is being closed
    bool summarised = false;
    bool folded = false;
    bool opened = false;  ///< done
};

struct DeskState {
    std::string session;  ///< open session "2026-10-19-1"; "" = none
    std::optional<DeskDate> session_day;
    std::optional<RolloverState> rollover;
    std::uint64_t next_turn = 1;  ///< number of the next turn, "t-<n>"
    std::map<std::string, std::string>
        backend_sessions;  ///< model name -> backend's own session id
    std::string last_model;
    std::string
        settled_day;      ///< journal day before which every trigger is settled; "" = read all kept
    bool paused = false;  ///< by the owner: triggers wait
    std::map<std::string, std::int64_t>
        calibration;  ///< model name -> tokens of 1,000 bytes, where more than a third
    std::int64_t context_tokens = 0;  ///< the server's count at the last call, 0 = never counted

    [[nodiscard]] Json to_json() const;
    static Result<DeskState> from_json(const Json& json);
};

}  // namespace daybook
