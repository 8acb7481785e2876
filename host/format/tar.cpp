#include "host/format/tar.hpp"

#include <algorithm>
#include <utility>

namespace daybook {
namespace {

constexpr std::size_t kNameBytes = 100;
constexpr std::size_t kMaxLongName = 64UL * 1024;
constexpr std::size_t kTypeAt = 156;
constexpr std::size_t kSumAt = 148;
constexpr std::string_view kMagic("ustar  \0", 8);  // GNU's: long names are understood everywhere

void put(std::string& block, std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), block.begin() + static_cast<std::ptrdiff_t>(at));
}

/// Digits with leading zeros, then a NUL.
std::string octal(std::uint64_t value, std::size_t digits) {
    std::string text(digits, '0');
    for (std::size_t i = digits; i > 0 && value != 0; value >>= 3U) {
        text[--i] = static_cast<char>('0' + (value & 7U));
    }
    return text;
}

std::optional<std::uint64_t> number_of(std::string_view field) {
    std::uint64_t value = 0;
    bool has_digit = false;
    for (const char c : field) {
        if (c >= '0' && c <= '7') {
            value = value * 8 + static_cast<std::uint64_t>(c - '0');
            has_digit = true;
        } else if (c == '\0' || c == ' ') {
            if (has_digit) {
                return value;
            }
        } else {
            return std::nullopt;
        }
    }
    return value;
}

/// Of all bytes, those of the sum itself as spaces.
std::uint64_t sum_of(std::string_view block) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
        const bool is_sum = i >= kSumAt && i < kSumAt + 8;
        sum += is_sum ? static_cast<unsigned char>(' ') : static_cast<unsigned char>(block[i]);
    }
    return sum;
}

std::string header_block(std::string_view name,
                         char type,
                         const TarEntry& entry,
                         std::uint64_t bytes,
                         std::string_view link) {
    std::string block(kTarBlock, '\0');
    put(block, 0, name.substr(0, kNameBytes));
    put(block, 100, octal(entry.mode & 07777U, 7));
    put(block, 108, octal(0, 7));
    put(block, 116, octal(0, 7));
    put(block, 124, octal(bytes, 11));
    put(block,
        136,
        octal(static_cast<std::uint64_t>(std::max<std::int64_t>(entry.modified, 0)), 11));
    block[kTypeAt] = type;
    put(block, 157, link.substr(0, kNameBytes));
    put(block, 257, kMagic);
    put(block, kSumAt, octal(sum_of(block), 6));
    block[kSumAt + 7] = ' ';
    return block;
}

/// A name that does not fit its field goes before, as the content of an entry of its own.
std::string long_name(std::string_view text, char type) {
    TarEntry entry;
    entry.mode = 0;
    std::string blocks = header_block("././@LongLink", type, entry, text.size() + 1, "");
    blocks += text;
    blocks += '\0';
    return blocks + tar_padding(text.size() + 1);
}

std::string field(std::string_view block, std::size_t at, std::size_t size) {
    const std::string_view text = block.substr(at, size);
    return std::string(text.substr(0, std::min(text.find('\0'), text.size())));
}

}  // namespace

Result<std::string> tar_header(const TarEntry& entry) {
    if (entry.bytes > kMaxTarFile) {
        return Error(Errc::full, "a file of 8 GiB or more does not fit a tar archive");
    }
    const std::string name = entry.kind == 'd' ? entry.path + "/" : entry.path;
    const char type = entry.kind == 'd' ? '5' : entry.kind == 'l' ? '2' : '0';
    std::string blocks;
    if (entry.link.size() >= kNameBytes) {
        blocks += long_name(entry.link, 'K');
    }
    if (name.size() >= kNameBytes) {
        blocks += long_name(name, 'L');
    }
    return blocks +
           header_block(name, type, entry, entry.kind == 'f' ? entry.bytes : 0, entry.link);
}

std::string tar_padding(std::uint64_t bytes) {
    return std::string((kTarBlock - bytes % kTarBlock) % kTarBlock, '\0');
}

std::string tar_end() {
    return std::string(2 * kTarBlock, '\0');
}

Result<TarReader::Wants> TarReader::take(std::string_view block) {
    if (block.size() != kTarBlock) {
        return Error(Errc::corrupt, "the archive ends in the middle");
    }
    if (filling_ == nullptr) {
        return take_header(block);
    }
    const std::size_t taken = std::min(left_, kTarBlock);
    filling_->append(block.substr(0, taken));
    left_ -= taken;
    if (left_ == 0) {
        filling_->resize(std::min(filling_->find('\0'), filling_->size()));
        filling_ = nullptr;
    }
    return Wants::more;
}

Result<TarReader::Wants> TarReader::take_header(std::string_view block) {
    if (block.find_first_not_of('\0') == std::string_view::npos) {
        return Wants::end;
    }
    const auto sum = number_of(block.substr(kSumAt, 8));
    const auto bytes = number_of(block.substr(124, 12));
    const auto mode = number_of(block.substr(100, 8));
    const auto modified = number_of(block.substr(136, 12));
    if (!sum || *sum != sum_of(block) || !bytes || !mode || !modified ||
        block.substr(257, 5) != "ustar") {
        return Error(Errc::corrupt, "the archive holds a damaged head");
    }
    const char type = block[kTypeAt];
    if (type == 'L' || type == 'K') {
        if (*bytes == 0 || *bytes > kMaxLongName) {
            return Error(Errc::corrupt, "the archive holds a name that is too long");
        }
        filling_ = type == 'L' ? &long_name_ : &long_link_;
        filling_->clear();
        left_ = static_cast<std::size_t>(*bytes);
        return Wants::more;
    }
    entry_ = TarEntry();
    entry_.path = long_name_.empty() ? field(block, 0, kNameBytes) : std::exchange(long_name_, "");
    entry_.link =
        long_link_.empty() ? field(block, 157, kNameBytes) : std::exchange(long_link_, "");
    while (entry_.path.size() > 1 && entry_.path.ends_with('/')) {
        entry_.path.pop_back();
    }
    entry_.kind = type == '5' ? 'd' : type == '2' ? 'l' : type == '0' || type == '\0' ? 'f' : '?';
    entry_.mode = static_cast<unsigned>(*mode) & 07777U;
    entry_.modified = static_cast<std::int64_t>(*modified);
    entry_.bytes = *bytes;
    if (entry_.kind == '?' || entry_.path.empty()) {
        return Error(Errc::corrupt, "the archive holds an entry that no backup has");
    }
    return Wants::content;
}

}  // namespace daybook
