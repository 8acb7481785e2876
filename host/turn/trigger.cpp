#include "host/turn/trigger.hpp"

#include "host/os/desk_path.hpp"

namespace daybook {

Result<TurnKind> trigger_kind_of(std::string_view name) {
    for (const TurnKind kind :
         {TurnKind::message, TurnKind::job, TurnKind::alert, TurnKind::fill}) {
        if (name_of(kind) == name) {
            return kind;
        }
    }
    return Error(
        Errc::invalid,
        "kind of trigger \"" + printable(name, 40) + "\": expected message, job, alert or fill");
}

Source source_of(TurnKind kind) noexcept {
    switch (kind) {
        case TurnKind::message:
        case TurnKind::owner_call:
            return Source::owner;
        case TurnKind::job:
            return Source::job;
        case TurnKind::alert:
            return Source::alert;
        case TurnKind::fill:
            return Source::fill;
        case TurnKind::note_worker:
        case TurnKind::flush:
        case TurnKind::summary:
        case TurnKind::fold:
        case TurnKind::curator:
            break;
    }
    return Source::host;
}

}  // namespace daybook
