#include "host/checkpoint/pack_encoder.hpp"

#include <algorithm>
#include <utility>

#include "host/checkpoint/deflated.hpp"

namespace daybook {
namespace {

constexpr unsigned kOffsetDelta = 6;
constexpr std::size_t kMostObjects = 0xFFFFFFFF;
constexpr std::size_t kMostRecent = 8UL * 1024 * 1024;
/// Larger ones are pressed less hard: the time grows faster than what it saves.
constexpr std::size_t kLarge = 64UL * 1024;
constexpr int kDeflateUsual = 6;
/// A difference this many times smaller than the object is not compared with the whole.
constexpr std::size_t kPlainlySmaller = 8;

char byte_of(std::uint64_t value) {
    return static_cast<char>(static_cast<unsigned char>(value & 0xFFU));
}

/// Four bits of the size beside the type, then seven a byte.
std::string head_of(unsigned type, std::uint64_t size) {
    std::string head;
    std::uint64_t rest = size >> 4U;
    head += byte_of((type << 4U) | (size & 0x0FU) | (rest != 0 ? 0x80U : 0U));
    for (; rest != 0; rest >>= 7U) {
        head += byte_of((rest & 0x7FU) | (rest >= 0x80 ? 0x80U : 0U));
    }
    return head;
}

/// How far before the entry its base begins: seven bits a byte, the most significant first, and one
/// taken off each but the last.
std::string distance_of(std::uint64_t distance) {
    std::string bytes(1, byte_of(distance & 0x7FU));
    while ((distance >>= 7U) != 0) {
        --distance;
        bytes.insert(bytes.begin(), byte_of(0x80U | (distance & 0x7FU)));
    }
    return bytes;
}

std::string pressed(std::string_view bytes) {
    return deflated(bytes, bytes.size() > kLarge ? kDeflateUsual : kDeflateSmall);
}

}  // namespace

Result<> PackEncoder::put(std::string_view bytes) {
    hash_.add(bytes);
    size_ += bytes.size();
    return sink_(bytes);
}

Result<> PackEncoder::encode(const std::vector<PackEntry>& entries) {
    if (entries.size() > kMostObjects) {
        return Error(Errc::invalid, "pack checkpoints: too many objects");
    }
    std::string head("PACK\0\0\0\2", 8);
    for (unsigned shift = 32; shift > 0; shift -= 8) {
        head += byte_of(entries.size() >> (shift - 8));
    }
    if (auto done = put(head); !done) {
        return done;
    }
    for (const PackEntry& entry : entries) {
        if (auto done = add(entry); !done) {
            return done;
        }
    }
    return sink_(hash_.finish());
}

Result<> PackEncoder::add(const PackEntry& entry) {
    const auto type = source_.type_of(entry.id);
    auto bytes = type ? source_.read(entry.id) : std::nullopt;
    if (!bytes) {
        return Error(Errc::corrupt,
                     "pack checkpoints: object " + entry.id.hex() + " cannot be read");
    }
    Placed placed{size_, *type, 0, entry.id};
    const std::string written = smallest(entry, *bytes, placed);
    placed_[entry.id] = placed;
    keep(entry.id, std::move(*bytes));
    return put(written);
}

/// The entry's bytes, and in `placed` what it hangs on.
std::string PackEncoder::smallest(const PackEntry& entry,
                                  const std::string& bytes,
                                  Placed& placed) const {
    std::string best;
    for (const GitId& id : bases_of(entry, placed.type)) {
        const auto base = bytes_of(id);
        if (!base) {
            continue;
        }
        const std::string delta = delta_(*base, bytes);
        if (delta.size() >= bytes.size()) {
            continue;
        }
        const Placed& there = placed_.at(id);
        const std::string written = head_of(kOffsetDelta, delta.size()) +
                                    distance_of(placed.offset - there.offset) + pressed(delta);
        if (best.empty() || written.size() < best.size()) {
            best = written;
            placed.deltas = there.deltas + 1;
            placed.first = there.first;
        }
    }
    if (best.empty() || best.size() >= bytes.size() / kPlainlySmaller) {
        const std::string whole =
            head_of(static_cast<unsigned>(placed.type), bytes.size()) + pressed(bytes);
        if (best.empty() || whole.size() <= best.size()) {
            placed.deltas = 0;
            placed.first = entry.id;
            return whole;
        }
    }
    return best;
}

/// Those of the entry's that are placed and of its type. One with too many differences behind it
/// gives way to the whole object that it hangs on.
std::vector<GitId> PackEncoder::bases_of(const PackEntry& entry, GitType type) const {
    std::vector<GitId> bases;
    for (const GitId& id : entry.bases) {
        const auto at = placed_.find(id);
        if (at == placed_.end() || at->second.type != type) {
            continue;
        }
        const GitId& base = at->second.deltas < kMostDeltas ? id : at->second.first;
        if (std::find(bases.begin(), bases.end(), base) == bases.end()) {
            bases.push_back(base);
        }
    }
    return bases;
}

std::optional<std::string> PackEncoder::bytes_of(const GitId& id) const {
    const auto at = recent_.find(id);
    return at != recent_.end() ? std::optional<std::string>(at->second) : source_.read(id);
}

void PackEncoder::keep(const GitId& id, std::string bytes) {
    const std::size_t size = bytes.size();
    if (recent_.emplace(id, std::move(bytes)).second) {
        recent_order_.push_back(id);
        recent_bytes_ += size;
    }
    while (recent_bytes_ > kMostRecent && !recent_order_.empty()) {
        const auto oldest = recent_.find(recent_order_.front());
        recent_bytes_ -= oldest->second.size();
        recent_.erase(oldest);
        recent_order_.pop_front();
    }
}

}  // namespace daybook
