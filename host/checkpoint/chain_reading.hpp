// What the chain of commits says of checkpoints: where each lies, what its write left, which files
// it concerns. Gathered from the oldest to the newest, so that it can go on where it stopped; it
// says the same as walk_checkpoints() from the other end. No I/O but reading objects. Thread:
// [any].
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/git_objects.hpp"

namespace daybook {

/// A checkpoint's place in the history.
struct CheckpointPlace {
    std::uint64_t number = 0;
    GitId commit;
    std::optional<GitId> written;  ///< the commit of what its write left
    friend bool operator==(const CheckpointPlace&, const CheckpointPlace&) = default;
};

/// A commit as far as a listing is concerned with it.
struct ChainLink {
    GitId id;
    std::uint64_t number = 0;   ///< of the checkpoint, 0 = it is none
    std::uint64_t written = 0;  ///< the checkpoint whose write left this, 0 = none
    std::vector<std::string> files;
};

/// The commits after `known` (zeros: all), the newest first. `*meets`: that one was met.
/// Errors: not_found, corrupt.
Result<std::vector<ChainLink>> links_since(const GitObjects& objects,
                                           const GitId& newest,
                                           const GitId& known,
                                           bool* meets);

/// Where a reading stands.
struct ChainState {
    GitId tip;                  ///< the last commit read; zeros: none
    std::uint64_t last = 0;     ///< the highest checkpoint
    std::uint64_t settled = 0;  ///< the highest when the last commit of a write was read
};

class ChainReading {
  public:
    static constexpr std::uint64_t kMaxNumber = INT64_MAX;

    explicit ChainReading(const ChainState& from) : state_(from) {}

    /// The next one. Errors: invalid (its number does not follow: a history made by hand).
    Result<> add(const ChainLink& link);

    [[nodiscard]] const ChainState& state() const noexcept { return state_; }
    /// Numbers rising.
    [[nodiscard]] std::vector<CheckpointPlace> places() const;
    /// What writes left of checkpoints that had been read before.
    [[nodiscard]] const std::map<std::uint64_t, GitId>& earlier_writes() const noexcept {
        return earlier_writes_;
    }
    /// By raw path: numbers, rising.
    [[nodiscard]] const std::map<std::string, std::vector<std::uint64_t>>& files() const noexcept {
        return files_;
    }

  private:
    void note_files(std::uint64_t number, const std::vector<std::string>& files);

    ChainState state_;
    std::map<std::uint64_t, CheckpointPlace> places_;
    std::map<std::uint64_t, GitId> earlier_writes_;
    std::map<std::string, std::vector<std::uint64_t>> files_;
};

}  // namespace daybook
