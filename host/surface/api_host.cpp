// Requests about the host as a whole.
#include <unistd.h>

#include <daybook/version.h>

#include "host/surface/api.hpp"
#include "host/surface/doctor.hpp"
#include "host/surface/host.hpp"
#include "host/surface/job_reply.hpp"
#include "host/surface/replay.hpp"

namespace daybook::api {
namespace {

constexpr std::int64_t kDefaultStepTimeout = 120000;
constexpr std::int64_t kMaxStepTimeout = 3600000;

Json clock_json(const Host& host) {
    return Json::object()
        .set("now", to_rfc3339(host.clock().now()))
        .set("replayed", host.replayed() != nullptr);
}

/// One line a plugin for `status`: worst state of its runners counts.
Json plugins_json(const Host& host) {
    Json plugins = Json::array();
    for (const auto& [name, entry] : host.registry().plugins()) {
        std::uint64_t restarts = 0;
        std::string state = entry->refused.empty() ? "ok" : "refused";
        std::string reason = entry->refused;
        for (const Desk* desk : host.desks()) {
            for (const RunnerStatus& runner : desk->runners()) {
                if (runner.plugin != name) {
                    continue;
                }
                restarts += runner.restarts;
                if (runner.state == RunnerState::refused || runner.state == RunnerState::backoff ||
                    runner.state == RunnerState::open_breaker) {
                    state = name_of(runner.state);
                    reason = runner.reason;
                }
            }
        }
        plugins.push(Json::object()
                         .set("name", name)
                         .set("version", entry->manifest.version)
                         .set("state", state)
                         .set("reason", reason)
                         .set("restarts", static_cast<std::int64_t>(restarts)));
    }
    return plugins;
}

Json desks_json(const Host& host) {
    Json desks = Json::array();
    for (const DeskStatus& status : host.statuses()) {
        desks.push(status.to_json());
    }
    return desks;
}

}  // namespace

Result<Json> version(Host& /*host*/, Args& args) {
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    return Json::object()
        .set("version", DAYBOOK_VERSION_STRING)
        .set("abi",
             Json::array()
                 .push(static_cast<int>(DAYBOOK_ABI_MAJOR))
                 .push(static_cast<int>(DAYBOOK_ABI_MINOR)))
        .set("state_format", kStateFormat);
}

Result<Json> status(Host& host, Args& args) {
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    const auto up = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::steady_clock::now() - host.started());
    const Places& places = host.needs().places;
    Json warnings = Json::array();
    for (const std::string& warning : host.config().warnings) {
        warnings.push(warning);
    }
    if (const std::string note = host.reload_note(); !note.empty()) {
        warnings.push(note);
    }
    return Json::object()
        .set("version", DAYBOOK_VERSION_STRING)
        .set("pid", static_cast<std::int64_t>(::getpid()))
        .set("up_seconds", std::int64_t{up.count()})
        .set("stopping", host.is_stopping())
        .set("socket", places.socket.string())
        .set("config", places.config.string())
        .set("state", places.state.string())
        .set("isolation", name_of(host.config().host.isolation))
        .set("clock", clock_json(host))
        .set("desks", desks_json(host))
        .set("plugins", plugins_json(host))
        .set("warnings", std::move(warnings));
}

void doctor(Host& host, Args& args, const ReplyPtr& reply) {
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    answer_by_job(
        host.jobs(),
        "doctor",
        [&host](const std::stop_token& stop) -> Result<Json> { return examine(host, stop); },
        reply);
}

Result<Json> clock_show(Host& host, Args& args) {
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    Json desks = Json::array();
    const Timestamp now = host.clock().now();
    for (const DeskStatus& status : host.statuses()) {
        auto zone = Zone::find(status.zone);
        if (!zone) {
            continue;  // a desk that did not open
        }
        desks.push(Json::object()
                       .set("desk", status.name)
                       .set("local", zone->local(now))
                       .set("day", zone->date_of(now).str())
                       .set("zone", zone->name())
                       .set("next_rollover", status.next_rollover));
    }
    return clock_json(host).set("desks", std::move(desks));
}

void clock_advance(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string to = args.text("to", 64);
    const std::chrono::milliseconds timeout(
        args.integer_or("timeout_ms", kDefaultStepTimeout, 1, kMaxStepTimeout));
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    auto at = parse_rfc3339(to);
    if (!at) {
        reply->done(at.error().during("argument \"to\""));
        return;
    }
    answer_by_job(
        host.jobs(),
        "clock.advance",
        [&host, timeout, to_time = *at](const std::stop_token& stop) -> Result<Json> {
            auto advanced = advance_clock(host, to_time, timeout, stop);
            return advanced ? Result<Json>(clock_json(host)) : advanced.error();
        },
        reply);
}

void host_stop(Host& host, Args& args, const ReplyPtr& reply) {
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    reply->done(
        Json::object().set("stopping", true).set("pid", static_cast<std::int64_t>(::getpid())));
    host.request_stop("asked by the owner");
}

}  // namespace daybook::api
