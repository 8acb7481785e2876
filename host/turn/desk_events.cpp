#include "host/turn/desk_events.hpp"

#include <vector>

namespace daybook {

std::uint64_t DeskEvents::listen(std::function<void(const Json&)> listener) {
    const std::lock_guard lock(mutex_);
    listeners_.emplace(next_id_, std::move(listener));
    return next_id_++;
}

void DeskEvents::unlisten(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    listeners_.erase(id);
}

bool DeskEvents::is_watched() const {
    const std::lock_guard lock(mutex_);
    return !listeners_.empty();
}

void DeskEvents::emit(std::string_view event, const Json& members) {
    const std::lock_guard lock(mutex_);
    if (listeners_.empty()) {
        return;
    }
    Json whole = Json::object();
    whole.set("event", event).set("desk", desk_);
    for (const auto& [name, value] : members.members()) {
        whole.set(name, value);
    }
    std::vector<std::uint64_t> ids;
    for (const auto& [id, listener] : listeners_) {
        ids.push_back(id);
    }
    for (const std::uint64_t id : ids) {
        const auto found = listeners_.find(id);
        if (found != listeners_.end()) {
            const auto listener = found->second;  // it may unlisten itself
            listener(whole);
        }
    }
}

}  // namespace daybook
