#include "host/turn/effects.hpp"

#include "host/format/sha256.hpp"
#include "host/gate/content_rules.hpp"
#include "host/turn/desk_parts.hpp"

namespace daybook {
namespace {

constexpr std::size_t kHashDigits = 12;

}  // namespace

Effect make_effect(std::string session,
                   std::string turn,
                   std::string trigger,
                   std::string tool,
                   int ordinal,
                   std::string_view arguments) {
    Effect effect;
    effect.args_sha256 = sha256_hex(arguments);
    effect.key =
        trigger + ":" + std::to_string(ordinal) + ":" + effect.args_sha256.substr(0, kHashDigits);
    effect.tool = std::move(tool);
    effect.session = std::move(session);
    effect.turn = std::move(turn);
    effect.trigger = std::move(trigger);
    return effect;
}

std::string_view name_of(EffectState state) noexcept {
    switch (state) {
        case EffectState::none:
            return "none";
        case EffectState::known:
            return "known";
        case EffectState::unknown:
            break;
    }
    return "unknown";
}

EffectState state_of(const CallOutcome& outcome) noexcept {
    if (outcome.result) {
        return EffectState::known;
    }
    if (!outcome.external_effect) {
        return EffectState::none;
    }
    const Errc code = outcome.result.error().code();
    const bool broke_off = code == Errc::plugin_crashed || code == Errc::plugin_protocol ||
                           code == Errc::deadline || code == Errc::cancelled;
    return broke_off ? EffectState::unknown : EffectState::known;
}

Result<> EffectLog::intend(const Effect& effect) {
    Json data = Json::object();
    data.set("key", effect.key)
        .set("tool", effect.tool)
        .set("args_sha256", effect.args_sha256)
        .set("trigger", effect.trigger);
    if (!effect.leash.is_null()) {
        data.set("leash", effect.leash);
    }
    JournalEntry entry =
        DeskParts::entry("effect_intent", effect.session, effect.turn, std::move(data));
    entry.key = "intent:" + effect.key;
    auto record = journal_.append(std::move(entry));
    if (!record) {
        return record.error().during("journal the intent of " + effect.tool);
    }
    if (record->entry.turn != effect.turn) {
        return Error(Errc::refused,
                     effect.tool + ": this effect was already tried in turn " + record->entry.turn +
                         " (key " + effect.key + ") and is never tried twice");
    }
    return {};
}

Result<> EffectLog::conclude(const Effect& effect, const CallOutcome& outcome) {
    const EffectState state = state_of(outcome);
    Json data = Json::object();
    data.set("key", effect.key).set("tool", effect.tool).set("outcome", name_of(state));
    data.set("status", outcome.result ? "ok" : name_of(outcome.result.error().code()));
    if (!outcome.result) {
        data.set("message", mask_secrets(outcome.result.error().message()));
    }
    JournalEntry entry =
        DeskParts::entry("effect_outcome", effect.session, effect.turn, std::move(data));
    entry.key = "outcome:" + effect.key;
    auto record = journal_.append(std::move(entry));
    return record ? Result<>()
                  : Result<>(record.error().during("journal the outcome of " + effect.tool));
}

}  // namespace daybook
