// Damage to bytes, the same in every run: for tests that feed a reader anything at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace daybook::test {

class Mutator {
  public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    /// One of the samples after one to eight changes: a bit, a byte, a piece cut, doubled, moved or
    /// taken from another.
    std::string damaged(const std::vector<std::string>& samples) {
        std::string bytes = samples[below(samples.size())];
        const std::size_t changes = 1 + below(8);
        for (std::size_t i = 0; i < changes; ++i) {
            change(bytes, samples[below(samples.size())]);
        }
        return bytes;
    }

    std::size_t below(std::size_t end) {
        return end == 0 ? 0 : std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
    }

  private:
    void change(std::string& bytes, std::string_view other) {
        const std::size_t at = below(bytes.size() + 1);
        const std::size_t length = below(17);
        switch (below(7)) {
            case 0:
                if (at < bytes.size()) {
                    bytes[at] =
                        static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << below(8)));
                }
                return;
            case 1:
                bytes.insert(at, 1, static_cast<char>(below(256)));
                return;
            case 2:
                if (at < bytes.size()) {
                    bytes[at] = static_cast<char>(below(256));
                }
                return;
            case 3:
                bytes.erase(at, length);
                return;
            case 4:
                bytes.insert(at, bytes.substr(below(bytes.size() + 1), length));
                return;
            case 5:
                bytes.insert(at, other.substr(below(other.size() + 1), length * 4));
                return;
            default:
                bytes.resize(at);
                return;
        }
    }

    std::mt19937_64 random_;
};

}  // namespace daybook::test
