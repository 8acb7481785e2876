#include "host/surface/backup.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <daybook/version.h>

#include "host/os/desk_path.hpp"
#include "host/surface/archive.hpp"
#include "host/surface/home_copier.hpp"
#include "host/surface/state_folder.hpp"

namespace daybook {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxConfig = 8UL * 1024 * 1024;
constexpr std::array<std::string_view, 4> kOwn = {"Memory.md", "memory", "notes", "skills"};
/// Of the state folder: rebuilt, of this machine, or looked after by themselves.
constexpr std::array<std::string_view, 9> kNotPlain = {
    "format", "workspace", "sessions", "journal", "ledger", "run", "log", "scratch", "keys"};

bool is_in(std::string_view name, const auto& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_object_name(std::string_view name) {
    return name.size() == 38 &&
           name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_records(std::string_view name) {
    return name.starts_with("daybook.records") || name.starts_with("daybook.index");
}

class Backup {
  public:
    Backup(const VaultPlace& place, const BackupWish& wish, Archive& archive, int state)
        : os_(place.os),
          place_(place),
          wish_(wish),
          archive_(archive),
          state_(state),
          copy_(place.os, place.state, state, archive) {}

    Result<Json> run(const HoldStill& hold) {
        auto desks = desk_names(place_);
        if (!desks) {
            return desks.error();
        }
        if (auto done = add_home(); !done) {
            return done.error();
        }
        Json names = Json::array();
        for (const std::string& desk : *desks) {
            if (auto done = add_desk(desk, hold); !done) {
                return done.error().during("desk " + desk);
            }
            names.push(desk);
        }
        if (auto done = add_former(*desks); !done) {
            return done.error();
        }
        // Last: what has no number is no home.
        if (auto done = copy_.add_path("format"); !done) {
            return done.error();
        }
        Json left_out = Json::array();
        for (const std::string& each : copy_.left_out()) {
            left_out.push(each);
        }
        const auto files = static_cast<std::int64_t>(archive_.files().items().size());
        const auto bytes = static_cast<std::int64_t>(archive_.bytes());
        auto done = archive_.finish(Json::object()
                                        .set("backup", 1)
                                        .set("version", DAYBOOK_VERSION_STRING)
                                        .set("at", to_rfc3339(wish_.at))
                                        .set("state_format", kStateFormat)
                                        .set("desks", names)
                                        .set("keys", wish_.with_keys)
                                        .set("left_out", left_out));
        if (!done) {
            return done.error();
        }
        return Json::object()
            .set("to", wish_.to.string())
            .set("files", files)
            .set("bytes", bytes)
            .set("desks", std::move(names))
            .set("keys", wish_.with_keys)
            .set("left_out", std::move(left_out));
    }

  private:
    Result<> add_home() {
        auto config_folder = os_.open_root(place_.config.parent_path());
        if (config_folder) {
            auto text =
                read_file(os_, config_folder->get(), place_.config.filename().string(), kMaxConfig);
            if (!text && text.error().code() != Errc::not_found) {
                return text.error();
            }
            TarEntry entry;
            entry.path = "daybook.toml";
            if (auto added = text ? archive_.add_text(entry, *text) : Result<>(); !added) {
                return added;
            }
        }
        auto entries = os_.list(state_, "");
        if (!entries) {
            return entries.error();
        }
        for (const char* folder :
             {"workspace", "workspace/.checkpoints", "sessions", "journal", "ledger", "keys"}) {
            if (auto added = copy_.add_folder(folder);
                !added && added.error().code() != Errc::not_found) {
                return added;
            }
        }
        for (const DirectoryEntry& entry : *entries) {
            if (!is_in(entry.name, kNotPlain) && !HomeCopier::is_temporary(entry.name)) {
                if (auto done = copy_.add_path(entry.name); !done) {
                    return done;
                }
            }
        }
        if (auto keys = add_keys(); !keys) {
            return keys;
        }
        if (auto noted = copy_.note_lengths("journal/_host"); !noted) {
            return noted;
        }
        return copy_.add_lines("journal/_host");
    }

    Result<> add_keys() {
        auto entries = os_.list(state_, "keys");
        if (!entries) {
            return entries.error().code() == Errc::not_found ? Result<>()
                                                             : Result<>(entries.error());
        }
        for (const DirectoryEntry& entry : *entries) {
            if (entry.name == "control.token" || HomeCopier::is_temporary(entry.name)) {
                continue;  // a host makes its own
            }
            if (!wish_.with_keys) {
                copy_.leave_out("keys/" + entry.name, "a key; asked for with --keys");
                continue;
            }
            if (auto done = copy_.add_path("keys/" + entry.name); !done) {
                return done;
            }
        }
        return {};
    }

    Result<> add_desk(const std::string& desk, const HoldStill& hold) {
        const std::string repository = "workspace/.checkpoints/" + desk + ".git";
        auto held = hold(desk, [&] { return add_changing(desk, repository); });
        if (!held) {
            return held;
        }
        for (const std::string& folder :
             {"journal/" + desk, "sessions/" + desk, "ledger/" + desk}) {
            if (auto done = copy_.add_lines(folder); !done) {
                return done;
            }
        }
        if (auto done = add_loose(repository); !done) {
            return done;
        }
        if (auto done = add_packs(repository); !done) {
            return done;
        }
        auto entries = os_.list(state_, "workspace/" + desk);
        if (!entries) {
            return entries.error();
        }
        for (const DirectoryEntry& entry : *entries) {
            if (!is_in(entry.name, kOwn)) {
                if (auto done = copy_.add_path("workspace/" + desk + "/" + entry.name); !done) {
                    return done;
                }
            }
        }
        return {};
    }

    /// What must be of one instant. The desk does nothing meanwhile.
    Result<> add_changing(const std::string& desk, const std::string& repository) {
        for (const std::string& folder :
             {"journal/" + desk, "sessions/" + desk, "ledger/" + desk}) {
            if (auto noted = copy_.note_lengths(folder); !noted) {
                return noted;
            }
            if (auto added = copy_.add_small(folder); !added) {
                return added;
            }
        }
        if (auto added = copy_.add_folder("workspace/" + desk); !added) {
            return added;
        }
        for (const std::string_view own : kOwn) {
            const std::string path = "workspace/" + desk + "/" + std::string(own);
            if (os_.stat_beneath(state_, path)) {
                if (auto added = copy_.add_path(path); !added) {
                    return added;
                }
            }
        }
        return add_repository(repository);
    }

    /// All of it but the objects.
    Result<> add_repository(const std::string& repository) {
        auto entries = os_.list(state_, repository);
        if (!entries) {
            return entries.error().code() == Errc::not_found ? Result<>()
                                                             : Result<>(entries.error());
        }
        if (auto added = copy_.add_folder(repository); !added) {
            return added;
        }
        for (const DirectoryEntry& entry : *entries) {
            if (entry.name == "objects" || HomeCopier::is_temporary(entry.name) ||
                entry.name.ends_with("~") || (wish_.is_live && is_records(entry.name))) {
                continue;
            }
            if (auto done = copy_.add_path(repository + "/" + entry.name); !done) {
                return done;
            }
        }
        for (const char* folder : {"/objects", "/objects/info", "/objects/pack"}) {
            if (auto added = copy_.add_folder(repository + folder);
                !added && added.error().code() != Errc::not_found) {
                return added;
            }
        }
        return {};
    }

    Result<> add_loose(const std::string& repository) {
        auto folders = os_.list(state_, repository + "/objects");
        if (!folders) {
            return folders.error().code() == Errc::not_found ? Result<>()
                                                             : Result<>(folders.error());
        }
        for (const DirectoryEntry& folder : *folders) {
            if (!folder.is_directory || folder.name.size() != 2) {
                continue;
            }
            const std::string place = repository + "/objects/" + folder.name;
            auto files = os_.list(state_, place);
            for (const DirectoryEntry& file : files ? *files : std::vector<DirectoryEntry>()) {
                if (!is_object_name(file.name)) {
                    continue;
                }
                // Packed since it was listed: the packs come next.
                auto added = copy_.add_path(place + "/" + file.name);
                if (!added && added.error().code() != Errc::not_found) {
                    return added;
                }
            }
        }
        return {};
    }

    /// A pack goes only when a later one holds what it held: looked again until all are here.
    Result<> add_packs(const std::string& repository) {
        const std::string place = repository + "/objects/pack";
        std::set<std::string> done;
        for (bool again = true; again;) {
            again = false;
            auto files = os_.list(state_, place);
            if (!files) {
                return files.error().code() == Errc::not_found ? Result<>()
                                                               : Result<>(files.error());
            }
            for (const DirectoryEntry& file : *files) {
                const bool is_pack = file.name.starts_with("pack-") &&
                                     (file.name.ends_with(".pack") || file.name.ends_with(".idx"));
                if (!is_pack || done.contains(file.name)) {
                    continue;
                }
                auto added = copy_.add_path(place + "/" + file.name);
                if (!added && added.error().code() != Errc::not_found) {
                    return added;
                }
                again = true;
                if (added) {
                    done.insert(file.name);
                }
            }
        }
        return {};
    }

    /// Of desks that are in no configuration any more and have no folder.
    Result<> add_former(const std::vector<std::string>& desks) {
        for (const std::string above : {"journal", "sessions", "ledger"}) {
            auto entries = os_.list(state_, above);
            for (const DirectoryEntry& entry : entries ? *entries : std::vector<DirectoryEntry>()) {
                if (!entry.is_directory || entry.name == "_host" || is_in(entry.name, desks)) {
                    continue;
                }
                const std::string folder = above + "/" + entry.name;
                for (const auto step :
                     {&HomeCopier::note_lengths, &HomeCopier::add_small, &HomeCopier::add_lines}) {
                    if (auto done = (copy_.*step)(folder); !done) {
                        return done;
                    }
                }
            }
        }
        return {};
    }

    Os& os_;
    const VaultPlace& place_;
    const BackupWish& wish_;
    Archive& archive_;
    int state_;
    HomeCopier copy_;
};

}  // namespace

Result<Json> back_up(const VaultPlace& place, const BackupWish& wish, const HoldStill& hold) {
    auto state = place.os.open_root(place.state);
    if (!state) {
        return state.error().during("backup");
    }
    if (auto format = place.os.stat_beneath(state->get(), "format"); !format) {
        return Error(Errc::not_found, "backup: " + place.state.string() + " is no daybook home");
    }
    const std::string inside = wish.to.lexically_normal().lexically_relative(place.state).string();
    if (!inside.empty() && !inside.starts_with("..")) {
        return Error(Errc::invalid, "backup: " + wish.to.string() + " lies within the home itself");
    }
    auto archive = Archive::create(place.os, wish.to);
    if (!archive) {
        return archive.error();
    }
    auto done = Backup(place, wish, **archive, state->get()).run(hold);
    return done ? std::move(done) : done.error().during("back up to " + wish.to.string());
}

}  // namespace daybook
