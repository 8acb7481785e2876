#include "host/surface/api.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include <daybook/version.h>

#include "host/os/desk_path.hpp"
#include "host/surface/api_plugin_control.hpp"
#include "host/surface/api_restore.hpp"
#include "host/surface/api_trust.hpp"
#include "host/surface/api_vault.hpp"
#include "host/surface/host.hpp"

namespace daybook {
namespace {

constexpr ApiVerb kVerbs[] = {
    {"checkpoint.diff", at_once<api::checkpoint_diff>},
    {"checkpoint.empty_trash", api::checkpoint_empty_trash},
    {"checkpoint.list", at_once<api::checkpoint_list>},
    {"checkpoint.note_edits", api::checkpoint_note_edits},
    {"checkpoint.restore", api::checkpoint_restore},
    {"checkpoint.show", at_once<api::checkpoint_show>},
    {"checkpoint.take", api::checkpoint_take},
    {"checkpoint.trash", at_once<api::checkpoint_trash>},
    {"checkpoint.undo", api::checkpoint_undo},
    {"checkpoint.verify", api::checkpoint_verify},
    {"clock.advance", api::clock_advance},
    {"clock.show", at_once<api::clock_show>},
    {"desk.forget", api::desk_forget},
    {"desk.interrupt", at_once<api::desk_interrupt>, true},
    {"desk.list", at_once<api::desk_list>, true},
    {"desk.pause", at_once<api::desk_pause>},
    {"desk.resume", at_once<api::desk_resume>},
    {"desk.show", at_once<api::desk_show>, true},
    {"doctor", api::doctor},
    {"home.backup", api::home_backup},
    {"home.usage", api::home_usage},
    {"host.stop", api::host_stop, true},
    {"journal.show", at_once<api::journal_show>, true},
    {"journal.tail", api::journal_tail},
    {"journal.verify", api::journal_verify},
    {"memory.notes", at_once<api::memory_notes>},
    {"memory.show", at_once<api::memory_show>},
    {"model.list", at_once<api::model_list>},
    {"plugin.disable", api::plugin_disable},
    {"plugin.enable", api::plugin_enable},
    {"plugin.list", at_once<api::plugin_list>, true},
    {"plugin.load", api::plugin_load},
    {"plugin.look", at_once<api::plugin_look>},
    {"plugin.reload", api::plugin_reload},
    {"plugin.retry", at_once<api::plugin_retry>},
    {"plugin.rollback", api::plugin_rollback},
    {"plugin.show", at_once<api::plugin_show>, true},
    {"plugin.trust", at_once<api::plugin_trust>},
    {"plugin.unload", api::plugin_unload},
    {"plugin.why", at_once<api::plugin_why>, true},
    {"say", api::say},
    {"session.list", at_once<api::session_list>},
    {"session.show", at_once<api::session_show>},
    {"status", at_once<api::status>, true},
    {"tool.call", api::tool_call},
    {"tool.list", at_once<api::tool_list>},
    {"trigger", api::trigger},
    {"version", at_once<api::version>, true},
};

void run(Host& host, const ApiVerb& verb, const Json& arguments, const ReplyPtr& reply) {
    try {
        Args args(arguments);
        verb.run(host, args, reply);
    } catch (const std::exception& fault) {
        // A bug, or memory: this request fails, the host goes on.
        host.log().error("request failed by a fault of the program verb=" + std::string(verb.name) +
                         " what=" + fault.what());
        reply->done(Error(Errc::internal,
                          std::string(verb.name) + ": a fault of the program; see the log"));
    }
}

}  // namespace

std::span<const ApiVerb> api_verbs() {
    return kVerbs;
}

void serve_request(Host& host, ControlRequest request, const ReplyPtr& reply) {
    const auto verb = std::find_if(std::begin(kVerbs), std::end(kVerbs), [&](const ApiVerb& each) {
        return each.name == request.verb;
    });
    if (verb == std::end(kVerbs)) {
        reply->done(Error(
            Errc::unsupported,
            "no request " + printable(request.verb, 64) +
                "; docs/api.md lists them, and this host is of version " DAYBOOK_VERSION_STRING));
        return;
    }
    if (host.is_stopping() && !verb->while_stopping) {
        reply->done(Error(Errc::unavailable, "the host is stopping"));
        return;
    }
    const bool posted = host.worker().post(
        [&host, verb, args = std::move(request.args), reply] { run(host, *verb, args, reply); });
    if (!posted) {
        reply->done(host.is_stopping() ? Error(Errc::unavailable, "the host is stopping")
                                       : Error(Errc::busy, "too many requests wait; try again"));
    }
}

}  // namespace daybook
