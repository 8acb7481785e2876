#include "host/surface/offline_edits.hpp"

#include "host/checkpoint/checkpoint_store.hpp"

namespace daybook {

Result<Json> note_edits_offline(const Places& places,
                                Os& os,
                                const std::string& desk,
                                const std::string& reason) {
    auto folder = os.open_root(places.state / "workspace" / desk);
    if (!folder) {
        return Error(folder.error().code(), "desk " + desk + ": " + folder.error().message());
    }
    const SystemClock clock;
    auto store = CheckpointStore::open(
        os, clock, folder->get(), places.state / "workspace/.checkpoints" / (desk + ".git"), desk);
    if (!store) {
        return store.error();
    }
    const bool edited = (*store)->recovery().owner_edited;  // opening records them
    if (!reason.empty()) {
        auto taken = (*store)->take_manual(reason);
        return taken ? Result<Json>(Json::object()
                                        .set("checkpoint", taken->id)
                                        .set("commit", taken->commit)
                                        .set("reason", taken->why.reason))
                     : Result<Json>(taken.error());
    }
    auto newest = edited ? (*store)->list(1) : Result<std::vector<Checkpoint>>({});
    if (!newest) {
        return newest.error();
    }
    return Json::object().set("checkpoint", newest->empty() ? "" : newest->front().id);
}

}  // namespace daybook
