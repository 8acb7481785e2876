#include "host/checkpoint/git_names.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace daybook {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), lower);
    return out;
}

/// Without the code points that HFS+ leaves out when it compares names (U+200C-F, U+202A-E,
/// U+206A-F, U+FEFF), lower case.
std::string hfs_folded(std::string_view name) {
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const std::string_view three = name.substr(i, 3);
        const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(three[at]); };
        if (three.size() == 3) {
            const bool general =
                byte(0) == 0xE2 && ((byte(1) == 0x80 && byte(2) >= 0x8C && byte(2) <= 0x8F) ||
                                    (byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE) ||
                                    (byte(1) == 0x81 && byte(2) >= 0xAA && byte(2) <= 0xAF));
            if (general || three == "\xEF\xBB\xBF") {
                i += 2;
                continue;
            }
        }
        out += lower(name[i]);
    }
    return out;
}

/// Whether what follows a name is dropped by NTFS: spaces and dots to the end, or a stream's name.
bool is_dropped_tail(std::string_view tail) {
    const std::size_t end = std::min(tail.find_first_of(":\\"), tail.size());
    return tail.substr(0, end).find_first_not_of(" .") == std::string_view::npos;
}

bool is_ntfs_git(std::string_view name) {
    const std::string folded = lowered(name);
    for (const std::string_view start : {std::string_view(".git"), std::string_view("git~1")}) {
        if (folded.starts_with(start) &&
            is_dropped_tail(std::string_view(folded).substr(start.size()))) {
            return true;
        }
    }
    return false;
}

/// The 8.3 name that NTFS may give to a longer one: its first six letters or a hash of four behind
/// two letters.
bool is_ntfs_short_name(std::string_view folded,
                        std::string_view first_six,
                        std::string_view hashed) {
    if (folded.starts_with(first_six) && folded.size() >= 8 && folded[6] == '~' &&
        folded[7] >= '1' && folded[7] <= '4') {
        return is_dropped_tail(folded.substr(8));
    }
    bool saw_tilde = false;
    for (std::size_t i = 0; i < 8; ++i) {
        if (i >= folded.size()) {
            return false;
        }
        const char c = folded[i];
        if (saw_tilde) {
            if (c < '0' || c > '9') {
                return false;
            }
        } else if (c == '~') {
            ++i;
            if (i >= folded.size() || folded[i] < '1' || folded[i] > '9') {
                return false;
            }
            saw_tilde = true;
        } else if (i >= hashed.size() || c != hashed[i]) {
            return false;
        }
    }
    return is_dropped_tail(folded.substr(8));
}

bool is_spelling_of(std::string_view name,
                    std::string_view dotted,
                    std::string_view first_six,
                    std::string_view hashed) {
    const std::string folded = lowered(name);
    if (folded.starts_with(dotted) &&
        is_dropped_tail(std::string_view(folded).substr(dotted.size()))) {
        return true;
    }
    return hfs_folded(name) == dotted || is_ntfs_short_name(folded, first_six, hashed);
}

}  // namespace

bool is_git_folder_name(std::string_view name) {
    if (hfs_folded(name) == ".git") {
        return true;
    }
    while (true) {
        if (is_ntfs_git(name)) {
            return true;
        }
        const std::size_t backslash = name.find('\\');
        if (backslash == std::string_view::npos) {
            return false;
        }
        name.remove_prefix(backslash + 1);
    }
}

bool is_git_modules_name(std::string_view name) {
    return is_spelling_of(name, ".gitmodules", "gitmod", "gi7eba");
}

bool is_git_control_name(std::string_view name) {
    return is_spelling_of(name, ".gitattributes", "gitatt", "gi7d29") ||
           is_spelling_of(name, ".gitignore", "gitign", "gi250a") ||
           is_spelling_of(name, ".mailmap", "mailma", "maba30");
}

bool is_passing_name(std::string_view name) {
    constexpr std::array<std::string_view, 3> kSwapEndings = {".swp", ".swo", ".swx"};
    if (name.ends_with('~') || name == "4913") {
        return true;
    }
    if (name.size() > 2 && name.starts_with('#') && name.ends_with('#')) {
        return true;
    }
    return name.starts_with('.') &&
           std::any_of(kSwapEndings.begin(), kSwapEndings.end(), [&](std::string_view e) {
               return name.ends_with(e);
           });
}

}  // namespace daybook
