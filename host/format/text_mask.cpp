#include "host/format/text_mask.hpp"

#include <algorithm>

#include "host/format/json.hpp"

namespace daybook {
namespace {

constexpr std::string_view kMask = "[forgotten]";
constexpr int kMaxNested = 4;
constexpr std::size_t kMaxLine = 64UL * 1024 * 1024;

JsonLimits limits() {
    JsonLimits wide;
    wide.max_bytes = kMaxLine;
    wide.max_string_bytes = kMaxLine;
    return wide;
}

std::string escaped(const std::string& text) {
    const std::string quoted = Json(text).dump();
    return quoted.substr(1, quoted.size() - 2);
}

/// Tells nothing of the text, and is not longer.
std::string mask_of(std::string_view text) {
    return text.size() >= kMask.size() ? std::string(kMask) : std::string(text.size(), '*');
}

std::uint64_t replace_all(std::string& bytes, const std::string& from, const std::string& to) {
    std::uint64_t count = 0;
    std::string out;
    std::size_t at = 0;
    for (std::size_t found = bytes.find(from); found != std::string::npos;
         found = bytes.find(from, at)) {
        out.append(bytes, at, found - at).append(to);
        at = found + from.size();
        ++count;
    }
    if (count != 0) {
        out.append(bytes, at, std::string::npos);
        bytes = std::move(out);
    }
    return count;
}

}  // namespace

Result<TextMask> TextMask::of(const std::vector<std::string>& texts) {
    TextMask mask;
    for (const std::string& text : texts) {
        if (text.size() < kFewestBytes) {
            return Error(Errc::invalid,
                         "a text to forget has at least " + std::to_string(kFewestBytes) +
                             " bytes: a shorter one stands in too many places");
        }
        const std::string once = escaped(text);
        const std::string twice = escaped(once);
        mask.add(text, mask_of(text));
        if (once != text) {
            mask.add(once, mask_of(text));
        }
        if (twice != once) {
            mask.add(twice, mask_of(text));
        }
    }
    return texts.empty() ? Result<TextMask>(Error(Errc::invalid, "there is no text to forget"))
                         : Result<TextMask>(std::move(mask));
}

void TextMask::add(std::string from, std::string to) {
    replacements_.emplace_back(std::move(from), std::move(to));
    std::stable_sort(replacements_.begin(), replacements_.end(), [](const auto& a, const auto& b) {
        return a.first.size() > b.first.size();
    });
}

bool TextMask::is_in(std::string_view bytes) const {
    return std::any_of(replacements_.begin(), replacements_.end(), [&](const auto& each) {
        return bytes.find(each.first) != std::string_view::npos;
    });
}

std::uint64_t TextMask::mask(std::string& bytes) const {
    std::uint64_t count = 0;
    for (const auto& [from, to] : replacements_) {
        count += replace_all(bytes, from, to);
    }
    return count + mask_hashes(bytes);
}

void TextMask::add_hash(std::string from, std::string to) {
    hashes_.insert_or_assign(std::move(from), std::move(to));
}

/// Any 64 hexadecimal digits that stand by themselves, in one pass however many hashes there are.
std::uint64_t TextMask::mask_hashes(std::string& bytes) const {
    constexpr std::size_t kDigits = 64;
    constexpr std::string_view kHex = "0123456789abcdef";
    std::uint64_t count = 0;
    for (std::size_t at = 0; !hashes_.empty() && at < bytes.size();) {
        at = std::min(bytes.find_first_of(kHex, at), bytes.size());
        const std::size_t end = std::min(bytes.find_first_not_of(kHex, at), bytes.size());
        if (end - at == kDigits) {
            if (const auto found = hashes_.find(bytes.substr(at, kDigits));
                found != hashes_.end()) {
                bytes.replace(at, kDigits, found->second);
                ++count;
            }
        }
        at = end;
    }
    return count;
}

std::uint64_t TextMask::mask_string(std::string& text, int depth) const {
    std::uint64_t count = mask(text);
    if (depth < kMaxNested && (text.starts_with('{') || text.starts_with('['))) {
        if (auto nested = Json::parse(text, limits())) {
            if (const std::uint64_t inside = mask_json(*nested, depth + 1); inside != 0) {
                text = nested->dump();
                count += inside;
            }
        }
    }
    return count;
}

std::uint64_t TextMask::mask_json(Json& value, int depth) const {
    std::uint64_t count = 0;
    if (value.is_string()) {
        std::string text = value.as_string();
        count = mask_string(text, depth);
        if (count != 0) {
            value = Json(std::move(text));
        }
    } else if (value.is_array()) {
        Json::Array items = value.items();
        for (Json& item : items) {
            count += mask_json(item, depth);
        }
        if (count != 0) {
            value = Json::array(std::move(items));
        }
    } else if (value.is_object()) {
        Json::Object members = value.members();
        for (auto& [name, member] : members) {
            count += mask(name) + mask_json(member, depth);
        }
        if (count != 0) {
            value = Json::object(std::move(members));
        }
    }
    return count;
}

std::uint64_t TextMask::mask_line(std::string& line) const {
    std::uint64_t count = mask(line);
    // Written with other escapes than ours, a text shows only when the line is read.
    if (line.find('\\') == std::string::npos) {
        return count;
    }
    if (auto value = Json::parse(line, limits())) {
        if (const std::uint64_t inside = mask_json(*value, 0); inside != 0) {
            line = value->dump();
            count += inside;
        }
    }
    return count;
}

}  // namespace daybook
