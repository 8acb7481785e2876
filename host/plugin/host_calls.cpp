#include "host/plugin/host_calls.hpp"

#include <algorithm>
#include <array>

#include "host/plugin/host_verbs.hpp"

namespace daybook {
namespace verbs {

Error invalid(std::string_view verb, const std::string& what) {
    return Error(Errc::invalid, std::string(verb) + ": " + what);
}

Error not_served(std::string_view verb) {
    return Error(Errc::unsupported,
                 "verb " + printable(verb, 60) + ": this host does not serve it");
}

Result<> want_count(std::string_view verb, const Arguments& arguments, std::size_t count) {
    if (arguments.size() != count) {
        return invalid(verb,
                       "wants " + std::to_string(count) + " arguments, got " +
                           std::to_string(arguments.size()));
    }
    return {};
}

bool is_key_text(std::string_view text) {
    return text.size() <= kMaxKey && is_utf8(text) &&
           std::none_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) < 0x20;
           });
}

std::string own_key(const std::string& plugin, const std::string& key) {
    return key.starts_with(plugin + ":") ? key : plugin + ":" + key;
}

}  // namespace verbs

namespace {

struct ServedGroup {
    std::string_view prefix;
    Group group;
};
constexpr std::array<ServedGroup, 7> kServed{{{"desk-files/1.", kDeskFiles},
                                              {"clock/1.", kClock},
                                              {"tools/1.", kTools},
                                              {"journal/1.", kJournal},
                                              {"history/1.", kHistory},
                                              {"scratch/1.", kScratch},
                                              {"triggers/1.", kTriggers}}};

}  // namespace

Result<std::string> HostCalls::serve(Leash& leash,
                                     std::string_view verb,
                                     const std::vector<std::string>& arguments,
                                     CallOutcome& outcome) {
    const auto served = std::find_if(kServed.begin(), kServed.end(), [&](const ServedGroup& group) {
        return verb.starts_with(group.prefix);
    });
    if (served == kServed.end()) {
        return verbs::not_served(verb);
    }
    if (auto allowed = check_group(leash, served->group, context_.clock.steady()); !allowed) {
        return allowed.error();
    }
    const std::string_view function = verb.substr(served->prefix.size());
    const verbs::VerbCall call{context_, own_shown_, leash, outcome, verb, function};
    switch (served->group) {
        case kDeskFiles:
            return verbs::serve_files(call, arguments);
        case kClock:
            return verbs::serve_clock(call, arguments);
        case kJournal:
            // From here on the effect may have happened, whatever the answer.
            outcome.external_effect = true;
            return verbs::serve_journal(call, arguments);
        case kTools:
            if (function != "call" || !context_.call_tool) {
                return Error(Errc::unsupported, std::string(verb) + ": not served in this turn");
            }
            if (auto count = verbs::want_count(verb, arguments, 2); !count) {
                return count.error();
            }
            return context_.call_tool(leash, arguments[0], arguments[1], outcome);
        case kHistory:
            return verbs::serve_history(call, arguments);
        case kScratch:
            return verbs::serve_scratch(call, arguments);
        case kTriggers:
            outcome.external_effect = true;
            return verbs::serve_triggers(call, arguments);
        case kHttp:
        case kProcess:
            break;
    }
    return verbs::not_served(verb);
}

bool HostCalls::serve_later(Leash& leash,
                            std::string_view verb,
                            const std::vector<std::string>& arguments,
                            CallOutcome& outcome,
                            Reply reply) {
    constexpr std::string_view kHttpVerbs = "http/1.";
    constexpr std::string_view kProcessVerbs = "process/1.";
    const bool is_http = verb.starts_with(kHttpVerbs);
    if (!is_http && !verb.starts_with(kProcessVerbs)) {
        return false;
    }
    const Group group = is_http ? kHttp : kProcess;
    if (auto allowed = check_group(leash, group, context_.clock.steady()); !allowed) {
        reply(allowed.error());
        return true;
    }
    // From here on the effect may have happened, whatever the answer.
    outcome.external_effect = true;
    if (is_http) {
        if (!http_) {
            http_ = std::make_unique<HostHttp>(context_.http, leash.deadline);
        }
        http_->serve(verb.substr(kHttpVerbs.size()), arguments, std::move(reply));
        return true;
    }
    if (!process_) {
        process_ = std::make_unique<HostProcess>(context_.process);
    }
    process_->serve(verb.substr(kProcessVerbs.size()), arguments, std::move(reply));
    return true;
}

void HostCalls::give_up(const Error& why) {
    if (http_) {
        http_->give_up(why);
    }
    if (process_) {
        process_->give_up(why);
    }
}

}  // namespace daybook
