// What a turn was shown of the desk's own files: what a write must be based on. One for each turn.
// Thread: [desk].
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/os/desk_path.hpp"

namespace daybook {

/// The content last shown of each file, by hash, and how much of it. Parts of one content add up:
/// when they leave nothing out, it was shown whole.
class ShownFiles {
  public:
    /// The whole content was shown. `sha256` "" = shown as absent.
    void remember(const DeskPath& path, std::string sha256);
    /// The bytes [begin, end) of a content of `size` bytes were shown. Another content's parts are
    /// forgotten.
    void remember_part(const DeskPath& path,
                       const std::string& sha256,
                       std::size_t begin,
                       std::size_t end,
                       std::size_t size);
    /// The file was changed from `before` ("" = absent) to `after` by somebody who saw no more than
    /// this: it is shown as far as `before` was.
    void remember_change(const DeskPath& path, const std::string& before, std::string after);

    /// The hash of what was last shown, whole or in part. nullopt = never shown.
    [[nodiscard]] std::optional<std::string> find(const DeskPath& path) const;
    /// Whether the content last shown was shown whole.
    [[nodiscard]] bool is_whole(const DeskPath& path) const;

    /// What was shown of the file did not reach the model whole: a tool's result was cut.
    void mark_partial(const DeskPath& path);
    /// The same for every file shown until now.
    void mark_all_partial();

  private:
    struct Showing {
        std::string sha256;
        bool whole = false;
        std::vector<std::pair<std::size_t, std::size_t>> parts{};  ///< sorted, apart; of bytes
    };
    std::map<std::string, Showing> shown_;
};

}  // namespace daybook
