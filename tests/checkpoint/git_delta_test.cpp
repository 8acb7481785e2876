// Git's delta: whatever the two contents are, it makes the second out of the first.
#include "host/checkpoint/git_delta.hpp"

#include <cstdint>
#include <optional>
#include <random>

#include "tests/catch.hpp"

using namespace daybook;

namespace {

std::optional<std::size_t> size_at(const std::string& delta, std::size_t& at) {
    std::size_t size = 0;
    for (unsigned shift = 0; at < delta.size(); shift += 7) {
        const auto byte = static_cast<unsigned char>(delta[at++]);
        size |= static_cast<std::size_t>(byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) {
            return size;
        }
    }
    return std::nullopt;
}

/// As the pack format's text says; nullopt for what is not a delta of that base.
std::optional<std::string> applied(const std::string& base, const std::string& delta) {
    std::size_t at = 0;
    const auto from = size_at(delta, at);
    const auto to = size_at(delta, at);
    std::string out;
    while (at < delta.size()) {
        const auto op = static_cast<unsigned char>(delta[at++]);
        if (op == 0) {
            return std::nullopt;
        }
        if ((op & 0x80U) == 0) {
            if (delta.size() - at < op) {
                return std::nullopt;
            }
            out += delta.substr(at, op);
            at += op;
            continue;
        }
        std::size_t numbers[2] = {0, 0};
        for (unsigned i = 0; i < 7; ++i) {
            if ((op & (1U << i)) != 0) {
                if (at == delta.size()) {
                    return std::nullopt;
                }
                const auto byte = static_cast<unsigned char>(delta[at++]);
                numbers[i / 4] |= static_cast<std::size_t>(byte) << (8 * (i % 4));
            }
        }
        const std::size_t size = numbers[1] == 0 ? 0x10000 : numbers[1];
        if (numbers[0] > base.size() || size > base.size() - numbers[0]) {
            return std::nullopt;
        }
        out += base.substr(numbers[0], size);
    }
    return from == base.size() && to == out.size() ? std::optional(out) : std::nullopt;
}

/// Bytes out of `letters` values: few of them repeat themselves often.
std::string some_bytes(std::mt19937& random, std::size_t size, unsigned letters) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
        byte = static_cast<char>(random() % letters);
    }
    return bytes;
}

/// The same with pieces taken out, put in, doubled and moved.
std::string edited(std::mt19937& random, std::string text, unsigned letters) {
    for (auto edits = random() % 6; edits > 0; --edits) {
        const std::size_t at = random() % (text.size() + 1);
        const std::size_t size = random() % 200;
        const std::string piece = text.substr(at, size);
        switch (random() % 3) {
            case 0:
                text.erase(at, size);
                break;
            case 1:
                text.insert(at, some_bytes(random, size, letters));
                break;
            default:
                text.insert(random() % (text.size() + 1), piece);
                break;
        }
    }
    return text;
}

void check_pair(const std::string& base, const std::string& target) {
    const std::string delta = encode_delta(base, target);
    const auto out = applied(base, delta);
    INFO("base " << base.size() << " target " << target.size() << " delta " << delta.size());
    REQUIRE(out.has_value());
    REQUIRE((*out == target));
    // Never much longer than the new content itself.
    REQUIRE(delta.size() <= target.size() + target.size() / 100 + 24);
}

}  // namespace

TEST_CASE("a delta makes the new content out of the old one, whatever both are", "[checkpoint]") {
    std::mt19937 random(2026);
    for (int round = 0; round < 2000; ++round) {
        const unsigned letters = round % 3 == 0 ? 2 : round % 3 == 1 ? 20 : 256;
        const std::string base = some_bytes(random, random() % 3000, letters);
        check_pair(base, edited(random, base, letters));
        check_pair(base, some_bytes(random, random() % 300, letters));
    }
}

TEST_CASE("a delta is right at the limits of its own numbers", "[checkpoint]") {
    std::mt19937 random(7);
    const std::string noise = some_bytes(random, 200'000, 256);
    check_pair("", "");
    check_pair("", noise);
    check_pair(noise, "");
    check_pair("x", "x");
    for (const std::size_t size : {7U, 8U, 9U, 15U, 16U, 17U, 126U, 127U, 128U, 254U, 255U, 256U}) {
        check_pair(noise.substr(0, size), noise.substr(0, size));
        check_pair("", noise.substr(0, size));
        check_pair(noise, noise.substr(255, size) + noise.substr(256, size));
    }
    // A copy's size of 64 KiB, one less and one more; its offset over one, two and three bytes.
    for (const std::size_t size : {0xFFFFU, 0x10000U, 0x10001U, 0x1FFFFU, 0x20000U}) {
        for (const std::size_t from : {0U, 0xFFU, 0x100U, 0xFFFFU, 0x10000U}) {
            check_pair(noise, noise.substr(from, size));
            check_pair(noise.substr(0, 0x10000), noise.substr(0, size) + "end");
        }
    }
}

TEST_CASE("a delta of contents made to be slow is soon there", "[checkpoint]") {
    const std::size_t size = 2'000'000;
    const std::string zeros(size, '\0');
    check_pair(zeros, zeros + "end");
    std::string marked = zeros;
    for (std::size_t i = 0; i < size; i += 997) {
        marked[i] = 'x';
    }
    check_pair(zeros, marked);
    check_pair(marked, zeros);
    check_pair(marked, "x" + marked);
    std::string pattern;
    while (pattern.size() < 60'000) {
        pattern += "aaaaaaab";
    }
    check_pair(pattern, std::string(60'000, 'a'));
    check_pair(pattern, pattern.substr(3));
}

TEST_CASE("a line more costs a delta little more than the line", "[checkpoint]") {
    std::mt19937 random(3);
    const std::string text = some_bytes(random, 20'000, 256);
    CHECK(encode_delta(text, text).size() < 16);
    CHECK(encode_delta(text, text + "one line more\n").size() < 32);
    CHECK(encode_delta(text, "one line before\n" + text).size() < 32);
    const std::string large = some_bytes(random, 1'000'000, 256);
    CHECK(encode_delta(large, large.substr(0, 500'003) + "new" + large.substr(500'003)).size() <
          150);
}
