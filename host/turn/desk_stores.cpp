#include "host/turn/desk_stores.hpp"

#include "host/format/calendar_file.hpp"
#include "host/os/desk_path.hpp"

namespace daybook {
namespace {

constexpr unsigned kSharedFolder = 0770;  // the owner edits Memory.md and reads the repository
constexpr unsigned kPermissionBits = 07777;
constexpr unsigned kSetGroup = 02000;

/// Makes the folder when it is missing, with its mode whatever the umask; one that is there keeps
/// its owner's mode.
Result<> make_shared(Os& os, int home, const std::string& path) {
    auto there = os.stat_beneath(home, path);
    if (there) {
        return {};
    }
    if (there.error().code() != Errc::not_found) {
        return there.error();
    }
    if (auto made = make_directories(os, home, path, kSharedFolder); !made) {
        return made;
    }
    auto dir = os.open_beneath(home, path, OpenMode::directory);
    if (!dir) {
        return dir.error();
    }
    auto status = os.stat_of(dir->get());
    if (!status) {
        return status.error();
    }
    const unsigned mode = kSharedFolder | (status->st_mode & kSetGroup);
    return (status->st_mode & kPermissionBits) == mode ? Result<>() : os.set_mode(dir->get(), mode);
}

Result<Zone> zone_of(const DeskConfig& config, const Calendar& calendar) {
    return config.zone.empty() ? Result<Zone>(calendar.zone()) : Zone::find(config.zone);
}

struct Folders {
    UniqueFd home, desk;
};

/// Makes what is missing. Errors: not_found (the home), io, full, refused.
Result<Folders> open_folders(Os& os, const std::filesystem::path& place, const std::string& desk) {
    auto home = os.open_root(place);
    if (!home) {
        return home.error();
    }
    const std::string folder = "workspace/" + desk;
    for (const std::string& path :
         {std::string("workspace"), std::string("workspace/.checkpoints"), folder}) {
        if (auto made = make_shared(os, home->get(), path); !made) {
            return made.error();
        }
    }
    auto desk_dir = os.open_beneath(home->get(), folder, OpenMode::directory);
    if (!desk_dir) {
        return desk_dir.error();
    }
    return Folders{std::move(*home), std::move(*desk_dir)};
}

}  // namespace

DeskPlaces DeskStores::places() const {
    return DeskPlaces{home.get(), "workspace/" + name, "workspace/.checkpoints/" + name + ".git"};
}

Result<DeskStores> DeskStores::open(const DeskServices& services, const DeskConfig& config) {
    Os& os = services.os;
    auto calendar =
        load_calendar(os,
                      calendar_folders(services.share, services.home, services.owner_folder),
                      config.calendar);
    if (!calendar) {
        return calendar.error();
    }
    auto zone = zone_of(config, *calendar);
    if (!zone) {
        return zone.error();
    }
    auto folders = open_folders(os, services.home, config.name);
    if (!folders) {
        return folders.error();
    }
    DeskStores stores{std::move(*calendar),
                      std::move(*zone),
                      std::move(folders->home),
                      std::move(folders->desk),
                      {},
                      {},
                      {},
                      {},
                      {},
                      config.name,
                      {}};
    auto journal = Journal::open(
        os, services.clock, stores.home.get(), "journal/" + config.name, config.name, stores.zone);
    if (!journal) {
        return journal.error();
    }
    stores.journal = std::move(*journal);
    auto sessions =
        SessionStore::open(os, services.clock, stores.home.get(), "sessions/" + config.name);
    if (!sessions) {
        return sessions.error();
    }
    stores.sessions = std::move(*sessions);
    const auto form = services.config.host.checkpoints == "journalled" ? CheckpointForm::journalled
                                                                       : CheckpointForm::plain;
    auto checkpoints =
        CheckpointStore::open(os,
                              services.clock,
                              stores.desk_dir.get(),
                              services.home / "workspace" / ".checkpoints" / (config.name + ".git"),
                              config.name,
                              form);
    if (!checkpoints) {
        return checkpoints.error();
    }
    stores.checkpoints = std::move(*checkpoints);
    auto ledger = Ledger::open(os, services.clock, stores.home.get(), "ledger/" + config.name);
    if (!ledger) {
        return ledger.error();
    }
    stores.ledger = std::make_unique<Ledger>(std::move(*ledger));
    stores.gate = std::make_unique<WriteGate>(os,
                                              services.clock,
                                              stores.desk_dir.get(),
                                              config.name,
                                              *stores.checkpoints,
                                              *stores.journal,
                                              stores.places(),
                                              stores.ledger.get());
    if (auto recovered = stores.gate->recover(); !recovered) {
        return recovered.error().during("recover the desk's files");
    }
    if (auto tended = stores.gate->tend_trash(); !tended) {
        return tended.error().during("look at the trash");
    }
    stores.repairs = stores.sessions->repairs().sentences;
    return stores;
}

}  // namespace daybook
