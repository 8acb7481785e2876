#include "host/checkpoint/staged_objects.hpp"

#include <utility>

namespace daybook {

void StagedObjects::put(const GitId& id, GitType type, std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    Held& held = held_[id];
    if (held.times++ == 0) {
        held.object = StagedObject{id, type, std::make_shared<const std::string>(bytes)};
    }
    fresh_.push_back(held.object);
}

std::optional<StagedObject> StagedObjects::find(const GitId& id) const {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(id);
    return found == held_.end() ? std::nullopt : std::optional<StagedObject>(found->second.object);
}

std::vector<StagedObject> StagedObjects::take_fresh() {
    const std::lock_guard lock(mutex_);
    return std::exchange(fresh_, {});
}

void StagedObjects::drop(const std::vector<StagedObject>& objects) {
    const std::lock_guard lock(mutex_);
    for (const StagedObject& object : objects) {
        const auto found = held_.find(object.id);
        if (found != held_.end() && --found->second.times == 0) {
            held_.erase(found);
        }
    }
}

}  // namespace daybook
