#include "host/turn/tool_call.hpp"

#include "host/os/desk_path.hpp"
#include "host/turn/conversation.hpp"
#include "host/turn/effects.hpp"

namespace daybook {
namespace {

constexpr int kMaxArgumentDepth = 32;
constexpr int kLogError = 3;

}  // namespace

struct ToolCaller::Checked {
    ToolOffer offer;
    std::string arguments;  ///< as the host read them: what a plugin parses is what was checked
    Leash leash;
};

std::string ToolCaller::known_tools() const {
    std::string names;
    for (const auto& [name, offer] : parts_.tools) {
        if (scope_.allowance.allows_tool(name)) {
            names += (names.empty() ? "" : ", ") + name;
        }
    }
    return names.empty() ? "none" : names;
}

Result<> ToolCaller::check_schema(const ToolManifest& tool, const Json& arguments) {
    auto found = parts_.schemas.find(tool.name);
    if (found == parts_.schemas.end()) {
        auto compiled = JsonSchema::compile(tool.input_schema);
        if (!compiled) {
            return compiled.error().during("tool " + tool.name + ": its input schema");
        }
        found = parts_.schemas.emplace(tool.name, std::move(*compiled)).first;
    }
    auto fits = found->second.check(arguments);
    return fits ? Result<>() : Result<>(fits.error().during("arguments of " + tool.name));
}

Result<ToolCaller::Checked> ToolCaller::check(Leash* parent,
                                              const std::string& tool,
                                              const std::string& arguments) {
    const auto found = parts_.tools.find(tool);
    if (found == parts_.tools.end() || !scope_.allowance.allows_tool(tool)) {
        const bool known = found != parts_.tools.end();
        return Error(known ? Errc::refused : Errc::not_found,
                     "tool " + printable(tool, 64) +
                         (known ? ": not in a turn of kind "
                                : ": the desk has none of that name in a turn of kind ") +
                         std::string(name_of(scope_.kind)) + "; there are: " + known_tools());
    }
    JsonLimits limits;
    limits.max_depth = kMaxArgumentDepth;
    auto parsed = Json::parse(arguments.empty() ? "{}" : arguments, limits);
    if (!parsed) {
        return parsed.error().during("arguments of " + tool);
    }
    if (!parsed->is_object()) {
        return Error(Errc::invalid, "arguments of " + tool + ": expected a JSON object");
    }
    const ToolOffer& offer = found->second;
    if (auto fits = check_schema(*offer.tool, *parsed); !fits) {
        return fits.error();
    }
    const auto timeout = offer.tool->timeout.count() > 0 ? offer.tool->timeout
                                                         : parts_.services.config.host.call_timeout;
    auto leash = derive_leash(scope_.allowance,
                              *offer.tool,
                              offer.plugin->groups,
                              *parsed,
                              parts_.services.clock.steady() + timeout);
    if (!leash) {
        return leash.error();
    }
    leash->desk = parts_.config.name;
    leash->plugin = offer.plugin->config.name;
    leash->tool = tool;
    leash->turn = scope_.turn;
    if (parent != nullptr) {
        leash = attenuate(*parent, std::move(*leash));
        if (!leash) {
            return leash.error();
        }
    }
    return Checked{offer, parsed->dump(), std::move(*leash)};
}

VerbContext ToolCaller::verb_context() {
    return VerbContext{
        parts_.gate,
        parts_.journal,
        parts_.services.clock,
        parts_.zone,
        parts_.calendar,
        scope_.allowance,
        scope_.shown,
        scope_.session,
        scope_.turn,
        scope_.day,
        [this](Leash& parent,
               const std::string& tool,
               const std::string& arguments,
               CallOutcome& outcome) { return call_nested(parent, tool, arguments, outcome); }};
}

CallOutcome ToolCaller::send(Checked& checked, const std::string& idempotency_key) {
    HostCalls verbs(verb_context());
    CallWatch watch;
    watch.is_cancelled = [this] { return parts_.interrupt.is_set(); };
    watch.on_progress = [&](const std::string& text) {
        Json members = Json::object();
        members.set("turn", scope_.turn)
            .set("trigger", scope_.trigger)
            .set("tool", checked.leash.tool)
            .set("text", text);
        parts_.events.emit("progress", members);
    };
    CallRequest request;
    request.name = checked.leash.tool;
    request.arguments = checked.arguments;
    request.idempotency_key = idempotency_key;
    auto runner = parts_.runners.of(*checked.offer.plugin);
    if (!runner) {
        CallOutcome not_started;
        not_started.result = runner.error();
        return not_started;
    }
    return run_call(**runner,
                    parts_.inbox,
                    checked.leash,
                    request,
                    verbs,
                    watch,
                    parts_.services.config.host.cancel_grace);
}

CallOutcome ToolCaller::run(Checked& checked) {
    return checked.leash.is_external() ? run_external(checked) : send(checked, "");
}

CallOutcome ToolCaller::run_external(Checked& checked) {
    const Effect effect = make_effect(scope_.session,
                                      scope_.turn,
                                      scope_.trigger,
                                      checked.leash.tool,
                                      ++scope_.external_calls,
                                      checked.arguments);
    EffectLog log(parts_.journal);
    if (auto intended = log.intend(effect); !intended) {
        CallOutcome not_tried;
        not_tried.result = intended.error();
        return not_tried;
    }
    CallOutcome outcome = send(checked, effect.key);
    if (auto concluded = log.conclude(effect, outcome); !concluded) {
        // The effect stands, its outcome is missing in the record: recovery will say so. No further
        // effect is possible, since its intent could not be journalled either.
        parts_.services.log(
            kLogError,
            concluded.error().message() + " desk=" + parts_.config.name + " turn=" + scope_.turn);
    }
    if (state_of(outcome) == EffectState::unknown) {
        const Error& error = outcome.result.error();
        outcome.result =
            Error(error.code(),
                  error.message() + "; whether the effect happened is not known (key " +
                      effect.key + "): do not repeat it, look it up or tell the owner");
    }
    return outcome;
}

CallOutcome ToolCaller::call(const std::string& tool, const std::string& arguments) {
    auto checked = check(nullptr, tool, arguments);
    if (!checked) {
        CallOutcome refused;
        refused.result = checked.error();
        return refused;
    }
    return run(*checked);
}

Result<std::string> ToolCaller::call_nested(Leash& parent,
                                            const std::string& tool,
                                            const std::string& arguments,
                                            CallOutcome& outcome) {
    auto checked = check(&parent, tool, arguments);
    if (!checked) {
        return checked.error();
    }
    CallOutcome inner = run(*checked);
    std::move(inner.writes.begin(), inner.writes.end(), std::back_inserter(outcome.writes));
    outcome.external_effect = outcome.external_effect || inner.external_effect;
    return std::move(inner.result);
}

ToolReport ToolCaller::report(const CallOutcome& outcome) {
    ToolReport report;
    for (const WriteReceipt& write : outcome.writes) {
        report.checkpoints.push_back(write.checkpoint);
    }
    if (!outcome.result) {
        report.status = name_of(outcome.result.error().code());
        report.text = Json::object()
                          .set("error", report.status)
                          .set("message", outcome.result.error().message())
                          .dump();
        return report;
    }
    report.status = "ok";
    report.text = *outcome.result;
    if (report.text.size() > kMaxShown) {
        const std::string_view shown = cut_text(report.text, kMaxShown);
        report.text = Json::object()
                          .set("cut",
                               "the first " + grouped(shown.size()) + " of " +
                                   grouped(report.text.size()) + " bytes; ask for less")
                          .set("text", shown)
                          .dump();
    }
    return report;
}

}  // namespace daybook
