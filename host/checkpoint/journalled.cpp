// The journalled form's side of taking checkpoints: a commit becomes durable with its record, and
// is handed to the materialiser.
#include <algorithm>

#include "host/checkpoint/checkpoint_impl.hpp"

namespace daybook {
namespace {

/// Of changed content in one record. What is larger goes to the repository itself.
constexpr std::size_t kMaxRecord = 4UL * 1024 * 1024;

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

}  // namespace

void CheckpointStore::Impl::use_log(bool on) {
    if (on && !materialiser) {
        materialiser = std::make_unique<Materialiser>(os, *repository, *log, *index, desk_dir);
    } else if (!on) {
        materialiser.reset();
    }
    repository->objects().set_staging(on);
}

Result<> CheckpointStore::Impl::log_commit(const CommitRecord& record,
                                           const std::string& bytes,
                                           const GitId& id,
                                           const std::vector<Change>& changes,
                                           Repository::Moved* moved) {
    StagedObjects& staged = repository->staged();
    Materialiser::Batch batch;
    batch.commit = id;
    batch.objects = staged.take_fresh();
    LogRecord logged;
    logged.commit = bytes;
    logged.write = announcing;
    logged.settles = record.written;
    std::size_t size = 0;
    // What a write has left stands in the record that announced it, and the two go together.
    const bool ends_write = open_write && record.written == open_write->number;
    const bool is_announced = ends_write && !open_write->content_sha256.empty() &&
                              record.left_sha256 == open_write->content_sha256;
    for (const auto& [path, file] : changes) {
        LoggedChange change{path, file, {}};
        const auto content = file ? staged.find(file->id) : std::nullopt;
        if (content && !(is_announced && path == record.file)) {
            change.bytes = *content->bytes;
            size += content->bytes->size();
        }
        logged.changes.push_back(std::move(change));
    }
    auto room = materialiser->check_room();
    const bool may_bypass = !open_write && awaiting_redo.empty();
    if (room && (!record.parent || size > kMaxRecord) && may_bypass) {
        auto done = materialiser->commit_directly(batch, moved);
        staged.drop(batch.objects);
        return done;
    }
    const auto durable = ends_write ? RecordLog::Durable::with_next : RecordLog::Durable::now;
    auto done = room ? log->append(logged, durable) : room;
    if (!done) {
        staged.drop(batch.objects);
        return done;
    }
    *moved = Repository::Moved::durable;
    if (announcing) {
        open_write =
            OpenWrite{record.number, announcing->content ? announcing->intended_sha256 : ""};
    } else if (ends_write) {
        open_write.reset();
    }
    batch.sequence = logged.sequence;
    batch.ends_write = !open_write;
    if (record.written != 0) {
        batch.folder = folder_of(record.file);
    }
    materialiser->add(std::move(batch));
    return {};
}

void CheckpointStore::Impl::log_not_written() {
    if (!materialiser || !open_write) {
        return;
    }
    LogRecord over;
    over.settles = open_write->number;
    // When this is lost, a crash before the next checkpoint lets the write happen after all, as
    // long as the file is still as it was before it: nothing of anybody's is overwritten.
    if (!log->append(over, RecordLog::Durable::with_next)) {
        return;
    }
    open_write.reset();
    Materialiser::Batch batch;
    batch.sequence = over.sequence;
    batch.commit = *head();
    materialiser->add(std::move(batch));
}

Result<> CheckpointStore::Impl::give_up_doubtful() {
    const auto& doubtful = recovery.doubtful;
    if (!doubtful || !open_write || open_write->number != doubtful->checkpoint.number) {
        return {};
    }
    CheckpointReason why = doubtful->checkpoint.why;
    why.reason = "announced before a crash, and the file is another now: " + doubtful->file;
    if (auto kept = keep_refused(doubtful->file, *doubtful->content, why); !kept) {
        return kept.error();
    }
    log_not_written();
    return {};
}

Result<> CheckpointStore::Impl::finish_recovery() {
    if (!materialiser) {
        return {};
    }
    if (auto done = give_up_doubtful(); !done) {
        return done;
    }
    awaiting_redo.clear();
    materialiser->hold(false);
    if (!recovery.restore_begun && is_awaiting()) {
        bool has_edits = false;
        if (auto edits = record_edits(&has_edits); !edits) {
            return edits.error();
        }
        recovery.owner_edited = recovery.owner_edited || has_edits;
    }
    if (form == CheckpointForm::plain) {
        if (auto published = materialiser->publish(); !published) {
            return published;
        }
        use_log(false);
    }
    return {};
}

Result<> CheckpointStore::finish_recovery() {
    return impl_->finish_recovery();
}

bool CheckpointStore::redoes_writes() const noexcept {
    return impl_->materialiser != nullptr;
}

Result<> CheckpointStore::publish() const {
    return impl_->materialiser ? impl_->materialiser->publish() : Result<>();
}

void CheckpointStore::not_written(const Checkpoint& checkpoint) {
    if (impl_->open_write && impl_->open_write->number == checkpoint.number) {
        impl_->log_not_written();
    }
    if (impl_->pending && !impl_->pending->written &&
        impl_->pending->checkpoint.number == checkpoint.number) {
        impl_->pending.reset();
    }
}

}  // namespace daybook
