#include "host/turn/trigger_queue.hpp"

namespace daybook {
namespace {

int rank_of(const Trigger& trigger) noexcept {
    if (!trigger.recovery_of.empty()) {
        return 0;
    }
    switch (trigger.kind) {
        case TurnKind::fill:
            return 1;
        case TurnKind::alert:
            return 2;
        case TurnKind::job:
            return 3;
        case TurnKind::message:
        case TurnKind::owner_call:
        case TurnKind::note_worker:
        case TurnKind::flush:
        case TurnKind::summary:
        case TurnKind::fold:
        case TurnKind::curator:
            break;
    }
    return 4;
}

}  // namespace

Result<> TriggerQueue::reserve() {
    const std::lock_guard lock(mutex_);
    if (queue_.size() + reserved_ + (taken_ ? 1U : 0U) >= limit_) {
        return Error(Errc::full,
                     "the desk's queue is full: " + std::to_string(limit_) +
                         " triggers wait; send it again later or raise host.queue_limit");
    }
    ++reserved_;
    return {};
}

void TriggerQueue::release() {
    const std::lock_guard lock(mutex_);
    --reserved_;
}

void TriggerQueue::push_reserved(Trigger trigger) {
    const std::lock_guard lock(mutex_);
    --reserved_;
    push(std::move(trigger));
}

void TriggerQueue::push_recovered(Trigger trigger) {
    const std::lock_guard lock(mutex_);
    push(std::move(trigger));
}

void TriggerQueue::push(Trigger trigger) {
    const auto place = std::pair(rank_of(trigger), next_number_++);
    queue_.emplace(place, std::move(trigger));
}

std::optional<TriggerQueue::Taken> TriggerQueue::take() {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) {
        return std::nullopt;
    }
    const auto first = queue_.begin();
    Taken taken{first->first, std::move(first->second)};
    queue_.erase(first);
    taken_ = true;
    return taken;
}

void TriggerQueue::put_back(Taken taken) {
    const std::lock_guard lock(mutex_);
    taken_ = false;
    queue_.emplace(taken.place, std::move(taken.trigger));
}

void TriggerQueue::settle() {
    const std::lock_guard lock(mutex_);
    taken_ = false;
}

std::size_t TriggerQueue::waiting() const {
    const std::lock_guard lock(mutex_);
    return queue_.size();
}

bool TriggerQueue::is_settled() const {
    const std::lock_guard lock(mutex_);
    return queue_.empty() && reserved_ == 0 && !taken_;
}

std::vector<std::string> TriggerQueue::ids() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> ids;
    for (const auto& [place, trigger] : queue_) {
        ids.push_back(trigger.id);
    }
    return ids;
}

}  // namespace daybook
