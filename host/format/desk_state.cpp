#include "host/format/desk_state.hpp"

#include "host/format/member.hpp"

namespace daybook {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::string_view kWhat = "desk state";

Json text_or_null(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

Json to_json(const RolloverState& rollover) {
    Json json = Json::object();
    json.set("day", rollover.day.str()).set("session", text_or_null(rollover.session));
    json.set("summarised", rollover.summarised)
        .set("folded", rollover.folded)
        .set("opened", rollover.opened);
    return json;
}

Result<RolloverState> rollover_from(const Json& json) {
    MemberReader reader(json, "desk state, rollover");
    RolloverState rollover;
    const std::string day = reader.text("day");
    rollover.session = reader.optional_text("session");
    rollover.summarised = reader.optional_boolean("summarised", false);
    rollover.folded = reader.optional_boolean("folded", false);
    rollover.opened = reader.optional_boolean("opened", false);
    if (auto whole = reader.outcome(); !whole) {
        return whole.error();
    }
    auto date = DeskDate::parse(day);
    if (!date) {
        return date.error().during("desk state, rollover");
    }
    rollover.day = *date;
    return rollover;
}

}  // namespace

Json DeskState::to_json() const {
    Json sessions = Json::object();
    for (const auto& [model, id] : backend_sessions) {
        sessions.set(model, id);
    }
    Json json = Json::object();
    json.set("v", kVersion).set("session", text_or_null(session));
    json.set("session_day", session_day ? Json(session_day->str()) : Json());
    json.set("rollover", rollover ? daybook::to_json(*rollover) : Json());
    json.set("next_turn", std::size_t{next_turn}).set("backend_sessions", sessions);
    json.set("last_model", text_or_null(last_model)).set("settled_day", text_or_null(settled_day));
    if (!calibration.empty()) {
        Json models = Json::object();
        for (const auto& [model, per_thousand] : calibration) {
            models.set(model, per_thousand);
        }
        json.set("calibration", std::move(models));
    }
    json.set("context_tokens", context_tokens);
    if (paused) {
        json.set("paused", true);
    }
    return json;
}

Result<DeskState> DeskState::from_json(const Json& json) {
    MemberReader reader(json, kWhat);
    if (const std::int64_t version = reader.integer("v", 1); version > kVersion) {
        return Error(Errc::unsupported,
                     "desk state: version " + std::to_string(version) +
                         " is newer than this program's " + std::to_string(kVersion));
    }
    DeskState state;
    state.session = reader.optional_text("session");
    const std::string day = reader.optional_text("session_day");
    state.next_turn = static_cast<std::uint64_t>(reader.integer("next_turn", 1));
    const Json sessions = reader.optional_object("backend_sessions");
    for (const auto& [model, id] : sessions.members()) {
        if (!id.is_string()) {
            reader.fail("backend_sessions", "text for each model");
        }
        state.backend_sessions[model] = id.as_string();
    }
    const Json calibrated = reader.optional_object("calibration");
    for (const auto& [model, per_thousand] : calibrated.members()) {
        if (per_thousand.as_integer() <= 0) {
            reader.fail("calibration", "tokens of 1,000 bytes for each model");
        }
        state.calibration[model] = per_thousand.as_integer();
    }
    state.last_model = reader.optional_text("last_model");
    state.settled_day = reader.optional_text("settled_day");
    state.paused = reader.optional_boolean("paused", false);
    state.context_tokens = reader.optional_integer("context_tokens", 0, 0);
    if (auto whole = reader.outcome(); !whole) {
        return whole.error();
    }
    if (!day.empty()) {
        auto date = DeskDate::parse(day);
        if (!date) {
            return date.error().during(kWhat);
        }
        state.session_day = *date;
    }
    if (!json["rollover"].is_null()) {
        auto rollover = rollover_from(json["rollover"]);
        if (!rollover) {
            return rollover.error();
        }
        state.rollover = std::move(*rollover);
    }
    return state;
}

}  // namespace daybook
