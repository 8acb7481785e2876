#include "host/turn/tool_call.hpp"

#include <algorithm>
#include <exception>

#include "host/gate/content_rules.hpp"
#include "host/os/desk_path.hpp"
#include "host/os/key_files.hpp"
#include "host/turn/conversation.hpp"
#include "host/turn/effects.hpp"

namespace daybook {
namespace {

constexpr int kMaxArgumentDepth = 32;

/// Path that a call asked for, as it was given; it need not be one. {day} is filled in.
std::string path_asked_for(const WritesRule& rule, const Json& arguments, DeskDate day) {
    if (rule.fixed.empty()) {
        return arguments[rule.argument].as_string();
    }
    std::string path = rule.fixed;
    constexpr std::string_view kDay = "{day}";
    if (const std::size_t at = path.find(kDay); at != std::string::npos) {
        path.replace(at, kDay.size(), day.str());
    }
    return path;
}

/// What a leash lets its call write, for the journal.
std::string allowed_by(const Leash& leash) {
    return leash.file ? leash.file->path.str() + " (" +
                            names_of_operations(leash.file->operations) + ") only"
                      : "no file";
}

/// Stands in the list of callers while a call is nested in it.
class CallerMark {
  public:
    CallerMark(std::vector<const CallOutcome*>& callers, const CallOutcome& caller)
        : callers_(callers) {
        callers_.push_back(&caller);
    }
    ~CallerMark() { callers_.pop_back(); }
    CallerMark(const CallerMark&) = delete;
    CallerMark& operator=(const CallerMark&) = delete;
    CallerMark(CallerMark&&) = delete;
    CallerMark& operator=(CallerMark&&) = delete;

  private:
    std::vector<const CallOutcome*>& callers_;
};

}  // namespace

struct ToolCaller::Checked {
    ToolOffer offer;
    std::string arguments;  ///< as the host read them: what a plugin parses is what was checked
    Leash leash;
    Json given;  ///< the leash as it was when the call was allowed, for the record
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

Error ToolCaller::note_refusal(const ToolManifest& tool,
                               const Json& arguments,
                               const std::string& rule,
                               const std::string& allowed,
                               const Error& error) {
    if (!tool.writes) {
        return error;
    }
    const std::string path = path_asked_for(*tool.writes, arguments, scope_.day);
    Json data = Json::object();
    data.set("path", printable(mask_secrets(path)))
        .set("op", names_of_operations(tool.writes->operations))
        .set("rule", rule)
        .set("allowed", mask_secrets(allowed))
        .set("tool", tool.name)
        .set("text", mask_secrets(error.message()));
    auto record = parts_.journal.append(
        DeskParts::entry("write_refused", scope_.session, scope_.turn, std::move(data)));
    return record ? error
                  : Error(error.code(),
                          error.message() + " (not journalled: " + record.error().message() + ")");
}

Result<ToolOffer> ToolCaller::find_tool(const std::string& tool, const std::string& arguments) {
    const auto found = parts_.tools.find(tool);
    const bool known = found != parts_.tools.end();
    if (known && scope_.allowance.allows_tool(tool)) {
        return found->second;
    }
    const Error error(known ? Errc::refused : Errc::not_found,
                      "tool " + printable(tool, 64) +
                          (known ? ": not in a turn of kind "
                                 : ": the desk has none of that name in a turn of kind ") +
                          std::string(name_of(scope_.kind)) + "; there are: " + known_tools());
    if (!known) {
        return error;
    }
    auto parsed = Json::parse(arguments);
    return note_refusal(*found->second.tool,
                        parsed && parsed->is_object() ? *parsed : Json::object(),
                        "turn",
                        scope_.allowance.describe_tools(),
                        error);
}

std::chrono::milliseconds ToolCaller::timeout_of(const ToolManifest& tool) const {
    return tool.timeout.count() > 0 ? tool.timeout : parts_.services.config.host.call_timeout;
}

Result<Leash> ToolCaller::leash_for(Leash* parent, const ToolOffer& offer, const Json& arguments) {
    auto leash = derive_leash(scope_.allowance,
                              *offer.tool,
                              offer.plugin->groups,
                              arguments,
                              parts_.services.clock.steady() + timeout_of(*offer.tool));
    if (!leash) {
        return note_refusal(
            *offer.tool, arguments, "leash", scope_.allowance.describe() + " only", leash.error());
    }
    leash->desk = parts_.config.name;
    leash->plugin = offer.plugin->config.name;
    leash->tool = offer.tool->name;
    leash->turn = scope_.turn;
    leash->label = scope_.turn + "." + std::to_string(++scope_.calls);
    if (parent == nullptr) {
        return leash;
    }
    auto narrowed = attenuate(*parent, std::move(*leash));
    return narrowed ? std::move(narrowed)
                    : note_refusal(
                          *offer.tool, arguments, "leash", allowed_by(*parent), narrowed.error());
}

Result<ToolCaller::Checked> ToolCaller::check(Leash* parent,
                                              const std::string& tool,
                                              const std::string& arguments) {
    auto offer = find_tool(tool, arguments);
    if (!offer) {
        return offer.error();
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
    if (auto fits = check_schema(*offer->tool, *parsed); !fits) {
        return fits.error();
    }
    auto leash = leash_for(parent, *offer, *parsed);
    if (!leash) {
        return leash.error();
    }
    // The time that it was given, not what is left of it now: the same turn gives the same record.
    Json given = leash->to_json(leash->deadline - timeout_of(*offer->tool));
    return Checked{*offer, parsed->dump(), std::move(*leash), std::move(given)};
}

VerbContext ToolCaller::verb_context(ShownFiles& shown) {
    return VerbContext{
        parts_.gate,
        parts_.journal,
        parts_.services.clock,
        parts_.zone,
        parts_.calendar,
        scope_.allowance,
        shown,
        scope_.session,
        scope_.turn,
        scope_.day,
        [this](Leash& parent,
               const std::string& tool,
               const std::string& arguments,
               CallOutcome& outcome) { return call_nested(parent, tool, arguments, outcome); },
        &parts_.history,
        parts_.hand_over,
        [this](const std::string& plugin) { return parts_.runners.find_scratch(plugin); }};
}

HttpAccess ToolCaller::http_access(std::vector<OriginConfig> origins) const {
    const DeskServices& services = parts_.services;
    return {services.http,
            &parts_.inbox,
            std::move(origins),
            [keys = services.keys](const std::string& name) {
                return keys != nullptr ? keys->read(name)
                                       : Result<std::string>(
                                             Error(Errc::auth, "this host keeps no credentials"));
            }};
}

/// Also when a caller further out has ended: its answer would reach nobody.
bool ToolCaller::is_cancelled() const {
    return parts_.interrupt.is_set() ||
           std::any_of(callers_.begin(), callers_.end(), [](const CallOutcome* caller) {
               return caller->ended;
           });
}

CallOutcome ToolCaller::send(Checked& checked, const std::string& idempotency_key) {
    VerbContext context = verb_context(scope_.shown);
    context.http = http_access(checked.offer.plugin->config.origins);
    context.process = parts_.runners.process_access(*checked.offer.plugin);
    HostCalls verbs(std::move(context));
    CallWatch watch;
    watch.is_cancelled = [this] { return is_cancelled(); };
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
    watch.inspect = parts_.runners.inspection_of(*checked.offer.plugin);
    return run_call(**runner,
                    parts_.inbox,
                    checked.leash,
                    request,
                    verbs,
                    watch,
                    parts_.services.config.host.cancel_grace);
}

CallOutcome ToolCaller::run(Checked& checked) {
    CallOutcome outcome = checked.leash.is_external() ? run_external(checked) : send(checked, "");
    outcome.leash = std::move(checked.given);
    return outcome;
}

CallOutcome ToolCaller::run_external(Checked& checked) {
    Effect effect = make_effect(scope_.session,
                                scope_.turn,
                                scope_.trigger,
                                checked.leash.tool,
                                ++scope_.external_calls,
                                checked.arguments);
    effect.leash = checked.given;
    EffectLog log(parts_.journal);
    if (auto intended = log.intend(effect); !intended) {
        CallOutcome not_tried;
        not_tried.result = intended.error();
        return not_tried;
    }
    CallOutcome outcome;
    try {
        outcome = send(checked, effect.key);
    } catch (const std::exception&) {
        // The turn fails with it, further out; the record must not be without its outcome.
        outcome.external_effect = true;
        outcome.result = Error(Errc::cancelled, "broken off by a fault of the host");
        static_cast<void>(log.conclude(effect, outcome));
        throw;
    }
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

Result<> ToolCaller::check_named(const Leash& parent, const std::string& tool) const {
    const PluginEntry* caller = parts_.plugins.find(parent.plugin);
    const std::vector<std::string> named =
        caller != nullptr ? caller->manifest.calls : std::vector<std::string>();
    if (std::find(named.begin(), named.end(), tool) != named.end()) {
        return {};
    }
    std::string names;
    for (const std::string& name : named) {
        names += (names.empty() ? "" : ", ") + name;
    }
    return Error(Errc::refused,
                 "call " + printable(tool, 64) + ": the manifest of plugin " + parent.plugin +
                     " names " + (names.empty() ? "no tool" : names + " only") +
                     "; add the tool to its calls");
}

Result<std::string> ToolCaller::call_nested(Leash& parent,
                                            const std::string& tool,
                                            const std::string& arguments,
                                            CallOutcome& outcome) {
    if (auto named = check_named(parent, tool); !named) {
        return named.error();
    }
    auto checked = check(&parent, tool, arguments);
    if (!checked) {
        return checked.error();
    }
    const CallerMark mark(callers_, outcome);
    CallOutcome inner = run(*checked);
    std::move(inner.writes.begin(), inner.writes.end(), std::back_inserter(outcome.writes));
    outcome.external_effect = outcome.external_effect || inner.external_effect;
    if (inner.result && inner.result->size() > kMaxNested) {
        return Error(Errc::full,
                     "call " + tool + ": its result has " + grouped(inner.result->size()) +
                         " bytes, a nested call may return " + grouped(kMaxNested) +
                         "; ask for less");
    }
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
        report.is_cut = true;
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
