// Requests about checkpoints.
#include <utility>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/checkpoint/commit_record.hpp"
#include "host/surface/api.hpp"
#include "host/surface/host.hpp"

namespace daybook::api {
namespace {

Json checkpoint_json(const Checkpoint& checkpoint) {
    Json skipped = Json::array();
    for (const std::string& name : checkpoint.skipped) {
        skipped.push(name);
    }
    return Json::object()
        .set("id", checkpoint.id)
        .set("commit", checkpoint.commit)
        .set("at", to_rfc3339(checkpoint.at))
        .set("kind", checkpoint.kind)
        .set("reason", checkpoint.why.reason)
        .set("file", checkpoint.file.empty() ? "" : quote_path(checkpoint.file))
        .set("tool", checkpoint.why.tool)
        .set("turn", checkpoint.why.turn)
        .set("call", checkpoint.why.call)
        .set("intended_sha256", checkpoint.intended_sha256)
        .set("written_commit", checkpoint.written_commit)
        .set("restores", checkpoint.why.restores)
        .set("skipped", std::move(skipped));
}

std::string word_of(char kind) {
    return kind == 'A' ? "added" : kind == 'D' ? "deleted" : "modified";
}

struct Found {
    const Desk* desk = nullptr;
    Checkpoint checkpoint;
};

Result<Found> find_checkpoint(const Host& host,
                              const std::string& desk_name,
                              const std::string& id) {
    auto desk = host.desk(desk_name);
    if (!desk) {
        return desk.error();
    }
    auto checkpoint = (*desk)->checkpoints().find(id);
    if (!checkpoint) {
        return checkpoint.error();
    }
    return Found{*desk, std::move(*checkpoint)};
}

}  // namespace

Result<Json> checkpoint_list(Host& host, Args& args) {
    const std::string name = args.name("desk");
    const std::int64_t limit = args.integer_or("limit", 20, 1, 10000);
    const std::int64_t before = args.integer_or("before", 0, 0, INT64_MAX);
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto desk = host.desk(name);
    if (!desk) {
        return desk.error();
    }
    auto listed = (*desk)->checkpoints().list(static_cast<std::size_t>(limit),
                                              static_cast<std::uint64_t>(before));
    if (!listed) {
        return listed.error();
    }
    Json checkpoints = Json::array();
    for (const Checkpoint& checkpoint : *listed) {
        checkpoints.push(checkpoint_json(checkpoint));
    }
    return Json::object().set("desk", name).set("checkpoints", std::move(checkpoints));
}

Result<Json> checkpoint_show(Host& host, Args& args) {
    const std::string name = args.name("desk");
    const std::string id = args.name("checkpoint");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto found = find_checkpoint(host, name, id);
    if (!found) {
        return found.error();
    }
    auto files = found->desk->checkpoints().files(found->checkpoint);
    if (!files) {
        return files.error();
    }
    Json list = Json::array();
    for (const auto& [path, bytes] : *files) {
        list.push(Json::object()
                      .set("path", quote_path(path))
                      .set("bytes", static_cast<std::int64_t>(bytes)));
    }
    return checkpoint_json(found->checkpoint).set("desk", name).set("files", std::move(list));
}

Result<Json> checkpoint_diff(Host& host, Args& args) {
    const std::string name = args.name("desk");
    const std::string id = args.name("checkpoint");
    const bool now = args.flag("now");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto found = find_checkpoint(host, name, id);
    if (!found) {
        return found.error();
    }
    auto changes = found->desk->checkpoints().diff(found->checkpoint, now);
    if (!changes) {
        return changes.error();
    }
    Json list = Json::array();
    for (const FileChange& change : *changes) {
        list.push(Json::object()
                      .set("path", quote_path(change.path))
                      .set("change", word_of(change.kind))
                      .set("diff", change.diff));
    }
    return Json::object()
        .set("desk", name)
        .set("checkpoint", found->checkpoint.id)
        .set("against", now ? "now" : "written")
        .set("changes", std::move(list));
}

void checkpoint_take(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("desk");
    const std::string reason = args.text_or("reason", "by the owner's word", 200);
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    auto desk = host.desk(name);
    if (!desk) {
        reply->done(desk.error());
        return;
    }
    (*desk)->take_checkpoint(reason,
                             [reply](Result<Json> outcome) { reply->done(std::move(outcome)); });
}

}  // namespace daybook::api
