#include "host/checkpoint/git_delta.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

// The base is cut into windows that are found again by a hash. A small base has one at every
// position, for each byte counts; a large one at every sixteenth, and what is found is made longer
// to both sides. A hash met too often is followed only so far, so that no content makes it slow.

namespace daybook {
namespace {

constexpr std::size_t kSmallBase = 64UL * 1024;
constexpr std::size_t kSmallWindow = 8;
constexpr std::size_t kLargeWindow = 16;
constexpr std::uint32_t kNone = 0xFFFFFFFF;
constexpr int kMostLooks = 32;
constexpr std::size_t kGoodEnough = 4096;
constexpr std::size_t kMaxCopy = 0x10000;  // as git's own
constexpr std::size_t kMaxInsert = 127;
constexpr std::size_t kMaxBase = kNone;

struct Match {
    std::size_t offset = 0;
    std::size_t length = 0;
};

class BaseIndex {
  public:
    explicit BaseIndex(std::string_view base)
        : base_(base),
          is_small_(base.size() <= kSmallBase),
          window_(is_small_ ? kSmallWindow : kLargeWindow) {
        if (base.size() < window_ || base.size() > kMaxBase) {
            return;
        }
        const std::size_t step = is_small_ ? 1 : kLargeWindow;
        const std::size_t count = (base.size() - window_) / step + 1;
        while ((std::size_t{1} << bits_) < count) {
            ++bits_;
        }
        heads_.assign(std::size_t{1} << bits_, kNone);
        next_.assign(count, kNone);
        for (std::size_t i = 0; i < count; ++i) {
            std::uint32_t& head = heads_[hash_of(base.substr(i * step))];
            next_[i] = head;
            head = static_cast<std::uint32_t>(i);
        }
        step_ = step;
    }

    /// The longest piece of the base that `target` begins with; length 0 = none worth while.
    [[nodiscard]] Match find(std::string_view target) const {
        Match best;
        if (heads_.empty() || target.size() < window_) {
            return best;
        }
        std::uint32_t at = heads_[hash_of(target)];
        for (int looks = 0; at != kNone && looks < kMostLooks; ++looks, at = next_[at]) {
            const std::size_t offset = at * step_;
            const std::string_view there = base_.substr(offset, target.size());
            const auto end = std::mismatch(there.begin(), there.end(), target.begin()).first;
            const auto length = static_cast<std::size_t>(end - there.begin());
            if (length >= window_ && length > best.length) {
                best = {offset, length};
            }
            if (best.length >= kGoodEnough) {
                break;
            }
        }
        return best;
    }

  private:
    /// Of the first `window_` bytes, which must be there.
    [[nodiscard]] std::size_t hash_of(std::string_view bytes) const {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        std::memcpy(&first, bytes.data(), sizeof first);
        std::memcpy(&last, bytes.data() + window_ - sizeof last, sizeof last);
        const std::uint64_t mixed = (first ^ (last * 0xC2B2AE3D27D4EB4FU)) * 0x9E3779B185EBCA87U;
        return bits_ == 0 ? 0 : mixed >> (64 - bits_);
    }

    std::string_view base_;
    bool is_small_;
    std::size_t window_;
    std::size_t step_ = 1;
    unsigned bits_ = 0;
    std::vector<std::uint32_t> heads_;
    std::vector<std::uint32_t> next_;
};

char byte_of(std::size_t value) {
    return static_cast<char>(static_cast<unsigned char>(value & 0xFFU));
}

void put_size(std::string& delta, std::size_t size) {
    for (; size >= 0x80; size >>= 7U) {
        delta += byte_of(size | 0x80U);
    }
    delta += byte_of(size);
}

void put_inserts(std::string& delta, std::string_view bytes) {
    while (!bytes.empty()) {
        const std::string_view piece = bytes.substr(0, kMaxInsert);
        delta += byte_of(piece.size());
        delta += piece;
        bytes.remove_prefix(piece.size());
    }
}

/// Bytes of offset and size that are zero are left out, as the first byte says.
void put_copy(std::string& delta, std::size_t offset, std::size_t size) {
    std::string numbers;
    unsigned flags = 0x80;
    for (unsigned i = 0; i < 4; ++i) {
        const std::size_t part = (offset >> (8 * i)) & 0xFFU;
        if (part != 0) {
            flags |= 1U << i;
            numbers += byte_of(part);
        }
    }
    const std::size_t wanted = size == kMaxCopy ? 0 : size;  // none of it stands for the most
    for (unsigned i = 0; i < 2; ++i) {
        const std::size_t part = (wanted >> (8 * i)) & 0xFFU;
        if (part != 0) {
            flags |= 0x10U << i;
            numbers += byte_of(part);
        }
    }
    delta += byte_of(flags);
    delta += numbers;
}

void put_copies(std::string& delta, Match match) {
    while (match.length > 0) {
        const std::size_t size = std::min(match.length, kMaxCopy);
        put_copy(delta, match.offset, size);
        match.offset += size;
        match.length -= size;
    }
}

}  // namespace

std::string encode_delta(std::string_view base, std::string_view target) {
    const BaseIndex index(base);
    std::string delta;
    put_size(delta, base.size());
    put_size(delta, target.size());
    std::size_t pending = 0;  // from here on nothing is written yet
    std::size_t at = 0;
    while (at < target.size()) {
        Match match = index.find(target.substr(at));
        if (match.length == 0) {
            ++at;
            continue;
        }
        const std::size_t end = at + match.length;
        while (at > pending && match.offset > 0 && base[match.offset - 1] == target[at - 1]) {
            --at;
            --match.offset;
            ++match.length;
        }
        put_inserts(delta, target.substr(pending, at - pending));
        put_copies(delta, match);
        at = end;
        pending = end;
    }
    put_inserts(delta, target.substr(pending));
    return delta;
}

}  // namespace daybook
