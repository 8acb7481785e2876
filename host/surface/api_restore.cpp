#include "host/surface/api_restore.hpp"

#include <utility>

#include "host/checkpoint/checkpoint_store.hpp"
#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/stored_tree.hpp"
#include "host/gate/restore_report.hpp"
#include "host/surface/host.hpp"
#include "host/turn/owner_work.hpp"

namespace daybook::api {
namespace {

std::function<void(Result<Json>)> answer_to(const ReplyPtr& reply) {
    return [reply](Result<Json> outcome) { reply->done(std::move(outcome)); };
}

/// A name as it was shown: plain, or in quotes with escapes. Raw names of a checkpoint may be no
/// path that a desk could write. Errors: invalid, refused.
Result<std::string> own_name(const std::string& shown) {
    auto name = unquote_path(shown);
    if (!name || name->find('\0') != std::string::npos) {
        return Error(Errc::invalid, "restore " + printable(shown) + ": malformed name");
    }
    const bool is_own = *name == "Memory.md" || name->starts_with("memory/") ||
                        name->starts_with("notes/") || name->starts_with("skills/");
    if (const auto path = DeskPath::parse(*name); is_own || (path && path->is_own())) {
        return *name;
    }
    return Error(Errc::refused,
                 "restore " + printable(shown) +
                     ": only the desk's own files are in a checkpoint (Memory.md, memory/, "
                     "notes/, skills/)");
}

Result<Json> preview(const Desk& desk, const Checkpoint& from, const std::string& file) {
    auto report = preview_restore(desk.checkpoints(), from, file);
    return report ? Result<Json>(report->to_json().set("dry_run", true))
                  : Result<Json>(report.error());
}

/// Nothing is changed by a name that the checkpoint does not know and the desk does not have.
Result<> check_known(const Desk& desk, const Checkpoint& from, const std::string& file) {
    auto held = desk.checkpoints().files(from);
    if (!held) {
        return held.error();
    }
    auto now =
        held->contains(file) ? Result<StoredTree>(StoredTree{}) : desk.checkpoints().tree_on_disk();
    if (!now) {
        return now.error();
    }
    if (!held->contains(file) && !now->files.contains(file)) {
        return Error(Errc::not_found,
                     "restore " + quote_path(file) + ": neither " + from.id +
                         " nor the desk has such a file");
    }
    return {};
}

}  // namespace

void checkpoint_restore(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("desk");
    const std::string id = args.name("checkpoint");
    const std::string shown = args.text_or("file", "", 8192);
    const bool dry_run = args.flag("dry_run");
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    auto file = shown.empty() ? Result<std::string>(std::string()) : own_name(shown);
    auto desk = file ? host.desk(name) : Result<Desk*>(file.error());
    auto from = desk ? (*desk)->checkpoints().find(id) : Result<Checkpoint>(desk.error());
    if (from && !file->empty()) {
        if (auto known = check_known(**desk, *from, *file); !known) {
            from = known.error();
        }
    }
    if (!from) {
        reply->done(from.error());
        return;
    }
    if (dry_run) {
        reply->done(preview(**desk, *from, *file));
        return;
    }
    (*desk)->restore(id, *file, [reply, shown](Result<Json> outcome) {
        if (outcome && !shown.empty()) {
            outcome->set("path", shown);
        }
        reply->done(std::move(outcome));
    });
}

void checkpoint_undo(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("desk");
    const bool dry_run = args.flag("dry_run");
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    auto desk = host.desk(name);
    if (!desk) {
        reply->done(desk.error());
        return;
    }
    if (!dry_run) {
        (*desk)->undo_restore(answer_to(reply));
        return;
    }
    auto newest = newest_restore((*desk)->checkpoints());
    reply->done(newest ? preview(**desk, *newest, newest->file) : Result<Json>(newest.error()));
}

void checkpoint_note_edits(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("desk");
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    auto desk = host.desk(name);
    if (!desk) {
        reply->done(desk.error());
        return;
    }
    (*desk)->note_edits(answer_to(reply));
}

Result<Json> checkpoint_trash(Host& host, Args& args) {
    const std::string name = args.name("desk");
    if (auto wrong = args.wrong()) {
        return *wrong;
    }
    auto desk = host.desk(name);
    auto kept = desk ? (*desk)->trash() : Result<Json>(desk.error());
    return kept ? Result<Json>(kept->set("desk", name)) : kept;
}

void checkpoint_empty_trash(Host& host, Args& args, const ReplyPtr& reply) {
    const std::string name = args.name("desk");
    if (auto wrong = args.wrong()) {
        reply->done(*wrong);
        return;
    }
    auto desk = host.desk(name);
    if (!desk) {
        reply->done(desk.error());
        return;
    }
    (*desk)->empty_trash(answer_to(reply));
}

}  // namespace daybook::api
