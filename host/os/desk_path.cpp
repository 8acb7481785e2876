#include "host/os/desk_path.hpp"

#include <algorithm>
#include <array>

#include "host/os/utf8.hpp"

namespace daybook {
namespace {

constexpr std::size_t kMaxPathBytes = 1024;
constexpr std::size_t kMaxComponentBytes = 255;
constexpr std::size_t kMaxComponents = 16;

bool is_control(char32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

/// Code points that change how the text around them is shown: line separators and bidirectional
/// controls.
bool is_deceptive(char32_t c) {
    return c == 0x2028 || c == 0x2029 || c == 0x200E || c == 0x200F ||
           (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// Code points that HFS+ leaves out when it compares names (git's list).
bool is_ignored_in_names(char32_t c) {
    return (c >= 0x200C && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x206A && c <= 0x206F) || c == 0xFEFF;
}

/// The name as the most careless file system would compare it.
std::string folded(std::string_view component) {
    std::string out;
    for (std::size_t i = 0; i < component.size();) {
        const std::size_t length = utf8_sequence_at(component, i);
        const std::string_view sequence = component.substr(i, length);
        i += length;
        if (is_ignored_in_names(utf8_code_point(sequence))) {
            continue;
        }
        if (length == 1 && (sequence[0] == ':' || sequence[0] == '\\')) {
            break;  // NTFS: a stream name or another component follows
        }
        if (length == 1 && sequence[0] >= 'A' && sequence[0] <= 'Z') {
            out += static_cast<char>(sequence[0] - 'A' + 'a');
        } else {
            out += sequence;
        }
    }
    while (!out.empty() && (out.back() == ' ' || out.back() == '.')) {
        out.pop_back();
    }
    return out;
}

/// The rule that the component breaks, or "".
std::string_view broken_rule(std::string_view component) {
    if (component.empty()) {
        return "a component is empty";
    }
    if (component == "." || component == "..") {
        return "\".\" and \"..\" are not allowed";
    }
    if (component.size() > kMaxComponentBytes) {
        return "a component is longer than 255 bytes";
    }
    const std::string name = folded(component);
    if (name == ".git" || name == "git~1") {
        return "the name belongs to git";
    }
    if (component == ".daybook" || component.ends_with(".daybook~")) {
        return "the name is reserved";
    }
    return {};
}

Error refuse(std::string_view text, std::string_view rule) {
    return Error(Errc::invalid, "path \"" + printable(text) + "\": " + std::string(rule));
}

}  // namespace

Result<DeskPath> DeskPath::parse(std::string_view text) {
    if (text.empty()) {
        return refuse(text, "it is empty");
    }
    if (text.size() > kMaxPathBytes) {
        return refuse(text, "it is longer than 1024 bytes");
    }
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_sequence_at(text, i);
        if (length == 0) {
            return refuse(text, "it is not valid UTF-8");
        }
        if (is_control(utf8_code_point(text.substr(i, length)))) {
            return refuse(text, "it holds a control character");
        }
        i += length;
    }
    if (text.front() == '/') {
        return refuse(text, "it must be relative to the desk's folder");
    }
    std::size_t components = 0;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find('/', start), text.size());
        const std::string_view rule = broken_rule(text.substr(start, end - start));
        if (!rule.empty()) {
            return refuse(text, rule);
        }
        if (++components > kMaxComponents) {
            return refuse(text, "it has more than 16 components");
        }
        start = end + 1;
    }
    return DeskPath(std::string(text));
}

bool DeskPath::is_own() const noexcept {
    constexpr std::array<std::string_view, 3> kFolders = {"memory/", "notes/", "skills/"};
    if (text_ == "Memory.md") {
        return true;
    }
    for (const std::string_view folder : kFolders) {
        if (text_.starts_with(folder)) {
            return true;
        }
    }
    return false;
}

std::string_view DeskPath::folder() const noexcept {
    const std::size_t slash = text_.rfind('/');
    return slash == std::string::npos ? std::string_view{}
                                      : std::string_view(text_).substr(0, slash);
}

std::string_view DeskPath::name() const noexcept {
    const std::size_t slash = text_.rfind('/');
    return slash == std::string::npos ? std::string_view(text_)
                                      : std::string_view(text_).substr(slash + 1);
}

bool is_plain_name(std::string_view name) noexcept {
    if (name.empty() || name.size() > 64 || name.front() == '.' || name.front() == '-') {
        return false;
    }
    for (const char c : name) {
        const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        if (!plain) {
            return false;
        }
    }
    return true;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out;
    std::size_t i = 0;
    while (i < text.size()) {
        const std::size_t length = utf8_sequence_at(text, i);
        const std::string_view sequence = text.substr(i, length == 0 ? 1 : length);
        std::string shown;
        const char32_t point = length == 0 ? 0 : utf8_code_point(sequence);
        if (length == 0 || is_control(point) || is_deceptive(point)) {
            for (const char c : sequence) {
                const auto byte = static_cast<unsigned char>(c);
                shown += "\\x";
                shown += kHex[byte >> 4U];
                shown += kHex[byte & 0x0FU];
            }
        } else {
            shown = sequence;
        }
        if (out.size() + shown.size() > max_bytes) {
            return out + "...";
        }
        out += shown;
        i += sequence.size();
    }
    return out;
}

}  // namespace daybook
