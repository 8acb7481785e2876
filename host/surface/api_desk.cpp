// Requests about a desk: its state, what is said to it, its sessions and its memory.
#include <utility>

#include "host/session/session_store.hpp"
#include "host/surface/api.hpp"
#include "host/surface/host.hpp"
#include "host/surface/turn_watch.hpp"

namespace daybook::api {
namespace {

/// A response stays well below what a client takes in one line.
constexpr std::size_t kMaxListed = 10000;
constexpr std::size_t kMaxResponseBytes = 8UL * 1024 * 1024;

Json record_json(const SessionRecord& record) {
    Json json = Json::object()
                    .set("seq", static_cast<std::int64_t>(record.seq))
                    .set("ts", to_rfc3339(record.ts))
                    .set("turn", record.turn)
                    .set("kind", record.kind)
                    .set("source", name_of(record.source))
                    .set("text", record.text);
    for (const auto& [key, value] : record.extra.members()) {
        if (!json.has(key)) {
            json.set(key, value);
        }
    }
    return json;
}

Result<Json> own_file(const Desk& desk, const std::string& file) {
    auto path = DeskPath::parse(file);
    if (!path) {
        return path.error();
    }
    if (!path->is_own()) {
        return Error(
            Errc::refused,
            "read " + printable(file) +
                ": only the desk's own files are shown (Memory.md, memory/, notes/, skills/)");
    }
    auto text = desk.read_own_file(*path);
    if (!text) {
        return text.error();
    }
    return Json::object()
        .set("desk", desk.name())
        .set("file", path->str())
        .set("bytes", text->size())
        .set("text", std::move(*text));
}

/// As own_file(), but a file that is not there yet is an empty one with "exists": false.
Result<Json> own_file_or_none(const Desk& desk, const std::string& file) {
    auto shown = own_file(desk, file);
    if (!shown && shown.error().code() == Errc::not_found) {
        return Json::object()
            .set("desk", desk.name())
            .set("file", file)
            .set("bytes", 0)
            .set("text", "")
            .set("exists", false);
    }
    return shown ? Result<Json>(shown->set("exists", true)) : shown;
}

}  // namespace

Result<Json> desk_list(Host& host, Args& args) {
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    Json desks = Json::array();
    for (const DeskStatus& status : host.statuses()) {
        desks.push(status.to_json());
    }
    return Json::object().set("desks", std::move(desks));
}

Result<Json> desk_show(Host& host, Args& args) {
    const std::string name = args.name("desk");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    for (const DeskStatus& status : host.statuses()) {
        if (status.name != name) {
            continue;
        }
        const DeskConfig& config = host.config().desks.at(name);
        Json models = Json::array();
        for (const std::string& model : config.models) {
            models.push(model);
        }
        Json plugins = Json::array();
        for (const std::string& plugin : config.plugins) {
            plugins.push(plugin);
        }
        Json reads = Json::array();
        for (const auto& folder : config.reads) {
            reads.push(folder.string());
        }
        return status.to_json()
            .set("models", std::move(models))
            .set("plugins", std::move(plugins))
            .set("reads", std::move(reads))
            .set("folder", (host.needs().state.path() / "workspace" / name).string());
    }
    return host.desk(name).error();
}

Result<Json> desk_interrupt(Host& host, Args& args) {
    const std::string name = args.name("desk");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto desk = host.desk(name);
    if (!desk) {
        return desk.error();
    }
    const bool running = (*desk)->interrupt("interrupted by the owner");
    return Json::object().set("desk", name).set("running", running);
}

static Result<Json> set_paused(Host& host, Args& args, bool on) {
    const std::string name = args.name("desk");
    const std::string why = args.text_or("reason", "", 200);
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto desk = host.desk(name);
    return desk ? (*desk)->set_paused(on, why) : Result<Json>(desk.error());
}

Result<Json> desk_pause(Host& host, Args& args) {
    return set_paused(host, args, true);
}

Result<Json> desk_resume(Host& host, Args& args) {
    return set_paused(host, args, false);
}

void say(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("desk");
    TriggerRequest request;
    request.text = args.text("text");
    request.key = args.text_or("key", "", 200);
    request.stream = true;
    request.wait = true;
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    auto desk = host.desk(name);
    if (!desk) {
        reply->done(desk.error());
        return;
    }
    accept_and_follow(host, **desk, request, reply);
}

void trigger(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("desk");
    auto kind = trigger_kind_of(args.text("kind", 64));
    TriggerRequest request;
    request.text = args.text("text");
    request.key = args.text_or("key", "", 200);
    request.name = args.text_or("name", "", 200);
    request.wait = args.flag("wait");
    request.stream = args.flag("stream");
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    if (!kind) {
        reply->done(kind.error().during("argument \"kind\""));
        return;
    }
    request.kind = *kind;
    auto desk = host.desk(name);
    if (!desk) {
        reply->done(desk.error());
        return;
    }
    accept_and_follow(host, **desk, request, reply);
}

Result<Json> session_list(Host& host, Args& args) {
    const std::string name = args.name("desk");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto desk = host.desk(name);
    if (!desk) {
        return desk.error();
    }
    auto listed = (*desk)->sessions().list();
    if (!listed) {
        return listed.error();
    }
    Json sessions = Json::array();
    const std::size_t first = listed->size() > kMaxListed ? listed->size() - kMaxListed : 0;
    for (std::size_t i = first; i < listed->size(); ++i) {
        const SessionInfo& info = (*listed)[i];
        auto summary = (*desk)->sessions().read_summary(info.day);
        sessions.push(Json::object()
                          .set("id", info.id)
                          .set("day", info.day.str())
                          .set("number", info.number)
                          .set("lines", static_cast<std::int64_t>(info.lines))
                          .set("bytes", static_cast<std::int64_t>(info.bytes))
                          .set("summarised", summary && summary->has_value()));
    }
    return Json::object()
        .set("desk", name)
        .set("sessions", std::move(sessions))
        .set("left_out", first);
}

Result<Json> session_show(Host& host, Args& args) {
    const std::string name = args.name("desk");
    std::string session = args.name_or("session", "");
    const auto limit = static_cast<std::size_t>(args.integer_or("limit", 1000, 1, kMaxListed));
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto desk = host.desk(name);
    if (!desk) {
        return desk.error();
    }
    const SessionStore& store = (*desk)->sessions();
    if (session.empty()) {
        auto listed = store.list();
        if (!listed) {
            return listed.error();
        }
        if (listed->empty()) {
            return Error(Errc::not_found, "desk " + name + " has no session yet");
        }
        session = listed->back().id;
    }
    std::size_t bad_lines = 0;
    auto records = store.read(session, &bad_lines);
    if (!records) {
        return records.error();
    }
    Json lines = Json::array();
    std::size_t first = records->size() > limit ? records->size() - limit : 0;
    std::size_t bytes = 0;
    for (std::size_t i = records->size(); i-- > first;) {  // the newest that fit
        bytes += (*records)[i].text.size() + 512;
        if (bytes > kMaxResponseBytes) {
            first = i + 1;
        }
    }
    for (std::size_t i = first; i < records->size(); ++i) {
        lines.push(record_json((*records)[i]));
    }
    Json result = Json::object()
                      .set("desk", name)
                      .set("session", session)
                      .set("lines", std::move(lines))
                      .set("left_out", first)
                      .set("bad_lines", bad_lines);
    if (auto day = DeskDate::parse(session.substr(0, 10)); day) {
        auto summary = store.read_summary(*day);
        if (summary && summary->has_value()) {
            result.set("summary", **summary);
        }
    }
    return result;
}

Result<Json> memory_show(Host& host, Args& args) {
    const std::string name = args.name("desk");
    const std::string file = args.text_or("file", "Memory.md", 1024);
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto desk = host.desk(name);
    if (!desk) {
        return desk.error();
    }
    return file == "Memory.md" ? own_file_or_none(**desk, file) : own_file(**desk, file);
}

Result<Json> memory_notes(Host& host, Args& args) {
    const std::string name = args.name("desk");
    const std::string day_text = args.text_or("day", "", 32);
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto desk = host.desk(name);
    if (!desk) {
        return desk.error();
    }
    DeskDate day = (*desk)->zone().date_of(host.clock().now());
    if (!day_text.empty()) {
        auto parsed = DeskDate::parse(day_text);
        if (!parsed) {
            return parsed.error().during("argument \"day\"");
        }
        day = *parsed;
    }
    auto shown = own_file_or_none(**desk, "notes/" + day.str() + ".md");
    return shown ? Result<Json>(shown->set("day", day.str())) : shown;
}

}  // namespace daybook::api
