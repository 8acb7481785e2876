#include "host/surface/offline_desk.hpp"

#include <optional>
#include <utility>

#include "host/format/calendar_file.hpp"
#include "host/format/config.hpp"
#include "host/gate/ledger.hpp"
#include "host/journal/journal.hpp"
#include "host/surface/config_file.hpp"
#include "host/surface/places.hpp"

namespace daybook {
namespace {

/// nullopt: the configuration does not say.
std::optional<Zone> zone_of(const Places& places, Os& os, const std::string& name) {
    auto config = load_config(places.config, places.flags());
    if (!config || !config->desks.contains(name)) {
        return std::nullopt;
    }
    const DeskConfig& desk = config->desks.at(name);
    auto calendar =
        load_calendar(os,
                      calendar_folders(places.share, places.state, places.config.parent_path()),
                      desk.calendar);
    if (desk.zone.empty()) {
        return calendar ? std::optional<Zone>(calendar->zone()) : std::nullopt;
    }
    auto zone = Zone::find(desk.zone);
    return zone ? std::optional<Zone>(std::move(*zone)) : std::nullopt;
}

}  // namespace

Result<std::unique_ptr<OfflineDesk>> OfflineDesk::open(const Places& places,
                                                       Os& os,
                                                       const Clock& clock,
                                                       const std::string& name) {
    const std::string of = "desk " + name;
    std::unique_ptr<OfflineDesk> desk(new OfflineDesk);
    auto state = os.open_root(places.state);
    auto folder = state ? os.open_beneath(state->get(), "workspace/" + name, OpenMode::directory)
                        : Result<UniqueFd>(state.error());
    if (!folder) {
        return folder.error().during(of);
    }
    desk->state_ = std::move(*state);
    desk->folder_ = std::move(*folder);
    const int home = desk->state_.get();
    auto journal =
        Journal::open(os, clock, home, "journal/" + name, name, zone_of(places, os, name));
    if (!journal) {
        return journal.error().during(of);
    }
    desk->journal_ = std::move(*journal);
    const std::string repository = "workspace/.checkpoints/" + name + ".git";
    // The plain form: when this is closed again, all is in git.
    auto store = CheckpointStore::open(
        os, clock, desk->folder_.get(), places.state / repository, name, CheckpointForm::plain);
    if (!store) {
        return store.error();
    }
    desk->checkpoints_ = std::move(*store);
    auto ledger = Ledger::open(os, clock, home, "ledger/" + name);
    if (!ledger) {
        return ledger.error().during(of);
    }
    desk->ledger_ = std::make_unique<Ledger>(std::move(*ledger));
    desk->gate_ = std::make_unique<WriteGate>(os,
                                              clock,
                                              desk->folder_.get(),
                                              name,
                                              *desk->checkpoints_,
                                              *desk->journal_,
                                              DeskPlaces{home, "workspace/" + name, repository},
                                              desk->ledger_.get());
    if (auto recovered = desk->gate_->recover(); !recovered) {
        return recovered.error().during("recover the files of " + of);
    }
    return desk;
}

}  // namespace daybook
