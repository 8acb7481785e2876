// In which order, and under which names, objects are given to the maker of a pack: what is alike
// comes together, so that each is stored as its difference from the one before. Thread: [any].
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/checkpoint/git_objects.hpp"

namespace daybook {

struct PackEntry {
    GitId id;
    std::string name;          ///< objects whose names end alike are compared with each other
    std::vector<GitId> bases;  ///< earlier in the order, and likely to be much like this one
};

/// What an order is made from. Both give nullopt for what cannot be read.
struct PackSource {
    std::function<std::optional<GitType>(const GitId&)> type_of;
    std::function<std::optional<std::string>(const GitId&)> read;
};

/// Exactly these objects, each once: commits as they came, a few at a time under one name; then
/// trees and contents in the order in which commits brought them, by their names in the trees.
std::vector<PackEntry> order_for_pack(const PackSource& source, const std::vector<GitId>& ids);

}  // namespace daybook
