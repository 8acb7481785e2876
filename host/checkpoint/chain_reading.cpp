#include "host/checkpoint/chain_reading.hpp"

#include <algorithm>

#include "host/checkpoint/commit_walk.hpp"

namespace daybook {

Result<std::vector<ChainLink>> links_since(const GitObjects& objects,
                                           const GitId& newest,
                                           const GitId& known,
                                           bool* meets) {
    std::vector<ChainLink> links;
    std::optional<GitId> at = newest;
    while (at && *at != known) {
        auto record = read_commit(objects, *at);
        if (!record) {
            return record.error();
        }
        ChainLink link{*at, record->number, record->written, {}};
        if (link.number != 0 || link.written != 0) {
            auto files = files_of_commit(objects, *record);
            if (!files) {
                return files.error();
            }
            link.files = std::move(*files);
        }
        links.push_back(std::move(link));
        at = record->parent;
    }
    *meets = at.has_value();
    return links;
}

Result<> ChainReading::add(const ChainLink& link) {
    if (link.number != 0) {
        if (link.number <= state_.last || link.number > kMaxNumber) {
            return Error(Errc::invalid,
                         "listing index: c-" + std::to_string(link.number) + " comes after c-" +
                             std::to_string(state_.last));
        }
        state_.last = link.number;
        places_[link.number] = {link.number, link.id, {}};
        note_files(link.number, link.files);
    }
    // The first such commit after a checkpoint counts, when it names that one.
    if (link.written != 0) {
        if (link.written > state_.settled && link.written <= state_.last) {
            const auto place = places_.find(link.written);
            if (place != places_.end()) {
                place->second.written = link.id;
            } else {
                earlier_writes_[link.written] = link.id;
            }
            note_files(link.written, link.files);
        }
        state_.settled = state_.last;
    }
    state_.tip = link.id;
    return {};
}

/// A write's commit may come after the next checkpoint's: numbers need not come in order.
void ChainReading::note_files(std::uint64_t number, const std::vector<std::string>& files) {
    for (const std::string& path : files) {
        auto& numbers = files_[path];
        const auto at = std::lower_bound(numbers.begin(), numbers.end(), number);
        if (at == numbers.end() || *at != number) {
            numbers.insert(at, number);
        }
    }
}

std::vector<CheckpointPlace> ChainReading::places() const {
    std::vector<CheckpointPlace> places;
    for (const auto& [number, place] : places_) {
        places.push_back(place);
    }
    return places;
}

}  // namespace daybook
