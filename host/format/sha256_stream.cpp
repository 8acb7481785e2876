#include "host/format/sha256_stream.hpp"

#include <array>
#include <cstdlib>

#include <mbedtls/sha256.h>

namespace daybook {
namespace {

/// Only a hardware implementation can fail; a wrong hash must never be used.
void must_be_done(int code) {
    if (code != 0) {
        std::abort();
    }
}

}  // namespace

struct Sha256Stream::State {
    mbedtls_sha256_context context{};
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
    constexpr int kNot224 = 0;
    mbedtls_sha256_init(&state_->context);
    must_be_done(mbedtls_sha256_starts_ret(&state_->context, kNot224));
}

Sha256Stream::~Sha256Stream() {
    mbedtls_sha256_free(&state_->context);
}

void Sha256Stream::add(std::string_view bytes) {
    if (!bytes.empty()) {
        must_be_done(mbedtls_sha256_update_ret(
            &state_->context, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
    }
}

std::string Sha256Stream::finish() {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::array<unsigned char, 32> digest{};
    must_be_done(mbedtls_sha256_finish_ret(&state_->context, digest.data()));
    std::string text;
    for (const unsigned char byte : digest) {
        text += kHex[byte >> 4U];
        text += kHex[byte & 0x0FU];
    }
    return text;
}

}  // namespace daybook
