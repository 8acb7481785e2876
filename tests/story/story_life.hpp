// One life of a host in a story: from its start to its stop, or to the instant that kills it.
#pragma once

#include <filesystem>
#include <functional>

#include "tests/story/story.hpp"

namespace daybook::test {

/// Starts the host in `home` and runs actions from `first` on, up to the one that stops it; tells
/// `began` the number of each. Returns the number of the action behind the last one. Throws
/// std::runtime_error. To be called in a process of its own: it sets the environment, and the feed
/// may kill it.
std::size_t live(const Story& story,
                 const std::filesystem::path& home,
                 std::size_t first,
                 const std::function<void(std::size_t)>& began);

/// Actions that the story runs while no host is there.
void act_on_files(const Json& action, const std::filesystem::path& home);

}  // namespace daybook::test
