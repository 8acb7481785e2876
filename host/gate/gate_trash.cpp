// WriteGate: saves that reached a file after a write had put another in its place.
#include "host/gate/write_gate.hpp"

namespace daybook {

Result<> WriteGate::keep_late(const Trash::Late& late) {
    const std::string name = late.entry.path.empty() ? "a file" : printable(late.entry.path);
    const std::string reason =
        "saved to the former " + name + " after it was replaced" +
        (late.entry.checkpoint.empty() ? "" : " (" + late.entry.checkpoint + ")");
    auto path = DeskPath::parse(late.entry.path.empty() ? "Memory.md" : late.entry.path);
    if (!path) {
        return path.error();
    }
    CheckpointReason why;
    why.reason = reason;
    auto kept = checkpoints_.keep_conflict(*path, late.content, why);
    if (!kept) {
        return kept.error();
    }
    JournalEntry entry;
    entry.type = "checkpoint";
    entry.data.set("checkpoint", kept->id).set("reason", reason).set("path", path->str());
    auto written = journal_.append(std::move(entry));
    notices_.push_back(reason +
                       ": an editor that had it open wrote to the old file; that version is "
                       "in checkpoint " +
                       kept->id + " (daybook checkpoint show), the file itself is the desk's");
    return written ? Result<>() : Result<>(written.error());
}

Result<> WriteGate::look_at_trash(bool all) {
    auto late = trash_ ? trash_->find_late(all) : Result<std::vector<Trash::Late>>({});
    if (!late) {
        return late.error();
    }
    for (const Trash::Late& each : *late) {
        if (auto kept = keep_late(each); !kept) {
            read_only_ = "a save to a replaced file could not be kept: " + kept.error().message();
            return kept;
        }
    }
    return {};
}

Result<> WriteGate::tend_trash(std::chrono::seconds age) {
    if (!trash_) {
        return {};
    }
    auto late = trash_->settle(age);
    if (!late) {
        return late.error();
    }
    for (const Trash::Late& each : *late) {
        if (auto kept = keep_late(each); !kept) {
            read_only_ = "a save to a replaced file could not be kept: " + kept.error().message();
            return kept;
        }
    }
    return {};
}

bool WriteGate::trash_waits() const {
    return trash_ && trash_->waits();
}

Result<Trash::Emptied> WriteGate::empty_trash() {
    return trash_ ? trash_->empty() : Result<Trash::Emptied>(Trash::Emptied{});
}

}  // namespace daybook
