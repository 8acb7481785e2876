#include "host/surface/offline_edits.hpp"

#include "host/surface/offline_desk.hpp"
#include "host/surface/state_folder.hpp"

namespace daybook {

Result<Json> note_edits_offline(const Places& places,
                                Os& os,
                                const std::string& desk,
                                const std::string& reason) {
    std::error_code error;
    if (!std::filesystem::exists(places.state / "format", error)) {
        return Error(Errc::not_found, places.state.string() + " is no daybook home");
    }
    auto locked = StateFolder::open(os, places.state);  // no host starts meanwhile
    if (!locked) {
        return locked.error();
    }
    const SystemClock clock;
    auto opened = OfflineDesk::open(places, os, clock, desk);
    if (!opened) {
        return opened.error();
    }
    CheckpointStore& store = (*opened)->checkpoints();
    const bool edited = store.recovery().owner_edited;  // opening records them
    if (!reason.empty()) {
        auto taken = store.take_manual(reason);
        return taken ? Result<Json>(Json::object()
                                        .set("checkpoint", taken->id)
                                        .set("commit", taken->commit)
                                        .set("reason", taken->why.reason))
                     : Result<Json>(taken.error());
    }
    auto newest = edited ? store.list(1) : Result<std::vector<Checkpoint>>({});
    if (!newest) {
        return newest.error();
    }
    return Json::object().set("checkpoint", newest->empty() ? "" : newest->front().id);
}

}  // namespace daybook
