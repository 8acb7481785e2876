// A git pack as bytes: entries one after the other, each whole or as its difference from one before
// it in the same pack (OFS_DELTA). What it makes is taken for nothing until an index of it has been
// made from those bytes, object by object (pack_writer.hpp). No I/O but reading objects. Thread:
// [any].
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <daybook/result.hpp>

#include "host/checkpoint/git_delta.hpp"
#include "host/checkpoint/pack_order.hpp"
#include "host/format/sha1.hpp"

namespace daybook {

/// Makes a delta; another one than encode_delta() is for tests.
using DeltaEncoder = std::string (*)(std::string_view base, std::string_view target);

class PackEncoder {
  public:
    /// Differences that are followed to read an object: git's own limit.
    static constexpr unsigned kMostDeltas = 50;

    /// Takes the pack's bytes in order. Its errors end the encoding.
    using Sink = std::function<Result<>(std::string_view)>;

    /// `source` must outlive it.
    PackEncoder(const PackSource& source, Sink sink, DeltaEncoder delta = encode_delta)
        : source_(source), sink_(std::move(sink)), delta_(delta) {}

    /// The whole pack. Errors: corrupt (an object cannot be read), invalid (too many for a pack),
    /// the sink's.
    Result<> encode(const std::vector<PackEntry>& entries);

  private:
    struct Placed {
        std::uint64_t offset = 0;
        GitType type = GitType::blob;
        unsigned deltas = 0;  ///< to be followed
        GitId first;          ///< the whole object at the end of those
    };

    Result<> put(std::string_view bytes);
    Result<> add(const PackEntry& entry);
    [[nodiscard]] std::string smallest(const PackEntry& entry,
                                       const std::string& bytes,
                                       Placed& placed) const;
    [[nodiscard]] std::vector<GitId> bases_of(const PackEntry& entry, GitType type) const;
    [[nodiscard]] std::optional<std::string> bytes_of(const GitId& id) const;
    void keep(const GitId& id, std::string bytes);

    const PackSource& source_;
    Sink sink_;
    DeltaEncoder delta_;
    Sha1 hash_;
    std::uint64_t size_ = 0;
    std::map<GitId, Placed> placed_;
    std::map<GitId, std::string> recent_;  ///< bytes of those placed last: the next ones' bases
    std::deque<GitId> recent_order_;
    std::size_t recent_bytes_ = 0;
};

}  // namespace daybook
