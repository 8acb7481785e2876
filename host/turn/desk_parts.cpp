#include "host/turn/desk_parts.hpp"

namespace daybook {

void TurnInterrupt::set(const std::string& why) {
    {
        const std::lock_guard lock(mutex_);
        why_ = why;
    }
    set_ = true;
}

void TurnInterrupt::set_stopping() {
    stopping_ = true;
}

void TurnInterrupt::clear() {
    set_ = false;
}

std::string TurnInterrupt::why() const {
    if (stopping_) {
        return "the host is stopping";
    }
    const std::lock_guard lock(mutex_);
    return why_;
}

JournalEntry DeskParts::entry(std::string type, std::string session, std::string turn, Json data) {
    JournalEntry entry;
    entry.type = std::move(type);
    entry.session = std::move(session);
    entry.turn = std::move(turn);
    entry.data = std::move(data);
    return entry;
}

}  // namespace daybook
