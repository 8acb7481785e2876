// Objects that stand in the record log and are not yet in the repository: read before it, by every
// reader. Thread: [any].
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/checkpoint/git_objects.hpp"

namespace daybook {

struct StagedObject {
    GitId id;
    GitType type = GitType::blob;
    std::shared_ptr<const std::string> bytes;
};

class StagedObjects {
  public:
    void put(const GitId& id, GitType type, std::string_view bytes);
    [[nodiscard]] std::optional<StagedObject> find(const GitId& id) const;
    /// What was put since the last time, in that order. They stay readable until drop().
    [[nodiscard]] std::vector<StagedObject> take_fresh();
    /// Says that the repository has them now, or that nobody needs them. One that was put twice
    /// goes with the second.
    void drop(const std::vector<StagedObject>& objects);

  private:
    struct Held {
        StagedObject object;
        std::size_t times = 0;
    };
    mutable std::mutex mutex_;  // guards all below
    std::map<GitId, Held> held_;
    std::vector<StagedObject> fresh_;
};

}  // namespace daybook
