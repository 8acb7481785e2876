// WriteGate: keeping both versions when the owner was there.
#include "host/gate/content_rules.hpp"
#include "host/gate/write_gate.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxReason = 300;

}  // namespace

Error WriteGate::keep_both(const WriteContext& context,
                           const WriteRequest& request,
                           std::string_view refused_content,
                           const Error& conflict) {
    CheckpointReason why;
    why.reason = "conflict: " + request.path.str() + ": " +
                 printable(mask_secrets(request.reason), kMaxReason);
    why.call = context.call;
    why.tool = context.tool;
    why.turn = context.turn;
    auto edits = checkpoints_.record_owner_edits();
    if (!edits) {
        return Error(Errc::conflict,
                     conflict.message() +
                         "; the two versions could not be kept: " + edits.error().message());
    }
    std::string owners = *edits ? (*edits)->id : "";
    if (owners.empty()) {  // recorded earlier: the newest checkpoint holds it
        const auto newest = checkpoints_.list(1);
        owners = newest && !newest->empty() ? newest->front().id : "the newest checkpoint";
    }
    auto kept = checkpoints_.keep_conflict(request.path, refused_content, why);
    if (!kept) {
        return Error(
            Errc::conflict,
            conflict.message() + "; the refused text could not be kept: " + kept.error().message());
    }
    return Error(Errc::conflict,
                 conflict.message() + "; the version on disk is in " + owners +
                     ", the refused text in " + kept->id + "; read it again");
}

/// Versions that the owner saved and replaced while an exchange was under way.
void WriteGate::keep_superseded(const DeskPath& path) {
    for (const std::string& content : swap_.take_superseded()) {
        CheckpointReason why;
        why.reason = "saved by somebody else and replaced while " + path.str() + " was written";
        if (auto kept = checkpoints_.keep_conflict(path, content, why); !kept) {
            read_only_ =
                "a version of " + path.str() + " could not be kept: " + kept.error().message();
        }
    }
}

}  // namespace daybook
