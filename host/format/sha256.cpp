#include "host/format/sha256.hpp"

#include <array>
#include <cstdlib>

#include <mbedtls/sha256.h>

namespace daybook {

std::string sha256_hex(std::string_view bytes) {
    constexpr std::string_view kHex = "0123456789abcdef";
    // mbed TLS does not say that null with length 0 is fine.
    const std::string_view input = bytes.empty() ? std::string_view("", 0) : bytes;
    std::array<unsigned char, 32> digest = {};
    constexpr int kNot224 = 0;
    if (mbedtls_sha256_ret(reinterpret_cast<const unsigned char*>(input.data()),
                           input.size(),
                           digest.data(),
                           kNot224) != 0) {
        std::abort();  // only a hardware implementation can fail; a wrong hash must never be used
    }
    std::string out;
    out.reserve(digest.size() * 2);
    for (const unsigned char byte : digest) {
        out += kHex[byte >> 4U];
        out += kHex[byte & 0x0FU];
    }
    return out;
}

}  // namespace daybook
