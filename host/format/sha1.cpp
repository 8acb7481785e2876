#include "host/format/sha1.hpp"

#include <array>
#include <cstdlib>

#include <mbedtls/sha1.h>

namespace daybook {
namespace {

/// Only a hardware implementation can fail; a wrong hash must never be used.
void must_be_done(int code) {
    if (code != 0) {
        std::abort();
    }
}

}  // namespace

struct Sha1::State {
    mbedtls_sha1_context context{};
};

Sha1::Sha1() : state_(std::make_unique<State>()) {
    mbedtls_sha1_init(&state_->context);
    must_be_done(mbedtls_sha1_starts_ret(&state_->context));
}

Sha1::~Sha1() {
    mbedtls_sha1_free(&state_->context);
}

void Sha1::add(std::string_view bytes) {
    if (!bytes.empty()) {
        must_be_done(mbedtls_sha1_update_ret(
            &state_->context, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
    }
}

std::string Sha1::finish() {
    std::array<unsigned char, 20> digest{};
    must_be_done(mbedtls_sha1_finish_ret(&state_->context, digest.data()));
    return std::string(reinterpret_cast<const char*>(digest.data()), digest.size());
}

}  // namespace daybook
