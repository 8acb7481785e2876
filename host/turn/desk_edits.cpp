// The owner's edits of an open desk, noticed while it rests between turns or waits for a call.
#include "host/checkpoint/file_scan.hpp"
#include "host/format/sha256.hpp"
#include "host/os/file_lease.hpp"
#include "host/turn/desk_impl.hpp"

namespace daybook {
namespace {

constexpr std::string_view kTemporaryEnding = ".daybook~";

/// Below a folder of the desk's own, whatever its name is made of.
bool is_below_own(const std::string& path) {
    return path.starts_with("memory/") || path.starts_with("notes/") || path.starts_with("skills/");
}

}  // namespace

void Desk::Impl::watch_edits() {
    if (services.watcher == nullptr) {
        return;
    }
    edits = std::make_unique<EditWatch>(services.loop, [this] {
        add_between_calls({[this] { look_at_edits(); }, [] {}});
    });
    watching = services.watcher->watch(services.os,
                                       stores.desk_dir.get(),
                                       {"memory", "notes", "skills"},
                                       [this](const FolderEvent& event) { edits->note(event); });
    renew_watch();
}

void Desk::Impl::renew_watch() {
    const auto renewed = watching->renew();
    const std::string reason = renewed ? "" : renewed.error().message();
    if (reason != unwatched) {
        services.log(reason.empty() ? kLogInfo : kLogWarn,
                     reason.empty()
                         ? "every folder is watched again desk=" + config.name
                         : "not every folder is watched, edits there are found when the next turn "
                           "starts reason=" +
                               reason + " desk=" + config.name);
        unwatched = reason;
    }
}

Desk::Impl::EditState Desk::Impl::edit_of(const std::string& path, bool mode, bool wait) {
    if (path.ends_with(kTemporaryEnding)) {
        return EditState::none;  // the gate's own, or an editor's in our manner
    }
    const auto parsed = DeskPath::parse(path);
    if (!parsed) {
        return is_below_own(path) ? EditState::changed : EditState::none;
    }
    if (!parsed->is_own()) {
        return EditState::none;
    }
    auto file = services.os.open_beneath(stores.desk_dir.get(), path, OpenMode::read);
    if (!file) {
        const bool is_gone = file.error().code() == Errc::not_found;
        const bool was_gone = stores.checkpoints->committed_sha256(*parsed).empty();
        return is_gone && was_gone ? EditState::none : EditState::changed;
    }
    // A lease tells of a writer that wrote nothing since the last look; where the kernel gives
    // none, the event of its close does.
    if (wait && FileLease::take(file->get()).state() == FileLease::State::open_for_writing) {
        return EditState::open;
    }
    if (mode) {
        return EditState::changed;
    }
    const auto content = services.os.read_all(file->get(), kMaxStoredFile);
    // What the gate itself has written stands in the last commit.
    const bool is_known =
        content && sha256_hex(*content) == stores.checkpoints->committed_sha256(*parsed);
    return is_known ? EditState::none : EditState::changed;
}

void Desk::Impl::look_at_edits() {
    const EditWatch::Seen seen = edits->take();
    if (seen.everything) {
        renew_watch();
    }
    bool look = seen.everything;
    for (const auto& [path, mode] : seen.paths) {
        switch (edit_of(path, mode, !seen.is_last_wait)) {
            case EditState::open:
                edits->put_back(seen);
                return;
            case EditState::changed:
                look = true;
                break;
            case EditState::none:
                break;
        }
    }
    if (!look) {
        return;
    }
    WriteContext context;
    context.session = stores.sessions->state().session;
    auto noted = guarded<std::string>("record edits",
                                      [&] { return stores.gate->note_owner_edits(context); });
    if (!noted && noted.error().code() == Errc::busy) {
        edits->put_back(seen);  // it changed while it was read
    } else if (!noted) {
        services.log(kLogError, noted.error().message() + " desk=" + config.name);
    } else if (!noted->empty()) {
        events.emit("edited", Json::object().set("checkpoint", *noted));
    }
}

}  // namespace daybook
