// Who watches a desk, and telling them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "host/format/json.hpp"

namespace daybook {

class DeskEvents {
  public:
    explicit DeskEvents(std::string desk) : desk_(std::move(desk)) {}

    /// Thread: [any].
    std::uint64_t listen(std::function<void(const Json&)> listener);
    /// When it returns the listener does not run any more, unless it is called in the listener
    /// itself. So the caller holds no lock that the listener takes. Thread: [any].
    void unlisten(std::uint64_t id);
    /// Puts "event" and "desk" in front of the members and tells everybody. Thread: [any].
    void emit(std::string_view event, const Json& members);
    /// Whether anybody watches: spares making events that nobody reads.
    [[nodiscard]] bool is_watched() const;

  private:
    const std::string desk_;
    // Guards the listeners, and is held while they run (see unlisten); recursive for a listener
    // that unlistens itself.
    mutable std::recursive_mutex mutex_;
    std::map<std::uint64_t, std::function<void(const Json&)>> listeners_;
    std::uint64_t next_id_ = 1;
};

}  // namespace daybook
