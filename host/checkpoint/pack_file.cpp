#include "host/checkpoint/pack_file.hpp"

#include <cstdint>
#include <cstring>

#include "host/format/sha1.hpp"

namespace daybook {
namespace {

constexpr std::size_t kIdBytes = 20;
constexpr std::size_t kIndexHead = 8;
constexpr std::size_t kFanOut = 256UL * 4;
constexpr std::size_t kPiece = 1UL << 20;

std::uint32_t big_endian(std::string_view bytes) {
    std::uint32_t value = 0;
    for (const char byte : bytes.substr(0, 4)) {
        value = (value << 8U) | static_cast<unsigned char>(byte);
    }
    return value;
}

}  // namespace

Result<std::vector<GitId>> ids_of_pack_index(std::string_view index) {
    constexpr std::string_view kMagic("\377tOc\0\0\0\2", kIndexHead);
    if (!index.starts_with(kMagic) || index.size() < kIndexHead + kFanOut) {
        return Error(Errc::corrupt, "not an index of version 2");
    }
    const std::size_t count = big_endian(index.substr(kIndexHead + kFanOut - 4));
    const std::string_view ids = index.substr(kIndexHead + kFanOut);
    if (ids.size() / kIdBytes < count) {
        return Error(Errc::corrupt, "the index ends before its last object");
    }
    std::vector<GitId> found(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(found[i].bytes.data(), ids.data() + i * kIdBytes, kIdBytes);
    }
    return found;
}

Result<> check_pack_hash(Os& os, int dir, std::string_view name) {
    auto fd = os.open_beneath(dir, name, OpenMode::read);
    if (!fd) {
        return fd.error();
    }
    auto status = os.stat_of(fd->get());
    if (!status) {
        return status.error();
    }
    const auto size = static_cast<std::uint64_t>(status->st_size);
    if (size < kIdBytes) {
        return Error(Errc::corrupt, std::string(name) + " is cut off");
    }
    Sha1 hash;
    for (std::uint64_t at = 0; at < size - kIdBytes;) {
        auto piece =
            os.read_at(fd->get(), at, std::min<std::uint64_t>(kPiece, size - kIdBytes - at));
        if (!piece || piece->empty()) {
            return piece ? Error(Errc::corrupt, std::string(name) + " is cut off") : piece.error();
        }
        hash.add(*piece);
        at += piece->size();
    }
    auto wanted = os.read_at(fd->get(), size - kIdBytes, kIdBytes);
    if (!wanted) {
        return wanted.error();
    }
    return *wanted == hash.finish()
               ? Result<>()
               : Result<>(Error(Errc::corrupt,
                                std::string(name) + " does not have the hash that it ends in"));
}

}  // namespace daybook
