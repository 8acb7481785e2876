// WriteGate: putting everything back as a checkpoint holds it.
//
// In this order: the owner's edits and a checkpoint of what there is; every new content staged,
// durable; the intent, durable (from here on it is carried to its end, by the next start if need
// be); the files; what was left committed; ledger and journal; the intent goes.
#include <algorithm>

#include "host/checkpoint/commit_record.hpp"
#include "host/checkpoint/restore_intent.hpp"
#include "host/checkpoint/text_diff.hpp"
#include "host/gate/restore_report.hpp"
#include "host/gate/tree_restore.hpp"
#include "host/gate/write_gate.hpp"

namespace daybook {
namespace {

char kind_of(const RestoreStep& step) {
    return !step.before ? 'A' : !step.after ? 'D' : 'M';
}

Json notes_json(const std::vector<RestoreReport::Note>& notes) {
    Json list = Json::array();
    for (const auto& note : notes) {
        list.push(Json::object().set("path", quote_path(note.path)).set("why", note.why));
    }
    return list;
}

std::string word_of(char kind) {
    return kind == 'A' ? "added" : kind == 'D' ? "deleted" : "modified";
}

/// Of one file that was put back.
Attributes attributes_with(const StoredTree& before, const std::vector<RestoreStep>& done) {
    Attributes left = before.attributes;
    for (const RestoreStep& step : done) {
        if (step.after) {
            left.note_file(step.path, step.after->file, step.after->permissions);
        } else {
            left.forget_file(step.path);
        }
    }
    return left;
}

/// What the tree is when these steps were not done: their attributes stay as they were.
Attributes attributes_left(const StoredTree& before,
                           const StoredTree& then,
                           const std::vector<TreeRestore::Skipped>& skipped) {
    Attributes left = then.attributes;
    for (const auto& [path, why] : skipped) {
        const auto file = before.files.find(path);
        if (file == before.files.end()) {
            left.forget_file(path);
        } else {
            left.note_file(path, file->second.file, file->second.permissions);
        }
    }
    return left;
}

}  // namespace

Json RestoreReport::to_json() const {
    Json list = Json::array();
    for (const File& file : files) {
        Json each =
            Json::object().set("path", quote_path(file.path)).set("change", word_of(file.kind));
        if (!file.diff.empty()) {
            each.set("diff", file.diff);
        }
        list.push(std::move(each));
    }
    Json left = Json::array();
    for (const std::string& name : untouched) {
        left.push(name);
    }
    return Json::object()
        .set("restored_from", from)
        .set("checkpoint", checkpoint)
        .set("files", std::move(list))
        .set("skipped", notes_json(skipped))
        .set("folders", notes_json(folders))
        .set("untouched", std::move(left))
        .set("journal", journal);
}

std::vector<RestoreStep> WriteGate::steps_of(const StoredTree& now,
                                             const StoredTree& then,
                                             const std::string& file) {
    auto steps = plan_restore(now, then);
    return file.empty() ? steps : only_of(std::move(steps), file);
}

Result<RestoreReport> WriteGate::restore(const Checkpoint& from,
                                         const std::string& file,
                                         const WriteContext& context) {
    const std::string doing =
        "restore " + (file.empty() ? "" : quote_path(file) + " from ") + from.id;
    if (!places_) {
        return Error(Errc::unsupported, doing + ": this desk has no place for a trash");
    }
    if (const auto reason = read_only_reason()) {
        return Error(Errc::io, doing + ": the desk's files are read-only: " + *reason);
    }
    auto then = checkpoints_.tree(from);
    if (!then) {
        return then.error();
    }
    if (auto edits = note_owner_edits(context); !edits) {
        return edits.error().during(doing);
    }
    RestoreReport nothing;
    nothing.from = from.id;
    if (steps_of(checkpoints_.head_tree(), *then, file).empty()) {
        return nothing;
    }
    CheckpointReason why{doing, context.call, context.tool, context.turn, "", from.id};
    auto checkpoint = checkpoints_.begin_restore(why, file);
    if (!checkpoint) {
        return checkpoint.error();
    }
    RestoreIntent intent{checkpoint->id,
                         checkpoint->commit,
                         from.id,
                         from.commit,
                         file,
                         context.turn,
                         context.session};
    return carry_out(*checkpoint, from, intent, true);
}

Result<RestoreReport> WriteGate::carry_out(const Checkpoint& checkpoint,
                                           const Checkpoint& from,
                                           const RestoreIntent& intent,
                                           bool is_new) {
    const std::string& doing = checkpoint.why.reason;
    auto now = checkpoints_.tree(checkpoint);
    auto then = now ? checkpoints_.tree(from) : Result<StoredTree>(now.error());
    auto objects =
        then ? checkpoints_.open_objects() : Result<std::unique_ptr<GitObjects>>(then.error());
    if (!objects) {
        return objects.error().during(doing);
    }
    const std::vector<RestoreStep> steps = steps_of(*now, *then, intent.file);
    TreeRestore work(os_, *places_, **objects, *trash_, checkpoint.id);
    if (is_new) {
        if (auto staged = work.stage(steps); !staged) {
            return staged.error().during(doing + "; nothing has changed");
        }
        if (auto begun = write_restore_intent(os_, places_->root, places_->repository, intent);
            !begun) {
            read_only_ = "whether a restore has begun is not known: " + begun.error().message();
            return begun.error().during(doing + "; the next start decides");
        }
    }
    auto outcome = work.apply(steps);
    if (outcome) {
        if (auto noted = note_in_ledger(checkpoint, from, intent); !noted) {
            outcome = noted.error();
        }
    }
    auto report = outcome ? settle_restore(checkpoint,
                                           *outcome,
                                           intent.file.empty()
                                               ? attributes_left(*now, *then, outcome->skipped)
                                               : attributes_with(*now, outcome->done))
                          : Result<RestoreReport>(outcome.error());
    if (report) {
        report->from = from.id;
        report->checkpoint = checkpoint.id;
        auto journalled = journal_restore(checkpoint, from, intent, *report);
        if (!journalled) {
            report = journalled.error();
        }
    }
    const Result<> closed =
        report ? remove_restore_intent(os_, places_->root, places_->repository) : Result<>();
    if (!report || !closed) {
        const Error& error = report ? closed.error() : report.error();
        read_only_ = "a restore was cut, the next start carries it on: " + error.message();
        return error.during(doing + "; the next start carries it on");
    }
    const Result<> ignored = work.clear_stage();
    last_restore_ = from.id;
    return report;
}

Result<RestoreReport> WriteGate::settle_restore(const Checkpoint& checkpoint,
                                                const TreeRestore::Outcome& outcome,
                                                const Attributes& attributes) {
    std::map<std::string, std::optional<TreeFile>> files;
    RestoreReport report;
    for (const RestoreStep& step : outcome.done) {
        files[step.path] = step.after ? std::optional(step.after->file) : std::nullopt;
        report.files.push_back({step.path, kind_of(step), ""});
    }
    for (const auto& [path, content] : outcome.superseded) {
        CheckpointReason why;
        why.reason = "saved by somebody else and replaced during a restore";
        const auto parsed = DeskPath::parse(path);
        auto kept = parsed ? checkpoints_.keep_conflict(*parsed, content, why)
                           : Result<Checkpoint>(parsed.error());
        if (!kept) {
            return kept.error();
        }
    }
    const auto recorded = checkpoints_.find(checkpoint.id);
    if (recorded && recorded->written_commit.empty()) {
        auto committed = checkpoints_.finish_restore(checkpoint, files, attributes);
        if (!committed) {
            return committed.error();
        }
    }
    for (const auto& [path, why] : outcome.skipped) {
        report.skipped.push_back({path, why});
    }
    for (const auto& [path, why] : outcome.folders) {
        report.folders.push_back({path, why});
    }
    report.untouched = checkpoint.skipped;
    return report;
}

/// Only what touches the memory stands in the ledger.
Result<> WriteGate::note_in_ledger(const Checkpoint& checkpoint,
                                   const Checkpoint& from,
                                   const RestoreIntent& intent) {
    if (ledger_ == nullptr || (!intent.file.empty() && intent.file != "Memory.md")) {
        return {};
    }
    LedgerRecord record;
    record.type = "restore";
    record.key = write_key(checkpoint);
    record.data.set("checkpoint", checkpoint.id).set("from", from.id);
    if (!intent.file.empty()) {
        record.data.set("file", intent.file);
    } else {
        auto then = checkpoints_.ledger(from);
        if (!then) {
            return then.error();
        }
        record.data.set("head", static_cast<std::int64_t>(ledger_head_in(*then)));
    }
    auto seq = ledger_->append(std::move(record));
    if (!seq) {
        return seq.error();
    }
    checkpoints_.set_ledger(ledger_->text());
    return {};
}

Result<> WriteGate::journal_restore(const Checkpoint& checkpoint,
                                    const Checkpoint& from,
                                    const RestoreIntent& intent,
                                    RestoreReport& report) {
    constexpr std::size_t kMostNamed = 100;
    JournalEntry entry;
    entry.type = "restore";
    entry.session = intent.session;
    entry.turn = intent.turn;
    entry.key = write_key(checkpoint);
    Json names = Json::array();
    for (std::size_t i = 0; i < report.files.size() && i < kMostNamed; ++i) {
        names.push(quote_path(report.files[i].path));
    }
    Json skipped = Json::array();
    for (std::size_t i = 0; i < report.skipped.size() && i < kMostNamed; ++i) {
        skipped.push(quote_path(report.skipped[i].path));
    }
    entry.data.set("from", from.id)
        .set("commit", from.commit)
        .set("checkpoint", checkpoint.id)
        .set("count", report.files.size())
        .set("files", std::move(names))
        .set("skipped", std::move(skipped))
        .set("reason", checkpoint.why.reason);
    auto written = journal_.append(std::move(entry));
    if (written) {
        report.journal = written->id;
    }
    return written ? Result<>() : Result<>(written.error());
}

Result<> WriteGate::recover_restore() {
    if (!places_) {
        return {};
    }
    auto intent = read_restore_intent(os_, places_->root, places_->repository);
    if (!intent) {
        return intent.error();
    }
    if (*intent) {
        auto checkpoint = checkpoints_.find((*intent)->checkpoint);
        auto from = checkpoint ? checkpoints_.find((*intent)->from)
                               : Result<Checkpoint>(checkpoint.error());
        auto done = from ? carry_out(*checkpoint, *from, **intent, false)
                         : Result<RestoreReport>(from.error());
        if (!done) {
            return done.error();
        }
        auto edits = checkpoints_.record_owner_edits();
        return edits ? Result<>() : Result<>(edits.error());
    }
    auto objects = checkpoints_.open_objects();
    return objects ? TreeRestore(os_, *places_, **objects, *trash_, "").clear_stage()
                   : Result<>(objects.error());
}

Result<RestoreReport> preview_restore(const CheckpointStore& checkpoints,
                                      const Checkpoint& from,
                                      const std::string& file) {
    std::map<std::string, std::string> contents;
    auto now = checkpoints.tree_on_disk(&contents);
    auto then = now ? checkpoints.tree(from) : Result<StoredTree>(now.error());
    auto objects =
        then ? checkpoints.open_objects() : Result<std::unique_ptr<GitObjects>>(then.error());
    if (!objects) {
        return objects.error();
    }
    RestoreReport report;
    report.from = from.id;
    report.untouched = now->skipped;
    for (const RestoreStep& step : plan_restore(*now, *then)) {
        if ((!step.before && !step.after) || (!file.empty() && step.path != file)) {
            continue;
        }
        auto after = step.after ? (*objects)->read(step.after->file.id, GitType::blob)
                                : Result<std::string>(std::string());
        if (!after) {
            return after.error();
        }
        const std::string name = quote_path(step.path);
        auto diff = unified_diff(name, step.before ? contents[step.path] : "", *after);
        if (!diff) {
            return diff.error();
        }
        if (diff->empty() && step.before && step.after) {
            *diff = "mode " + octal_text(step.before->permissions) + " to " +
                    octal_text(step.after->permissions) + "\n";
        }
        report.files.push_back({step.path, kind_of(step), std::move(*diff)});
    }
    return report;
}

}  // namespace daybook
